/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chooser, on a table of its own: plans as text, the source of each plan, forced kernels,
 * listing, and threads that start it at once. The kernels of this table differ only in their names.
 */
#include "abd_kernel.h"
#include "abd_machine.h"
#include "abd_test.h"
#include "abd_tunable.h"

#define expect(condition) abd_test_child_expect(condition)

struct test_kernel {
	ABD_KERNEL_HEAD;
	int number;
};

static bool yes(void)
{
	return true;
}

static bool no(void)
{
	return false;
}

static const struct test_kernel absent = {.name = "absent", .supported = no, .number = 0};
static const struct test_kernel fast = {.name = "fast", .supported = yes, .number = 1};
static const struct test_kernel plain = {.name = "plain", .supported = yes, .number = 2};
static const struct test_kernel by_name = {.name = "by-name", .supported = yes, .number = 3};
static const struct test_kernel foreign = {.name = "foreign", .supported = yes, .number = 4};

static const struct test_kernel *const kernels[] = {&absent, &fast, &plain, &by_name, NULL};
static const struct abd_plan_built_in fallbacks[] = {
	{NULL, {{SIZE_MAX, &absent.kernel}}},
	{NULL, {{10, &plain.kernel}, {SIZE_MAX, &absent.kernel}}},
	{NULL, {{100, &plain.kernel}, {SIZE_MAX, &fast.kernel}}},
	{NULL, {{SIZE_MAX, &fast.kernel}}},
	{NULL, {{0, NULL}}},
};
static const struct abd_plan_built_in families[] = {
	{"known", {{ABD_L3_PART(2), &by_name.kernel}, {SIZE_MAX, &plain.kernel}}},
	{"lacking", {{SIZE_MAX, &absent.kernel}}},
	{"twice", {{10, &absent.kernel}, {SIZE_MAX, &plain.kernel}}},
	{"twice", {{SIZE_MAX, &plain.kernel}}},
	{NULL, {{100, &plain.kernel}, {SIZE_MAX, &fast.kernel}}},
	{NULL, {{0, NULL}}},
};
static const struct abd_plan_built_in lacking[] = {
	{NULL, {{SIZE_MAX, &absent.kernel}}},
	{NULL, {{0, NULL}}},
};

/* Each child has a copy of its own: nothing of it has been used. */
static struct abd_choice choice = {
	.rows[0].last = SIZE_MAX,
	.name = "test_choice",
	.group = "test_group",
	.kernels = kernels,
	.built_in = fallbacks,
};
static struct abd_choice second = {
	.rows[0].last = SIZE_MAX,
	.name = "test_second",
	.group = "test_group",
	.kernels = kernels,
	.built_in = lacking,
};
static struct abd_choice with_families = {
	.rows[0].last = SIZE_MAX,
	.name = "test_families",
	.kernels = kernels,
	.built_in = families,
};
static struct abd_choice planless = {
	.rows[0].last = SIZE_MAX,
	.name = "test_planless",
	.kernels = kernels,
};

static const struct abd_kernel *at(size_t size)
{
	return abd_choice_for(&choice, size);
}

static const char *shown_whole(struct abd_choice *of, bool in_use)
{
	static char text[ABD_PLAN_SHOWN];

	abd_choice_print(of, in_use, text, sizeof(text));
	return text;
}

/* Without the origin. */
static const char *shown(struct abd_choice *of, bool in_use)
{
	static char text[ABD_PLAN_SHOWN];

	snprintf(text, sizeof(text), "%s", shown_whole(of, in_use));
	*strstr(text, " (") = '\0';
	return text;
}

static void end(void)
{
	abd_choice_set(&choice, "auto");
	abd_choice_force(&choice, "auto");
}

Test(abd_kernel, a_plan_serves_each_size_by_its_row_up_to_and_with_the_last, .fini = end)
{
	cr_assert_eq(abd_choice_set(&choice, "fast<=1,plain<=4096,by-name<=4097,fast"), 0);
	cr_assert(at(0) == &fast.kernel && at(1) == &fast.kernel);
	cr_assert(at(2) == &plain.kernel && at(4095) == &plain.kernel && at(4096) == &plain.kernel);
	cr_assert(at(4097) == &by_name.kernel);
	cr_assert(at(4098) == &fast.kernel && at(SIZE_MAX) == &fast.kernel);
}

/* The layer gets its own struct back. */
Test(abd_kernel, a_kernel_is_what_the_table_points_to, .fini = end)
{
	cr_assert_eq(abd_choice_set(&choice, "by-name"), 0);
	cr_assert_eq(((const struct test_kernel *)at(77))->number, by_name.number);
	cr_assert_str_eq(at(77)->name, "by-name");
}

