/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush-calibrate: what abd_flush_calibrate() finds on this machine, whether it finds the same
 * again, and how to set it.
 */
#include "abd_perf_clock.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <stdio.h>

static const char *const abd_perf_calibrate_rows[] = {
	"flush_auto", "flush_shared", "flush_exclusive"};

static int abd_perf_calibrate_run(const struct abd_perf_options *options)
{
	unsigned rounds = options->quick ? 3 : 7;
	double ms[7];

	abd_perf_say_begin("flush-calibrate", rounds);
	for (unsigned round = 0; round < rounds; round++) {
		double start = abd_perf_clock_ns();
		struct abd_perf_result *result;

		abd_perf_say_step("round %u", round + 1);
		if (abd_flush_calibrate() != 0)
			abd_perf_say_die(1, "no memory to calibrate with");
		ms[round] = (abd_perf_clock_ns() - start) / 1e6;
		result = abd_perf_result_add("flush-calibrate", "calibrate", "round %u", round + 1);
		for (unsigned i = 0; i < 3; i++)
			abd_perf_result_text(result, abd_perf_calibrate_rows[i],
				abd_tuning_get(abd_perf_calibrate_rows[i]));
		abd_perf_result_figure(result, "cost", "ms", abd_perf_stat(&ms[round], 1));
	}
	return 0;
}

const struct abd_perf_scenario abd_perf_flush_calibrate = {
	.name = "flush-calibrate",
	.summary = "the flush table measured on this machine, and how to set it",
	.normal_s = 1,
	.full_s = 1,
	.run = abd_perf_calibrate_run,
};
