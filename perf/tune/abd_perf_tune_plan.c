/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of plans: reading, changing, writing.
 */
#include "abd_perf_tune_plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Add a row behind the last; a kernel that goes on only gets a larger last size. */
static void abd_perf_tune_plan_add(
	struct abd_perf_tune_plan *plan, size_t last, const char *kernel, size_t length)
{
	bool same = plan->count > 0 && strlen(plan->row[plan->count - 1].kernel) == length &&
		    memcmp(plan->row[plan->count - 1].kernel, kernel, length) == 0;

	if (!same && plan->count < ABD_PERF_TUNE_ROWS)
		plan->count++;
	if (!same)
		snprintf(plan->row[plan->count - 1].kernel, ABD_PERF_TUNE_NAME, "%.*s", (int)length,
			kernel);
	plan->row[plan->count - 1].last = last;
}

void abd_perf_tune_plan_read(struct abd_perf_tune_plan *plan, const char *text)
{
	size_t last;

	plan->count = 0;
	do {
		size_t length = strcspn(text, "<, ");
		const char *name = text;
		char *end = NULL;

		text += length;
		last = SIZE_MAX;
		if (strncmp(text, "<=", 2) == 0) {
			last = strtoull(text + 2, &end, 10);
			text = end + 1; /* behind the comma */
		}
		abd_perf_tune_plan_add(plan, last, name, length);
	} while (last != SIZE_MAX);
}

const char *abd_perf_tune_plan_at(const struct abd_perf_tune_plan *plan, size_t size)
{
	unsigned i = 0;

	while (size > plan->row[i].last)
		i++;
	return plan->row[i].kernel;
}

void abd_perf_tune_plan_put(
	struct abd_perf_tune_plan *plan, size_t low, size_t high, const char *kernel)
{
	struct abd_perf_tune_plan old = *plan;
	size_t before = 0;
	bool put = false;

	plan->count = 0;
	for (unsigned i = 0; i < old.count; before = old.row[i++].last) {
		size_t last = old.row[i].last;
		const char *name = old.row[i].kernel;

		if (before < low)
			abd_perf_tune_plan_add(plan, last < low ? last : low, name, strlen(name));
		if (!put && last > low) {
			abd_perf_tune_plan_add(plan, high, kernel, strlen(kernel));
			put = true;
		}
		if (last > high)
			abd_perf_tune_plan_add(plan, last, name, strlen(name));
	}
}

const char *abd_perf_tune_plan_text(
	const struct abd_perf_tune_plan *plan, char text[ABD_PERF_TUNE_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < plan->count && used < ABD_PERF_TUNE_TEXT; i++)
		used += (size_t)snprintf(text + used, ABD_PERF_TUNE_TEXT - used,
			i + 1 < plan->count ? "%s<=%zu," : "%s", plan->row[i].kernel,
			plan->row[i].last);
	return text;
}
