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
/* The first two lack a kernel. */
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

/* Each child has a copy of its own: nothing of it has been used. */
#define CHOICE(variable, of_group, plans)                              \
	static struct abd_choice variable = {.rows[0].last = SIZE_MAX, \
		.name = "test_" #variable,                             \
		.group = (of_group),                                   \
		.kernels = kernels,                                    \
		.built_in = (plans)}

CHOICE(choice, "test_group", fallbacks);
CHOICE(second, "test_group", NULL);
CHOICE(with_families, NULL, families);
CHOICE(planless, NULL, NULL);

static const struct abd_kernel *at(size_t size)
{
	return abd_choice_for(&choice, size);
}

static const char *shown(struct abd_choice *of, bool in_use)
{
	static char text[ABD_PLAN_SHOWN];
	struct abd_plan plan;

	abd_choice_plan_get(of, in_use, &plan);
	abd_plan_print(&plan, text, sizeof(text));
	return text;
}

/* With the origin (set). */
static void is_set(const char *text)
{
	char whole[ABD_PLAN_SHOWN];

	snprintf(whole, sizeof(whole), "%s (set)", text);
	cr_assert_str_eq(shown(&choice, true), whole);
}

static void end(void)
{
	abd_choice_set(&choice, "auto", false);
	abd_choice_set(&choice, "auto", true);
}

Test(abd_kernel, a_plan_serves_each_size_by_its_row_up_to_and_with_the_last, .fini = end)
{
	cr_assert_eq(abd_choice_set(&choice, "fast<=1,plain<=4096,by-name<=4097,fast", false), 0);
	cr_assert(at(0) == &fast.kernel && at(1) == &fast.kernel);
	cr_assert(at(2) == &plain.kernel && at(4095) == &plain.kernel && at(4096) == &plain.kernel);
	cr_assert(at(4097) == &by_name.kernel);
	cr_assert(at(4098) == &fast.kernel && at(SIZE_MAX) == &fast.kernel);
}

/* The layer gets its own struct back. */
Test(abd_kernel, a_kernel_is_what_the_table_points_to, .fini = end)
{
	cr_assert_eq(abd_choice_set(&choice, "by-name", false), 0);
	cr_assert_eq(((const struct test_kernel *)at(77))->number, by_name.number);
}

Test(abd_kernel, what_can_be_set_is_shown_as_it_was_set, .fini = end)
{
	static const char *const texts[] = {"fast", "plain", "by-name", "fast<=1,plain",
		"plain<=64,fast<=256,by-name<=33554431,plain", "fast<=4294967294,plain"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_assert_eq(abd_choice_set(&choice, texts[i], false), 0, "%s", texts[i]);
		is_set(texts[i]);
	}
	/* Rows side by side of one kernel are one row; an origin is passed over. */
	cr_assert_eq(abd_choice_set(&choice, "fast<=1,fast<=2,plain<=0000003,plain", false), 0);
	is_set("fast<=2,plain");
	cr_assert_eq(abd_choice_set(&choice, "fast<=1,plain (by (whom) ever)", false), 0);
	is_set("fast<=1,plain");
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
		"fast<=99999999999999999999999999999,plain", "fast<=1\nplain", "fast\n", "fast (",
		"fast (a", "fast (a) ", "fast(a)", " (a)", "fast) (a)", "fast<=1 (a),plain"};
	char text[4096];
	const char *was = "plain<=7,by-name";

	cr_assert_eq(abd_choice_set(&choice, was, false), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(abd_choice_set(&choice, bad[i], false), -EINVAL, "\"%s\"", bad[i]);
		cr_assert_eq(abd_choice_set(&choice, bad[i], true), -EINVAL, "\"%s\"", bad[i]);
		is_set(was);
		cr_assert(at(7) == &plain.kernel && at(8) == &by_name.kernel);
	}
	longest_plan(text, sizeof(text), ABD_PLAN_ROWS);
	cr_assert_eq(abd_choice_set(&choice, text, false), 0, "%s", text);
	is_set(text);
	cr_assert(at(ABD_PLAN_ROWS - 1) != &by_name.kernel && at(ABD_PLAN_ROWS) == &by_name.kernel);
	longest_plan(text, sizeof(text), ABD_PLAN_ROWS + 1);
	cr_assert(strlen(text) < ABD_PLAN_TEXT);
	cr_assert_eq(abd_choice_set(&choice, text, false), -EINVAL, "one row too many");
	/* Longer than what shows it: leading zeros only, so it would be a plan. */
	memset(text, '0', sizeof(text));
	memcpy(text, "fast<=", 6);
	snprintf(text + ABD_PLAN_TEXT - 7, 16, "1,plain");
	cr_assert_eq(strlen(text), ABD_PLAN_TEXT);
	cr_assert_eq(abd_choice_set(&choice, text, false), -EINVAL);
}

Test(abd_kernel, a_plan_is_cut_to_the_readers_room, .fini = end)
{
	const char *whole = "plain<=64,fast<=256,by-name (set)";
	struct abd_plan plan;
	char cut[64];

	cr_assert_eq(abd_choice_set(&choice, whole, false), 0);
	abd_choice_plan_get(&choice, true, &plan);
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		memset(cut, 'x', sizeof(cut));
		abd_plan_print(&plan, cut, size);
		cr_assert_eq(strlen(cut), size - 1, "room of %zu", size);
		cr_assert_eq(memcmp(cut, whole, size - 1), 0, "room of %zu", size);
		cr_assert_eq(cut[size], 'x', "room of %zu", size);
	}
}

