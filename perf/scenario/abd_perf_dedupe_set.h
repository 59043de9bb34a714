/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that dedupe compares: cut from a real tree, each in memory twice, in pages of 4 KiB at
 * random addresses.
 */
#ifndef ABD_PERF_DEDUPE_SET_H
#define ABD_PERF_DEDUPE_SET_H

#include "abd_perf_options.h"

#include <abd/abd.h>

#define PAGE ((size_t)4096)
#define STEP ((size_t)128 << 10)
#define FILE_SIZE ((size_t)4 << 20)
#define STEPS (FILE_SIZE / STEP)
#define FILES_MAX 256

/* Each file, twice, as buffers and as the pages they lie in: a page more than it has bytes. */
struct dedupe_set {
	size_t files, filled; /* filled: bytes */
	abd_t *side[2][FILES_MAX];
	char *page[2][FILES_MAX][FILE_SIZE / PAGE + 1];
	size_t offset[2]; /* where the files begin in their buffers */
};

extern struct dedupe_set dedupe_set;

static inline char *dedupe_at(unsigned side, size_t file, size_t off)
{
	return dedupe_set.page[side][file][off / PAGE] + off % PAGE;
}

/**
 * Make the files and fill the first side. False, after a warning: the tree holds nothing. Ends the
 * program when there is no memory.
 */
bool dedupe_make(const struct abd_perf_options *options);
void dedupe_free(void);
/** Where files begin from now on; the second side is made the same again, from the first. */
void dedupe_offsets(size_t a_off, size_t b_off);

#endif
