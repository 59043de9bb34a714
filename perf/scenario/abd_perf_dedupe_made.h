/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source's data set, made in memory and scaled to it: files of 4 MiB, of which half are copies
 * of the other half. Twice: with copies as they are, and with a prefix of an odd number of bytes in
 * front of each, while the originals begin at other odd offsets of their buffers. So offsets are
 * unaligned, and differ between source and destination.
 * Source: linux-fsdevel, "vfs: Optimize dedupe comparison", Jul 2021: 20,000 files of 4 MB, fully
 *         duplicated, 80 GB.
 */
#ifndef ABD_PERF_DEDUPE_MADE_H
#define ABD_PERF_DEDUPE_MADE_H

#include "abd_perf_dedupe_files.h"
#include "abd_perf_options.h"

struct abd_perf_made {
	abd_t **file; /* original, copy, original, copy ... */
	size_t files;
	size_t size; /* of each, without a prefix */
	uint64_t random;
};

/** Allocate. Ends the program where there is no memory for two files. */
void abd_perf_made_make(
	struct abd_perf_made *made, const struct abd_perf_options *options, size_t extent_size);
void abd_perf_made_free(struct abd_perf_made *made);
/** Fill all files and list them. shifted: with prefixes. */
void abd_perf_made_fill(struct abd_perf_made *made, bool shifted, struct abd_perf_fileset *set);
/** For tests: change a byte of the last copy. */
void abd_perf_made_damage(struct abd_perf_made *made);

#endif
