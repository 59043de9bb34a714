/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces, by number: request sequences of the kinds that the ARC paper studies.
 */
#ifndef ARC_TRACE_H
#define ARC_TRACE_H

#include "abd_test.h"

enum arc_trace_kind { ARC_ZIPF, ARC_SCANS, ARC_LOOP, ARC_LOOP_ZIPF, ARC_MIXED, ARC_TRACES };

static const char *const arc_trace_names[] = {
	"zipf", "zipf + scans", "loop", "loop + zipf", "mixed"};

struct arc_trace {
	enum arc_trace_kind kind;
	uint64_t keys, state, at;
	double *sum; /* of weights, for Zipf */
};

static inline void arc_trace_begin(
	struct arc_trace *trace, enum arc_trace_kind kind, uint64_t keys, uint64_t seed)
{
	*trace = (struct arc_trace){.kind = kind, .keys = keys, .state = seed};
	trace->sum = malloc(keys * sizeof(double));
	for (uint64_t i = 0; i < keys; i++)
		trace->sum[i] = (i > 0 ? trace->sum[i - 1] : 0) + 1.0 / (double)(i + 1);
}

static inline void arc_trace_end(struct arc_trace *trace)
{
	free(trace->sum);
}

static inline uint64_t arc_trace_zipf(struct arc_trace *trace)
{
	double at = (double)(abd_test_random(&trace->state) >> 11) / 9007199254740992.0 *
		    trace->sum[trace->keys - 1];
	uint64_t low = 0, high = trace->keys - 1;

	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (trace->sum[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/** The key of the next request. Scans touch keys above trace->keys, once each. */
static inline uint64_t arc_trace_next(struct arc_trace *trace)
{
	uint64_t at = trace->at++, keys = trace->keys;

	switch (trace->kind) {
	case ARC_ZIPF:
		return arc_trace_zipf(trace);
	case ARC_SCANS: /* for every two requests out of Zipf, a stretch of a scan */
		return at % (3 * keys / 8) < keys / 4 ? arc_trace_zipf(trace) : keys + at;
	case ARC_LOOP: /* over a quarter of the keys: a little more than the cache holds */
		return at % (keys / 4);
	case ARC_LOOP_ZIPF: /* the loop goes on beside what is popular, over other keys */
		return at % 3 != 0 ? keys + at % (keys / 4) : arc_trace_zipf(trace);
	default: /* phases: Zipf, a loop, a scan, Zipf over other keys */
		switch (at / keys % 4) {
		case 0:
			return arc_trace_zipf(trace);
		case 1:
			return at % (keys / 4);
		case 2:
			return at % 2 ? keys + at : arc_trace_zipf(trace);
		default:
			return keys - 1 - arc_trace_zipf(trace);
		}
	}
}

#endif
