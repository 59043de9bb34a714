/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of fuzz_perf_input.
 */
#ifndef FUZZ_PERF_INPUT_H
#define FUZZ_PERF_INPUT_H

#include "fuzz_input.h"

/** One flag and its value: it is accepted exactly if it should be, and with the right value. */
void fuzz_perf_flag(struct fuzz_input *in);
/** A whole command line: it is refused, or all its values lie within their limits. */
void fuzz_perf_line(struct fuzz_input *in);
/** A tree of files for --input: the same bytes, names and duplicates as a plain search finds. */
void fuzz_perf_files(struct fuzz_input *in);

#endif
