/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choice between plans, and plans as text.
 * Invariant: rows in use are written from the last to the first, each one's kernel before its size.
 * A reader goes from a row to the next only when it has seen the row's new size, and then sees the
 * next row's contents too.
 */
#include "abd_kernel.h"

#include "abd_machine.h"
#include "abd_tunable.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

/*
 * One lock for all choices. Starting, setting and showing a plan takes it; looking a kernel up does
 * not.
 */
static pthread_mutex_t abd_choice_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Tables hold pointers to the layers' own structs, which begin with struct abd_kernel. All pointers
 * to structs have the same representation (C11, 6.2.5).
 */
static const struct abd_kernel *abd_kernel_nth(const struct abd_choice *choice, size_t n)
{
	const struct abd_kernel *kernel;

	memcpy(&kernel, (const char *)choice->kernels + n * sizeof(kernel), sizeof(kernel));
	return kernel;
}

/* The kernel whose name is the first length bytes of name; NULL where this CPU has none. */
static const struct abd_kernel *abd_kernel_named(
	const struct abd_choice *choice, const char *name, size_t length)
{
	const struct abd_kernel *kernel;

	for (size_t n = 0; (kernel = abd_kernel_nth(choice, n)) != NULL; n++)
		if (strlen(kernel->name) == length && memcmp(kernel->name, name, length) == 0)
			return kernel->supported() ? kernel : NULL;
	return NULL;
}

const struct abd_kernel *abd_choice_find(const struct abd_choice *choice, const char *name)
{
	size_t n = 0;

	if (name != NULL)
		return abd_kernel_named(choice, name, strlen(name));
	while (!abd_kernel_nth(choice, n)->supported())
		n++; /* every table has one that runs everywhere */
	return abd_kernel_nth(choice, n);
}

void abd_plan_add(struct abd_plan *plan, size_t last, const struct abd_kernel *kernel)
{
	if (plan->count == 0 || plan->rows[plan->count - 1].kernel != kernel)
		plan->count++;
	plan->rows[plan->count - 1] = (struct abd_plan_row){.last = last, .kernel = kernel};
}

const struct abd_kernel *abd_plan_at(const struct abd_plan *plan, size_t size)
{
	const struct abd_plan_row *row = plan->rows;

	while (size > row->last)
		row++;
	return row->kernel;
}

/*
 * A guest is given less of a large last cache than CPUID lists: on two Intel guests, with 300 and
 * 480 MiB, streaming wins from 32 MiB on.
 */
#define ABD_L3_MOST ((size_t)128 << 20)

static size_t abd_plan_last(size_t last)
{
	if (last < ABD_L3_PART(64) || last == SIZE_MAX)
		return last;
	return abd_min(abd_machine()->cache[2], ABD_L3_MOST) / (SIZE_MAX - last);
}

/* False: this CPU lacks a kernel of the built-in plan. */
static bool abd_plan_take(struct abd_plan *plan, const struct abd_plan_built_in *built_in)
{
	const struct abd_plan_row *row = built_in->rows;
	size_t last;

	plan->count = 0;
	do {
		if (!row->kernel->supported())
			return false;
		last = abd_plan_last(row->last);
		abd_plan_add(plan, last, row->kernel);
		row++;
	} while (last != SIZE_MAX);
	plan->origin = built_in->family != NULL ? built_in->family : "by the last cache";
	return true;
}

void abd_plan_of_family(const struct abd_choice *choice, const char *family, struct abd_plan *plan)
{
	const struct abd_plan_built_in *built_in = choice->built_in;

	for (; built_in != NULL && built_in->rows[0].kernel != NULL; built_in++)
		if ((built_in->family == NULL || strcmp(built_in->family, family) == 0) &&
			abd_plan_take(plan, built_in))
			return;
	plan->count = 0;
	plan->origin = "first";
	abd_plan_add(plan, SIZE_MAX, abd_choice_find(choice, NULL));
}

