/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans as rows, and their text.
 */
#include "abd_plan.h"
#include "abd_machine.h"
#include "abd_tunable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void abd_plan_add(struct abd_plan *plan, size_t last, const struct abd_kernel *kernel)
{
	if (plan->count == 0 || plan->rows[plan->count - 1].kernel != kernel)
		plan->count++;
	plan->rows[plan->count - 1] = (struct abd_plan_row){last, kernel};
}

const struct abd_kernel *abd_plan_at(const struct abd_plan *plan, size_t size)
{
	const struct abd_plan_row *row = plan->rows;

	while (size > row->last)
		row++;
	return row->kernel;
}

/* A number, or a part of a cache: "l1", "l3/2". */
static bool abd_plan_parse_number(const char *digits, uint64_t *number)
{
	uint64_t parts = 1;

	if (digits[0] != 'l')
		return abd_tunable_parse(digits, 1, SIZE_MAX - 1, number);
	if (digits[1] < '1' || digits[1] > '0' + ABD_CACHE_LEVELS ||
		(digits[2] != '\0' &&
			(digits[2] != '/' || !abd_tunable_parse(digits + 3, 1, 64, &parts))))
		return false;
	*number = abd_machine()->cache[digits[1] - '1'] / parts;
	return true;
}

/* Read "<=size," at *text, and move *text past it. */
static bool abd_plan_parse_size(const char **text, size_t *size)
{
	char digits[24];
	size_t length = strcspn(*text, ",");
	uint64_t number;

	if (length < 2 || length - 2 >= sizeof(digits) || (*text)[length] != ',' ||
		memcmp(*text, "<=", 2) != 0)
		return false;
	memcpy(digits, *text + 2, length - 2);
	digits[length - 2] = '\0';
	if (!abd_plan_parse_number(digits, &number))
		return false;
	*size = (size_t)number;
	*text += length + 1;
	return true;
}

/* Text without its origin, which is " (in brackets)" at the end. False: longer than a plan. */
static bool abd_plan_cut(const char *text, char plan[ABD_PLAN_TEXT])
{
	size_t length = strlen(text);
	const char *origin = strstr(text, " (");

	if (origin != NULL && text[length - 1] == ')')
		length = (size_t)(origin - text);
	if (length >= ABD_PLAN_TEXT)
		return false;
	memcpy(plan, text, length);
	plan[length] = '\0';
	return true;
}

int abd_plan_read(const char *text, abd_plan_named_t *named, const void *arg, struct abd_plan *plan)
{
	struct abd_plan read = {.count = 0};
	char room[ABD_PLAN_TEXT];
	const char *rest = room;

	if (!abd_plan_cut(text, room))
		return -EINVAL;
	for (size_t last = 0; last != SIZE_MAX;) {
		size_t length = strcspn(rest, "<,"), before = last;
		const struct abd_kernel *kernel = named(arg, rest, length);

		if (kernel == NULL || read.count == ABD_PLAN_ROWS)
			return -EINVAL;
		rest += length;
		last = SIZE_MAX;
		if (*rest != '\0' && !abd_plan_parse_size(&rest, &last))
			return -EINVAL;
		if (last <= before)
			return -EINVAL;
		abd_plan_add(&read, last, kernel);
	}
	*plan = read;
	return 0;
}

/* Stands for all kernels when only the form of a plan is checked. */
static const struct abd_kernel *abd_plan_any(const void *arg, const char *name, size_t length)
{
	static const struct abd_kernel any;
	size_t spelt = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	(void)arg;
	return length > 0 && spelt == length ? &any : NULL;
}

bool abd_plan_is_text(const char *text)
{
	struct abd_plan plan;

	return abd_plan_read(text, abd_plan_any, NULL, &plan) == 0;
}

void abd_plan_print(const struct abd_plan *plan, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < plan->count && used < size; i++) {
		const struct abd_plan_row *row = &plan->rows[i];
		const char *form = i < plan->count - 1 ? "%s<=%zu," : "%s";

		used += (size_t)snprintf(
			text + used, size - used, form, row->kernel->name, row->last);
	}
	if (used < size)
		snprintf(text + used, size - used, " (%s)", plan->origin);
}
