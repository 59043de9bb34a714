/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that set up the memory or the drawing, and statements that show the present state.
 */
#include "abd_explain_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABD_EXPLAIN_POOL_MAX = 64 << 20 };

void abd_explain_tell_draw(struct abd_explain_run *run)
{
	enum { MAX = 64 };
	struct abd_explain_buffer *all[MAX];
	size_t count = 0;

	if (abd_explain_run_more(run)) {
		while (abd_explain_run_more(run))
			abd_explain_run_draw(run, abd_explain_run_buffer(run));
		return;
	}
	for (struct abd_explain_buffer *at = run->world.buffers; at != NULL && count < MAX;
		at = at->next)
		if (at->abd != NULL)
			all[count++] = at;
	while (count > 0)
		abd_explain_run_draw(run, all[--count]);
}

void abd_explain_tell_pool(struct abd_explain_run *run)
{
	struct abd_pool_stats stats;

	abd_explain_run_end(run);
	if (abd_explain_memory_pool(&run->world) != 0)
		abd_explain_run_wrong(run, "the system refuses address space for the pool");
	abd_explain_run_call(run, "abd_pool_stats_get(&stats, sizeof(stats))");
	abd_pool_stats_get(&stats, sizeof(stats));
	run->step->pool = abd_explain_memory_map(&run->world);
	abd_explain_trace_note(run->trace, run->step,
		"%llu of %llu bytes are free; the largest free run has %llu.",
		(unsigned long long)stats.free_size, (unsigned long long)stats.region_size,
		(unsigned long long)stats.largest_free_run);
}

void abd_explain_tell_stats(struct abd_explain_run *run)
{
	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_stats_get(&stats, sizeof(stats))");
	for (const struct abd_explain_delta *at = abd_explain_world_counters(&run->world);
		at != NULL; at = at->next)
		abd_explain_trace_note(
			run->trace, run->step, "%s %llu", at->name, (unsigned long long)at->now);
	if (run->step->notes == NULL)
		abd_explain_trace_note(run->trace, run->step, "All counters are 0.");
}

static const char *abd_explain_tell_text(struct abd_explain_run *run)
{
	const char *rest = abd_explain_run_rest(run);

	if (rest == NULL)
		abd_explain_run_word(run, "TEXT");
	return abd_explain_trace_text(run->trace, "%s", rest);
}

void abd_explain_tell_say(struct abd_explain_run *run)
{
	abd_explain_trace_note(run->trace, run->step, "%s", abd_explain_tell_text(run));
	run->step->statement = "";
}

void abd_explain_tell_title(struct abd_explain_run *run)
{
	run->step->statement = abd_explain_tell_text(run);
	run->step->is_chapter = true;
}

void abd_explain_tell_reset(struct abd_explain_run *run)
{
	abd_explain_run_end(run);
	abd_explain_world_reset(&run->world);
	run->step->statement = NULL;
}

void abd_explain_tell_hide(struct abd_explain_run *run)
{
	abd_explain_run_end(run);
	run->is_hidden = true;
}

void abd_explain_tell_show(struct abd_explain_run *run)
{
	abd_explain_run_end(run);
	run->is_hidden = false;
	run->step->statement = NULL;
}

/* ---- the scene ------------------------------------------------------------------------------- */

void abd_explain_tell_fragment(struct abd_explain_run *run)
{
	struct abd_pool_stats stats;

	if (abd_explain_run_more(run) && strcmp(run->words[run->word], "off") == 0) {
		run->word++;
		abd_explain_run_end(run);
		abd_explain_memory_unhold(&run->world);
	} else {
		size_t size = abd_explain_run_size(run, "SIZE");

		abd_explain_run_end(run);
		if (size < 4096 || size > 1 << 20 || (size & (size - 1)) != 0)
			abd_explain_run_wrong(run,
				"'%s' is no size of a run: expected 4k, 8k, 16k ... 1m",
				run->words[1]);
		if (abd_explain_memory_hold(&run->world, size) != 0)
			abd_explain_run_wrong(run, "the system refuses address space for the pool");
	}
	abd_explain_world_uncount(&run->world);
	abd_pool_stats_get(&stats, sizeof(stats));
	abd_explain_trace_note(run->trace, run->step,
		"Others hold parts of the pool: the largest free run has %llu bytes.",
		(unsigned long long)stats.largest_free_run);
}

void abd_explain_tell_pool_size(struct abd_explain_run *run)
{
	size_t size = abd_explain_run_size(run, "SIZE");
	char text[24];

	abd_explain_run_end(run);
	snprintf(text, sizeof(text), "%zu", size);
	abd_explain_run_call(run, "abd_tuning_set(\"pool_size\", \"%s\")", text);
	if (size > ABD_EXPLAIN_POOL_MAX || abd_tuning_set("pool_size", text) != 0)
		abd_explain_run_wrong(run,
			"the pool can't be made '%s' now: expected 2m to 64m, before the first allocation",
			run->words[1]);
}

void abd_explain_tell_tune(struct abd_explain_run *run)
{
	size_t value = abd_explain_run_size(run, "a number");
	char text[24];

	abd_explain_run_end(run);
	snprintf(text, sizeof(text), "%zu", value);
	abd_explain_run_call(run, "abd_tuning_set(\"%s\", \"%s\")", run->words[0], text);
	if (abd_tuning_set(run->words[0], text) != 0)
		abd_explain_run_wrong(run, "%s can't be '%s': expected %s", run->words[0],
			run->words[1], run->words[0][0] == 'm' ? "0 to 10" : "a value it can take");
}
