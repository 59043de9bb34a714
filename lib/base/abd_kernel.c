/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans as text, and the choice between them.
 * Invariant: rows in use are written from the last to the first, each one's kernel before its size.
 * A reader goes from a row to the next only when it has seen the row's new size, and then sees the
 * next row's contents too.
 */
#include "abd_kernel.h"

#include "abd_machine.h"
#include "abd_profile.h"
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
static const struct abd_kernel *abd_kernel_named(const void *arg, const char *name, size_t length)
{
	const struct abd_choice *choice = arg;
	const struct abd_kernel *kernel;

	for (size_t n = 0; (kernel = abd_kernel_nth(choice, n)) != NULL; n++)
		if (strlen(kernel->name) == length && memcmp(kernel->name, name, length) == 0)
			return kernel->supported() ? kernel : NULL;
	return NULL;
}

static const struct abd_kernel *abd_kernel_best(const struct abd_choice *choice)
{
	size_t n = 0;

	while (!abd_kernel_nth(choice, n)->supported())
		n++; /* every table has one that runs everywhere */
	return abd_kernel_nth(choice, n);
}

const struct abd_kernel *abd_choice_find(const struct abd_choice *choice, const char *name)
{
	return name != NULL ? abd_kernel_named(choice, name, strlen(name))
			    : abd_kernel_best(choice);
}

/* ---- plans ---- */

int abd_plan_parse(const struct abd_choice *choice, const char *text, struct abd_plan *plan)
{
	return abd_plan_read(text, abd_kernel_named, choice, plan);
}

void abd_plan_of_family(const struct abd_choice *choice, const char *family, struct abd_plan *plan)
{
	const struct abd_plan_built_in *built_in = choice->families;

	for (; built_in != NULL && built_in->family != NULL; built_in++)
		if (strcmp(built_in->family, family) == 0 &&
			abd_plan_parse(choice, built_in->plan, plan) == 0) {
			plan->origin = built_in->origin;
			return;
		}
	for (const char *const *text = choice->plans; text != NULL && *text != NULL; text++)
		if (abd_plan_parse(choice, *text, plan) == 0) {
			plan->origin = "derived";
			return;
		}
	plan->count = 0;
	plan->origin = "first";
	abd_plan_add(plan, SIZE_MAX, abd_kernel_best(choice));
}

/* The plan that this machine uses if none is set. */
static void abd_plan_auto(const struct abd_choice *choice, struct abd_plan *plan)
{
	if (choice->profile.count > 0)
		*plan = choice->profile;
	else
		abd_plan_of_family(choice, abd_machine()->family, plan);
}

/* ---- choices; a static function that does not take the lock is called under it ---- */

static void abd_choice_publish(struct abd_choice *choice)
{
	const struct abd_plan *plan = choice->forced.count > 0 ? &choice->forced : &choice->plan;

	for (size_t left = plan->count; left > 0; left--) {
		size_t i = left - 1;

		atomic_store_explicit(
			&choice->rows[i].kernel, plan->rows[i].kernel, memory_order_release);
		atomic_store_explicit(
			&choice->rows[i].last, plan->rows[i].last, memory_order_release);
	}
}

/* origin: who gives the plan. */
static int abd_choice_read(
	struct abd_choice *choice, const char *text, bool force, const char *origin)
{
	struct abd_plan *plan = force ? &choice->forced : &choice->plan;
	bool own = strcmp(text, "auto") == 0;

	if (!own && abd_plan_parse(choice, text, plan) != 0)
		return -EINVAL;
	if (!own)
		plan->origin = origin;
	else if (force)
		plan->count = 0;
	else
		abd_plan_auto(choice, plan);
	if (!force)
		choice->kept = !own;
	return 0;
}

/*
 * Each choice of a group reads the group's variable; *reported keeps them from repeating a report.
 */
static void abd_choice_from_environment(
	struct abd_choice *choice, const char *name, bool force, bool *reported)
{
	const char *text = abd_tunable_environment(name);

