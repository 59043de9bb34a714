/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A percentile is the middle of the bucket that holds the wanted operation, limited to the times
 * that were seen.
 */
#include "abd_perf_latency.h"

#include <math.h>

void abd_perf_latency_merge(struct abd_perf_latency *to, const struct abd_perf_latency *from)
{
	if (from->count == 0)
		return;
	if (to->count == 0 || from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->count += from->count;
	for (unsigned i = 0; i < ABD_PERF_LATENCY_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

/* The middle of a bucket. */
static double abd_perf_latency_middle(unsigned bucket)
{
	if (bucket < 2 << ABD_PERF_LATENCY_BITS)
		return bucket;

	unsigned shift = (bucket >> ABD_PERF_LATENCY_BITS) - 1;
	double first = (double)(bucket - (shift << ABD_PERF_LATENCY_BITS));

	return ldexp(first + 0.5, (int)shift);
}

double abd_perf_latency_percentile(const struct abd_perf_latency *latency, double percent)
{
	double wanted = ceil((double)latency->count * percent / 100);
	uint64_t seen = 0;

	for (unsigned i = 0; i < ABD_PERF_LATENCY_BUCKETS; i++) {
		seen += latency->bucket[i];
		if (latency->bucket[i] == 0 || (double)seen < wanted)
			continue;
		return fmin(fmax(abd_perf_latency_middle(i), (double)latency->min_ns),
			(double)latency->max_ns);
	}
	return 0;
}