/* Read "<=size," at *text, and move *text past it. Returns the size; 0: it is none. */
static size_t abd_plan_parse_size(const char **text)
{
	char digits[24] = "";
	uint64_t size = 0;
	int length = 0;

	if (sscanf(*text, "<=%23[0-9],%n", digits, &length) == 1)
		*text += length;
	return length > 0 && abd_tunable_parse(digits, 1, SIZE_MAX - 1, &size) ? (size_t)size : 0;
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

/* 0; -EINVAL, and *plan is not written. */
static int abd_plan_parse(const struct abd_choice *choice, const char *text, const char *origin,
	struct abd_plan *plan)
{
	struct abd_plan read = {.origin = origin};
	char room[ABD_PLAN_TEXT];
	const char *rest = room;

	if (!abd_plan_cut(text, room))
		return -EINVAL;
	for (size_t last = 0; last != SIZE_MAX;) {
		size_t length = strcspn(rest, "<,"), before = last;
		const struct abd_kernel *kernel = abd_kernel_named(choice, rest, length);

		if (kernel == NULL || read.count == ABD_PLAN_ROWS)
			return -EINVAL;
		rest += length;
		last = *rest != '\0' ? abd_plan_parse_size(&rest) : SIZE_MAX;
		if (last <= before)
			return -EINVAL;
		abd_plan_add(&read, last, kernel);
	}
	*plan = read;
	return 0;
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

/* Static functions of choices are called under the lock. */
static const struct abd_plan *abd_choice_in_use(const struct abd_choice *choice)
{
	return choice->forced.count > 0 ? &choice->forced : &choice->plan;
}

static void abd_choice_publish(struct abd_choice *choice)
{
	const struct abd_plan *plan = abd_choice_in_use(choice);

	for (size_t left = plan->count; left > 0; left--) {
		size_t i = left - 1;

		atomic_store_explicit(
			&choice->rows[i].kernel, plan->rows[i].kernel, memory_order_release);
		atomic_store_explicit(
			&choice->rows[i].last, plan->rows[i].last, memory_order_release);
	}
}

static int abd_choice_read(
	struct abd_choice *choice, const char *text, bool force, const char *origin)
{
	if (strcmp(text, "auto") != 0)
		return abd_plan_parse(
			choice, text, origin, force ? &choice->forced : &choice->plan);
	if (force)
		choice->forced.count = 0;
	else
		abd_plan_of_family(choice, abd_machine()->family, &choice->plan);
	return 0;
}

static void abd_choice_from_environment(struct abd_choice *choice, const char *name, bool force)
{
	const char *text = abd_tunable_environment(name);

	if (text != NULL && abd_choice_read(choice, text, force, "environment") != 0)
		abd_tunable_ignored(name, text);
}

static void abd_choice_start_locked(struct abd_choice *choice)
{
	ABD_KEEP_ERRNO; /* what looks at the machine opens files that need not be there */

	if (choice->started)
		return;
	abd_choice_read(choice, "auto", false, NULL);
	abd_choice_from_environment(choice, choice->name, false);
	if (choice->group != NULL)
		abd_choice_from_environment(choice, choice->group, true);
	choice->started = true;
	abd_choice_publish(choice);
}

ABD_COLD const struct abd_kernel *abd_choice_start(struct abd_choice *choice, size_t size)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	pthread_mutex_unlock(&abd_choice_lock);
	return abd_choice_for(choice, size);
}

int abd_choice_set(struct abd_choice *choice, const char *text, bool force)
{
	int error;

	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	error = abd_choice_read(choice, text, force, force ? "forced" : "set");
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
	return error;
}

void abd_choice_plan_get(struct abd_choice *choice, bool in_use, struct abd_plan *plan)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	*plan = in_use ? *abd_choice_in_use(choice) : choice->plan;
	pthread_mutex_unlock(&abd_choice_lock);
}

void abd_choice_plan_set(struct abd_choice *choice, const struct abd_plan *plan, bool force)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	*(force ? &choice->forced : &choice->plan) = *plan;
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
}
