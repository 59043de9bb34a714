/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios there are, and seconds each takes, by itself as measured on a server with 2 cores
 * and 480 MiB of last-level cache, which makes cold sets large; with --full by its number of
 * samples.
 */
#include "abd_perf_scenario.h"

#include <stddef.h>

const struct abd_perf_planned abd_perf_plan[] = {
	{&abd_perf_arc_read, 21, 120},
#if ABD_PERF_WITH_ARC
	{&abd_perf_arc_cached_read, 12, 480},
	{&abd_perf_arc_scale, 15, 90},
#endif
	{&abd_perf_buffer, 5, 12},
	{&abd_perf_compare, 10, 50},
	{&abd_perf_codec, 9, 60},
	{&abd_perf_flush, 17, 105},
	{&abd_perf_flush_calibrate, 1, 1},
	{&abd_perf_dedupe, 4, 30},
	{&abd_perf_names, 14, 85},
	{&abd_perf_pool, 3, 10},
	{&abd_perf_stats_copy, 1, 7},
	{NULL, 0, 0},
};