static const char *of_family(const char *family)
{
	static char text[ABD_PLAN_SHOWN];
	struct abd_plan plan;

	abd_plan_of_family(&with_families, family, &plan);
	abd_plan_print(&plan, text, sizeof(text));
	return text;
}

Test(abd_kernel, built_in_plans_are_tried_in_order_and_fall_back_to_the_first_kernel, .fini = end)
{
	char known[64];

	cr_assert_eq(abd_choice_set(&choice, "auto", false), 0);
	cr_assert_str_eq(shown(&choice, false), "plain<=100,fast (by the last cache)");
	cr_assert_eq(abd_choice_set(&second, "auto", false), 0);
	cr_assert_str_eq(shown(&second, false), "fast (first)");
	snprintf(known, sizeof(known), "by-name<=%zu,plain (known)",
		abd_min(abd_machine()->cache[2], (size_t)128 << 20) / 2);
	cr_assert_str_eq(of_family("known"), known);
	cr_assert_str_eq(of_family("twice"), "plain (twice)");
	cr_assert_str_eq(of_family("lacking"), "plain<=100,fast (by the last cache)");
	cr_assert_str_eq(of_family(""), "plain<=100,fast (by the last cache)");
}

Test(abd_kernel, what_is_forced_takes_precedence_until_auto, .fini = end)
{
	struct abd_plan plan = {.count = 0};

	cr_assert_eq(abd_choice_set(&choice, "plain", false), 0);
	cr_assert_eq(abd_choice_set(&choice, "fast<=5,by-name", true), 0);
	cr_assert(at(5) == &fast.kernel && at(6) == &by_name.kernel);
	cr_assert_str_eq(shown(&choice, false), "plain (set)");
	cr_assert_str_eq(shown(&choice, true), "fast<=5,by-name (forced)");
	/* A measured plan waits too. */
	abd_plan_add(&plan, 9, &by_name.kernel);
	abd_plan_add(&plan, SIZE_MAX, &plain.kernel);
	abd_choice_plan_set(&choice, &plan, false);
	cr_assert(at(5) == &fast.kernel);
	cr_assert_eq(abd_choice_set(&choice, "auto", true), 0);
	cr_assert(at(9) == &by_name.kernel && at(10) == &plain.kernel);
	cr_assert(abd_plan_at(&plan, 9) == &by_name.kernel);
	cr_assert(abd_plan_at(&plan, 10) == &plain.kernel);

	/* Not in the table. */
	plan = (struct abd_plan){.count = 1, .rows = {{SIZE_MAX, &foreign.kernel}}};
	abd_choice_plan_set(&choice, &plan, true);
	cr_assert(at(0) == &foreign.kernel && at(SIZE_MAX) == &foreign.kernel);
	plan.count = 0;
	abd_choice_plan_set(&choice, &plan, true);
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

ABD_TEST_CHILD(kernel_environment_sets)
{
	errno = 77; /* the first look-up reads files of the system, and keeps quiet about it */
	expect(abd_choice_for(&planless, 3) == &fast.kernel && errno == 77);
	expect(at(3) == &by_name.kernel && at(4) == &fast.kernel);
	expect(abd_choice_set(&choice, "auto", false) == 0 && at(4) == &plain.kernel);
	return 0;
}

ABD_TEST_CHILD(kernel_environment_forces_a_group)
{
	expect(at(3) == &plain.kernel && abd_choice_for(&second, 3) == &plain.kernel);
	expect(strcmp(shown(&choice, false), "by-name<=3,fast (environment)") == 0);
	expect(abd_choice_for(&planless, 3) == &fast.kernel);
	expect(abd_choice_set(&choice, "auto", true) == 0 && at(3) == &by_name.kernel);
	return 0;
}

/* A call comes first: the environment is read before it, not after. */
ABD_TEST_CHILD(kernel_environment_yields_to_calls)
{
	expect(abd_choice_set(&choice, "plain", false) == 0 && at(3) == &plain.kernel);
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

static const char *const own[] = {"ABD_TEST_CHOICE=by-name<=3,fast", NULL};

Test(abd_kernel, the_environment_is_read_before_the_first_call)
{
	static const char *const all[] = {
		"ABD_TEST_CHOICE=by-name<=3,fast", "ABD_TEST_GROUP=plain", NULL};
	static const char *const bad[] = {
		"ABD_TEST_CHOICE=absent", "ABD_TEST_GROUP=fast<=,plain", NULL};

	child("kernel_environment_sets", own);
	child("kernel_environment_yields_to_calls", own);
	child("kernel_environment_forces_a_group", all);
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
	for (int round = 0; round < 20; round++)
		child("kernel_threads_start_at_once", own);
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
		cr_assert_eq(abd_choice_set(&choice, text, false), 0);
	}
	stop = true;
	for (size_t i = 0; i < 2; i++) {
		pthread_join(threads[i], &wrong);
		cr_assert_null(wrong);
	}
}