	if (text == NULL || abd_choice_read(choice, text, force, "environment") == 0 || *reported)
		return;
	abd_tunable_ignored(name, text);
	*reported = true;
}

/* Take the plan of a profile, or none. False: it names a kernel that this CPU lacks. */
static bool abd_choice_profile_take(struct abd_choice *choice, const char *text)
{
	choice->profile.count = 0;
	if (text == NULL)
		return true;
	if (abd_plan_parse(choice, text, &choice->profile) != 0) {
		fprintf(stderr, "abd: the profile's %s=%s is skipped: not a plan for this CPU\n",
			choice->name, text);
		return false;
	}
	choice->profile.origin = "profile";
	return true;
}

/* The profile that ABD_PROFILE names, read once. */
static const struct abd_profile *abd_choice_profile_started(void)
{
	static struct abd_profile profile;
	static bool read;
	const char *path = abd_tunable_environment("profile");

	if (!read && path != NULL)
		abd_profile_read(path, &profile);
	read = true;
	return &profile;
}

static void abd_choice_start_locked(struct abd_choice *choice)
{
	bool reported = false;
	int saved = errno; /* what looks at the machine opens files that need not be there */

	if (choice->started)
		return;
	abd_choice_profile_take(
		choice, abd_profile_plan(abd_choice_profile_started(), choice->name));
	abd_plan_auto(choice, &choice->plan);
	abd_choice_from_environment(choice, choice->name, false, &reported);
	if (choice->group != NULL)
		abd_choice_from_environment(
			choice, choice->group->name, true, &choice->group->reported);
	choice->started = true;
	errno = saved;
	abd_choice_publish(choice);
}

ABD_COLD const struct abd_kernel *abd_choice_start(struct abd_choice *choice, size_t size)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	pthread_mutex_unlock(&abd_choice_lock);
	return abd_choice_for(choice, size);
}

static int abd_choice_change(struct abd_choice *choice, const char *text, bool force)
{
	int error;

	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	error = abd_choice_read(choice, text, force, force ? "forced" : "set");
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
	return error;
}

int abd_choice_set(struct abd_choice *choice, const char *text)
{
	return abd_choice_change(choice, text, false);
}

int abd_choice_force(struct abd_choice *choice, const char *text)
{
	return abd_choice_change(choice, text, true);
}

void abd_choice_force_kernel(struct abd_choice *choice, const struct abd_kernel *kernel)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	choice->forced.count = 0;
	choice->forced.origin = "forced";
	if (kernel != NULL)
		abd_plan_add(&choice->forced, SIZE_MAX, kernel);
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
}

void abd_choice_plan_get(struct abd_choice *choice, bool in_use, struct abd_plan *plan)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	*plan = in_use && choice->forced.count > 0 ? choice->forced : choice->plan;
	pthread_mutex_unlock(&abd_choice_lock);
}

void abd_choice_plan_set(struct abd_choice *choice, const struct abd_plan *plan)
{
	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	choice->plan = *plan;
	choice->kept = true;
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
}

bool abd_choice_profile(struct abd_choice *choice, const char *text)
{
	bool taken;

	pthread_mutex_lock(&abd_choice_lock);
	abd_choice_start_locked(choice);
	taken = abd_choice_profile_take(choice, text);
	if (!choice->kept)
		abd_plan_auto(choice, &choice->plan);
	abd_choice_publish(choice);
	pthread_mutex_unlock(&abd_choice_lock);
	return taken;
}

void abd_choice_print(struct abd_choice *choice, bool in_use, char *text, size_t size)
{
	struct abd_plan plan;

	abd_choice_plan_get(choice, in_use, &plan);
	abd_plan_print(&plan, text, size);
}

void abd_choice_names(const struct abd_choice *choice, char *text, size_t size)
{
	const struct abd_kernel *kernel;
	size_t used;

	if (size == 0)
		return;
	used = (size_t)snprintf(text, size, "auto");
	for (size_t n = 0; (kernel = abd_kernel_nth(choice, n)) != NULL && used < size; n++)
		if (kernel->supported())
			used += (size_t)snprintf(text + used, size - used, " %s", kernel->name);
}
