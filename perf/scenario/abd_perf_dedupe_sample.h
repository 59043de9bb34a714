/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proofs to time: pairs of ranges that are known to be equal, in memory, to be compared by one
 * kernel after another.
 * Invariant: offsets are those that a page cache would have: a file's byte keeps its place in its
 * page.
 */
#ifndef ABD_PERF_DEDUPE_SAMPLE_H
#define ABD_PERF_DEDUPE_SAMPLE_H

#include "abd_perf_dedupe_find.h"
#include "abd_perf_options.h"

struct abd_perf_sample {
	struct abd_perf_pair {
		abd_t *src, *dst;
		size_t src_off, dst_off, size;
	} * pair;
	size_t count;
	uint64_t bytes; /* of one side */
	abd_t **buffer; /* the sample's own */
	size_t buffers;
	size_t errors; /* proofs that a kernel didn't confirm */
};

/**
 * The proofs of one kind, or evenly spaced ones where all of them would be more than most bytes of
 * a side. Files in memory are compared where they are; others are read into scattered buffers of 4
 * KiB runs at random addresses.
 */
void abd_perf_sample_make(struct abd_perf_sample *sample, struct abd_perf_find *find, unsigned kind,
	uint64_t most, uint64_t seed);
void abd_perf_sample_free(struct abd_perf_sample *sample);

/**
 * Prove all of it so often. Returns the ns of CPU time; there are no system calls in it, so that is
 * user time.
 */
double abd_perf_sample_prove(struct abd_perf_sample *sample, uint64_t iterations);
/**
 * How many would be proven if the destination were indexed with the source's place in its page.
 * Contract: files in memory, with a page of room behind.
 */
size_t abd_perf_sample_prove_wrong(const struct abd_perf_sample *sample);

#endif
