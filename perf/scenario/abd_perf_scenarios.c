/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios there are, and seconds each takes by itself and with --full: a server with 2 cores and 480 MiB of last-level
 * cache, which makes cold sets large.
 */
#include "abd_perf_scenario.h"

#include <stddef.h>

const struct abd_perf_planned abd_perf_plan[] = {
	{&abd_perf_arc_read, 18, 120},
#if ABD_PERF_WITH_ARC
	{&abd_perf_arc_cached_read, 12, 480},
	{&abd_perf_arc_scale, 15, 90},
#endif
	{&abd_perf_buffer, 5, 12},
	{&abd_perf_compare, 10, 40},
	{&abd_perf_codec, 7, 40},
	{&abd_perf_flush, 17, 90},
	{&abd_perf_flush_calibrate, 1, 1},
	{&abd_perf_dedupe, 4, 30},
	{&abd_perf_names, 14, 60},
	{&abd_perf_pool, 4, 10},
	{&abd_perf_stats_copy, 2, 15},
	{NULL, 0, 0},
};