Test(abd_kernel, what_can_be_set_is_shown_as_it_was_set, .fini = end)
{
	static const char *const texts[] = {"fast", "plain", "by-name", "fast<=1,plain",
		"plain<=64,fast<=256,by-name<=33554431,plain", "fast<=4294967294,plain"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_assert_eq(abd_choice_set(&choice, texts[i]), 0, "%s", texts[i]);
		cr_assert_str_eq(shown(&choice, false), texts[i]);
		cr_assert_str_eq(shown(&choice, true), texts[i]);
	}
	/* Rows side by side of one kernel are one row. */
	cr_assert_eq(abd_choice_set(&choice, "fast<=1,fast<=2,plain<=0000003,plain"), 0);
	cr_assert_str_eq(shown(&choice, true), "fast<=2,plain");
}

static void longest_plan(char *text, size_t size, unsigned rows)
{
	size_t used = 0;

	for (unsigned i = 1; i < rows; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s<=%u,", i % 2 != 0 ? "fast" : "plain", i);
	snprintf(text + used, size - used, "by-name");
}

Test(abd_kernel, text_that_is_no_plan_is_refused_and_changes_nothing, .fini = end)
{
	static const char *const bad[] = {"", " ", "none", "fas", "fastt", "Fast", "fast ", " fast",
		"absent", "fast<=10,absent", "absent<=10,fast", "fast,", "fast,plain", "fast<",
		"fast<=", "fast<=,plain", "fast<=10", "fast<=10,", ",fast", "<=10,fast",
		"fast<10,plain", "fast=10,plain", "fast:10,plain", "fast<=0,plain",
		"fast<=-1,plain", "fast<=+1,plain", "fast<= 1,plain", "fast<=1 ,plain",
		"fast<=1,,plain", "fast<=1k,plain", "fast<=0x10,plain", "fast<=10,plain<=10,fast",
		"fast<=10,plain<=9,fast", "fast<=10,auto", "auto<=10,fast", "auto,",
		"fast<=18446744073709551615,plain", "fast<=18446744073709551616,plain",
		"fast<=99999999999999999999999999999,plain", "fast<=1\nplain", "fast\n"};
	char text[4096];
	const char *was = "plain<=7,by-name";

	cr_assert_eq(abd_choice_set(&choice, was), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(abd_choice_set(&choice, bad[i]), -EINVAL, "\"%s\"", bad[i]);
		cr_assert_eq(abd_choice_force(&choice, bad[i]), -EINVAL, "\"%s\"", bad[i]);
		cr_assert_str_eq(shown(&choice, true), was);
		cr_assert(at(7) == &plain.kernel && at(8) == &by_name.kernel);
	}
	longest_plan(text, sizeof(text), ABD_PLAN_ROWS);
	cr_assert_eq(abd_choice_set(&choice, text), 0, "%s", text);
	cr_assert_str_eq(shown(&choice, true), text);
	cr_assert(at(ABD_PLAN_ROWS - 1) != &by_name.kernel && at(ABD_PLAN_ROWS) == &by_name.kernel);
	longest_plan(text, sizeof(text), ABD_PLAN_ROWS + 1);
	cr_assert(strlen(text) < ABD_PLAN_TEXT);
	cr_assert_eq(abd_choice_set(&choice, text), -EINVAL, "one row too many");
	/* Longer than what shows it: leading zeros only, so it would be a plan. */
	memset(text, '0', sizeof(text));
	memcpy(text, "fast<=", 6);
	snprintf(text + ABD_PLAN_TEXT - 7, 16, "1,plain");
	cr_assert_eq(strlen(text), ABD_PLAN_TEXT);
	cr_assert_eq(abd_choice_set(&choice, text), -EINVAL);
}

Test(abd_kernel, a_plan_is_cut_to_the_readers_room, .fini = end)
{
	const char *whole = "plain<=64,fast<=256,by-name (set)";
	char cut[64];

	cr_assert_eq(abd_choice_set(&choice, whole), 0);
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		memset(cut, 'x', sizeof(cut));
		abd_choice_print(&choice, true, cut, size);
		cr_assert_eq(strlen(cut), size - 1, "room of %zu", size);
		cr_assert_eq(memcmp(cut, whole, size - 1), 0, "room of %zu", size);
		cr_assert_eq(cut[size], 'x', "room of %zu", size);
	}
}

