/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios there are.
 */
#include "abd_perf_scenario.h"

#include <stddef.h>

const struct abd_perf_scenario *const abd_perf_scenarios[] = {
	&abd_perf_arc_read,
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_cached_read,
#endif
	&abd_perf_buffer,
	&abd_perf_compare,
	&abd_perf_codec,
	&abd_perf_flush,
	&abd_perf_flush_calibrate,
	&abd_perf_dedupe,
	&abd_perf_names,
	&abd_perf_pool,
	NULL,
};
