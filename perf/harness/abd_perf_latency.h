/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long single operations took: counts by time, 64 steps to each doubling, so that any
 * percentile is within 1/128 of the truth and adding one costs a few ns. (Debian 12 has
 * HdrHistogram for Java and Go, not for C.)
 * Invariant: count is the sum of all buckets.
 * Source: the layout of fio's completion latency buckets (stat.c), and Gil Tene's HdrHistogram.
 */
#ifndef ABD_PERF_LATENCY_H
#define ABD_PERF_LATENCY_H

#include <stdint.h>

#define ABD_PERF_LATENCY_BITS 6
/* up to 2^41 ns, 36 minutes; longer times count as that */
#define ABD_PERF_LATENCY_DOUBLINGS 36
#define ABD_PERF_LATENCY_BUCKETS (ABD_PERF_LATENCY_DOUBLINGS << ABD_PERF_LATENCY_BITS)

struct abd_perf_latency {
	uint64_t count;
	uint64_t min_ns, max_ns;
	uint32_t bucket[ABD_PERF_LATENCY_BUCKETS];
};

static inline unsigned abd_perf_latency_bucket(uint64_t ns)
{
	if (ns < 1 << ABD_PERF_LATENCY_BITS)
		return (unsigned)ns;

	unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - ABD_PERF_LATENCY_BITS;
	uint64_t bucket = ((uint64_t)shift << ABD_PERF_LATENCY_BITS) + (ns >> shift);

	return bucket < ABD_PERF_LATENCY_BUCKETS ? (unsigned)bucket : ABD_PERF_LATENCY_BUCKETS - 1;
}

static inline void abd_perf_latency_add(struct abd_perf_latency *latency, double taken_ns)
{
	uint64_t ns = taken_ns > 0 ? (uint64_t)taken_ns : 0;

	if (latency->count == 0 || ns < latency->min_ns)
		latency->min_ns = ns;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
	latency->count++;
	latency->bucket[abd_perf_latency_bucket(ns)]++;
}

/** Add all operations of from to to. */
void abd_perf_latency_merge(struct abd_perf_latency *to, const struct abd_perf_latency *from);
/**
 * A percentile: that share of the operations took this time or less. 0 < percent <= 100; the
 * answer is 0 if there were no operations.
 */
double abd_perf_latency_percentile(const struct abd_perf_latency *latency, double percent);

#endif