Test(abd_kernel, built_in_plans_are_tried_in_order_and_fall_back_to_the_first_kernel, .fini = end)
{
	cr_assert_eq(abd_choice_set(&choice, "auto"), 0);
	cr_assert_str_eq(shown(&choice, false), "plain<=100,fast");
	cr_assert_eq(abd_choice_set(&second, "auto"), 0);
	cr_assert_str_eq(shown(&second, false), "fast");
	cr_assert(abd_choice_for(&planless, 0) == &fast.kernel);
	cr_assert(abd_choice_for(&planless, SIZE_MAX) == &fast.kernel);
}

static const char *of_family(const char *family)
{
	static char text[64];
	struct abd_plan plan;
	size_t used = 0;

	abd_plan_of_family(&with_families, family, &plan);
	for (size_t i = 0; i < plan.count; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s ", plan.rows[i].kernel->name);
	snprintf(text + used, sizeof(text) - used, "%s", plan.origin);
	return text;
}

Test(abd_kernel, a_family_gets_its_plan_or_if_it_lacks_a_kernel_what_others_get)
{
	struct abd_plan plan;

	cr_assert_str_eq(of_family("known"), "by-name plain known");
	cr_assert_str_eq(of_family("twice"), "plain twice");
	cr_assert_str_eq(of_family("lacking"), "plain fast by the last cache");
	cr_assert_str_eq(of_family(""), "plain fast by the last cache");
	abd_plan_of_family(&planless, "known", &plan);
	cr_assert_str_eq(plan.origin, "first");
	abd_plan_of_family(&with_families, "known", &plan);
	cr_assert_eq(plan.rows[0].last, abd_min(abd_machine()->cache[2], (size_t)128 << 20) / 2);
}

Test(abd_kernel, an_origin_is_passed_over_but_nothing_else, .fini = end)
{
	static const char *const bad[] = {"fast (", "fast (a", "fast (a) ", "fast(a)", " (a)",
		"fast) (a)", "fast<=1 (a),plain"};

	cr_assert_eq(abd_choice_set(&choice, "fast<=1,plain (by (whom) ever)"), 0);
	cr_assert_str_eq(shown_whole(&choice, true), "fast<=1,plain (set)");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(abd_choice_set(&choice, bad[i]), -EINVAL, "%s", bad[i]);
}

Test(abd_kernel, what_is_forced_takes_precedence_until_auto, .fini = end)
{
	struct abd_plan plan = {.count = 0};

	cr_assert_eq(abd_choice_set(&choice, "plain"), 0);
	cr_assert_eq(abd_choice_force(&choice, "fast<=5,by-name"), 0);
	cr_assert(at(5) == &fast.kernel && at(6) == &by_name.kernel);
	cr_assert_str_eq(shown(&choice, false), "plain");
	cr_assert_str_eq(shown(&choice, true), "fast<=5,by-name");
	cr_assert_eq(abd_choice_set(&choice, "fast"), 0);
	cr_assert(at(6) == &by_name.kernel);
	/* A measured plan waits too. */
	abd_plan_add(&plan, 9, &by_name.kernel);
	abd_plan_add(&plan, SIZE_MAX, &plain.kernel);
	abd_choice_plan_set(&choice, &plan);
	cr_assert(at(5) == &fast.kernel);
	abd_choice_plan_get(&choice, true, &plan);
	cr_assert(plan.count == 2 && abd_plan_at(&plan, 5) == &fast.kernel);
	cr_assert_eq(abd_choice_force(&choice, "auto"), 0);
	cr_assert(at(9) == &by_name.kernel && at(10) == &plain.kernel);
	abd_choice_plan_get(&choice, true, &plan);
	cr_assert(abd_plan_at(&plan, 9) == &by_name.kernel);
	cr_assert(abd_plan_at(&plan, 10) == &plain.kernel);

	abd_choice_force_kernel(&choice, &foreign.kernel);
	cr_assert(at(0) == &foreign.kernel && at(SIZE_MAX) == &foreign.kernel);
	abd_choice_force_kernel(&choice, NULL);
	cr_assert(at(9) == &by_name.kernel);
}

Test(abd_kernel, a_kernel_is_found_by_its_name_where_this_cpu_can_run_it)
{
	cr_assert(abd_choice_find(&choice, "plain") == &plain.kernel);
	cr_assert(abd_choice_find(&choice, NULL) == &fast.kernel);
	cr_assert_null(abd_choice_find(&choice, "absent"));
	cr_assert_null(abd_choice_find(&choice, "foreign"));
	cr_assert_null(abd_choice_find(&choice, ""));
}

/* ---- the first call of all, in processes of their own ---- */

ABD_TEST_CHILD(kernel_environment_sets)
{
	errno = 77; /* the first look-up reads files of the system, and keeps quiet about it */
	expect(abd_choice_for(&planless, 3) != NULL && errno == 77);
	expect(at(3) == &by_name.kernel && at(4) == &fast.kernel);
	expect(abd_choice_set(&choice, "auto") == 0 && at(4) == &plain.kernel);
	return 0;
}

ABD_TEST_CHILD(kernel_environment_forces_a_group)
{
	expect(at(3) == &plain.kernel && abd_choice_for(&second, 3) == &plain.kernel);
	expect(strcmp(shown(&choice, false), "by-name<=3,fast") == 0);
	expect(abd_choice_for(&planless, 3) == &fast.kernel);
	expect(abd_choice_force(&choice, "auto") == 0 && at(3) == &by_name.kernel);
	return 0;
}

/* A call comes first: the environment is read before it, not after. */
ABD_TEST_CHILD(kernel_environment_yields_to_calls)
{
	expect(abd_choice_set(&choice, "plain") == 0 && at(3) == &plain.kernel);
	return 0;
}

ABD_TEST_CHILD(kernel_environment_is_bad)
{
	char noted[ABD_TUNABLE_IGNORED];

	expect(at(100) == &plain.kernel && at(101) == &fast.kernel);
	expect(abd_choice_for(&second, 3) == &fast.kernel);
	expect(strcmp(abd_tunable_ignored_get(noted, sizeof(noted)),
		       "ABD_TEST_CHOICE=absent ABD_TEST_GROUP=fast<=,plain") == 0);
	return 0;
}

static void child(const char *name, const char *const *variables)
{
	char text[512];
	int status = abd_test_child_run(name, variables, text, sizeof(text));

	cr_assert_eq(abd_test_child_exit(status), 0, "%s: %s", name, text);
	cr_assert_str_eq(text, "");
}

Test(abd_kernel, the_environment_is_read_before_the_first_call)
{
	static const char *const own[] = {"ABD_TEST_CHOICE=by-name<=3,fast", NULL};
	static const char *const all[] = {
		"ABD_TEST_CHOICE=by-name<=3,fast", "ABD_TEST_GROUP=plain", NULL};

	child("kernel_environment_sets", own);
	child("kernel_environment_yields_to_calls", own);
	child("kernel_environment_forces_a_group", all);
}

Test(abd_kernel, what_the_environment_can_not_mean_is_noted_once_and_ignored)
{
	static const char *const bad[] = {
		"ABD_TEST_CHOICE=absent", "ABD_TEST_GROUP=fast<=,plain", NULL};

	child("kernel_environment_is_bad", bad);
}

enum { THREADS = 8 };

static pthread_barrier_t barrier;

static void *starter(void *arg)
{
	const struct abd_kernel **got = arg;

	pthread_barrier_wait(&barrier);
	*got = at(1);
	return NULL;
}

/* None may see the choice before the environment has been read. */
ABD_TEST_CHILD(kernel_threads_start_at_once)
{
	const struct abd_kernel *got[THREADS];
	pthread_t threads[THREADS];

	expect(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (size_t i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, starter, &got[i]) == 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < THREADS; i++)
		expect(got[i] == &by_name.kernel);
	return 0;
}

Test(abd_kernel, threads_that_start_at_once_get_the_same_kernel)
{
	static const char *const variables[] = {"ABD_TEST_CHOICE=by-name<=3,fast", NULL};

	for (int round = 0; round < 20; round++)
		child("kernel_threads_start_at_once", variables);
}

static _Atomic bool stop;

/* Every row, also of plans that have just given way to shorter ones. */
static void *looker(void *arg)
{
	size_t wrong = 0;

	while (!stop)
		for (size_t size = 0; size < 64; size++) {
			const struct abd_kernel *kernel = at(size);

			wrong += kernel == NULL || !kernel->supported();
		}
	return wrong == 0 ? NULL : &stop;
}

Test(abd_kernel, plans_may_be_replaced_while_others_look_kernels_up, .fini = end)
{
	pthread_t threads[2];
	char text[ABD_PLAN_TEXT];
	void *wrong;

	stop = false;
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, looker, NULL), 0);
	for (unsigned round = 0; round < 20000; round++) {
		longest_plan(text, sizeof(text), 1 + round * 7 % ABD_PLAN_ROWS);
		cr_assert_eq(abd_choice_set(&choice, text), 0);
	}
	stop = true;
	for (size_t i = 0; i < 2; i++) {
		pthread_join(threads[i], &wrong);
		cr_assert_null(wrong);
	}
}
