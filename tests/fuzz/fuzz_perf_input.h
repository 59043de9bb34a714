/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of fuzz_perf_input.
 */
#ifndef FUZZ_PERF_INPUT_H
#define FUZZ_PERF_INPUT_H

#include "fuzz_input.h"

/** One flag and its value: taken if it should be, and as what it says. */
void fuzz_perf_flag(struct fuzz_input *in);
/** A whole command line: refused, or all that was asked for lies within its limits. */
void fuzz_perf_line(struct fuzz_input *in);
/** A tree of files for --input: the same bytes, names and duplicates as a plain search finds. */
void fuzz_perf_files(struct fuzz_input *in);

#endif
