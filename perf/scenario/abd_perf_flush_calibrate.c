/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush-calibrate: abd_flush_calibrate() on this machine: what it finds, whether it finds it again,
 * and how to set it.
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

static void abd_perf_calibrate_print(void)
{
	printf("\nflush-calibrate: which policy serves which sizes here. A policy's number is the last size it serves, in bytes.\n");
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);
		const struct abd_perf_figure *cost = abd_perf_result_find_figure(result, "cost");

		if (cost == NULL || abd_perf_result_find(result, "flush_auto") == NULL)
			continue;
		printf("%-10s %5.1f ms of CPU time   auto %-28s exclusive %s\n", result->name,
			cost->value.median, abd_perf_result_find(result, "flush_auto")->text,
			abd_perf_result_find(result, "flush_exclusive")->text);
	}
	printf("\nTo start processes with it, without measuring again:\n"
	       "export ABD_FLUSH_AUTO=%s\n",
		abd_tuning_get("flush_auto"));
	printf("export ABD_FLUSH_SHARED=%s\n", abd_tuning_get("flush_shared"));
	printf("export ABD_FLUSH_EXCLUSIVE=%s\n", abd_tuning_get("flush_exclusive"));
	printf("or abd_tuning_set(\"flush_auto\", ...) and so on; or abd_flush_calibrate() in the process.\n");
}

const struct abd_perf_scenario abd_perf_flush_calibrate = {
	.name = "flush-calibrate",
	.summary = "the flush table measured on this machine, and how to set it",
	.run = abd_perf_calibrate_run,
	.print = abd_perf_calibrate_print,
};
