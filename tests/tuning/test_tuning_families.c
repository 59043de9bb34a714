/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plans of all families of CPUs, on whatever CPU this is: every operation that goes by a plan,
 * one byte below each row's largest size, at it, and above. A plan that names a kernel which this
 * CPU lacks gives way to the next, as it does at run time.
 */
#include "abd_compare_kernel.h"
#include "abd_copy_span.h"
#include "abd_fletcher.h"
#include "abd_flush_table.h"
#include "abd_machine.h"
#include "abd_test.h"
#include "abd_zero_span.h"

enum { OFF = 3, EDGE_MAX = 64 << 20 };

/* Scattered, linear, and the model; all hold the same bytes. */
static struct {
	abd_t *runs, *copy;
	char *flat;
} data;

static void end(void)
{
	abd_test_tunables_restore();
}

/* The byte at off of the copy becomes another: each answer must follow. */
static void check_difference(size_t size, size_t off)
{
	char was = data.flat[off], other = (char)(was ^ 0x40);
	bool less = (unsigned char)other < (unsigned char)was;

	abd_copy_from_buf_off(data.copy, &other, off, 1);
	cr_assert(!abd_equal_off(data.copy, data.runs, 0, 0, size), "%zu of %zu", off, size);
	cr_assert_eq(abd_diff_off(data.copy, data.runs, 0, 0, size), off);
	cr_assert(!abd_equal_buf_off(data.copy, data.flat, 0, size));
	cr_assert_eq(abd_cmp_buf_off(data.copy, data.flat, 0, size) < 0, less);
	abd_copy_from_buf_off(data.copy, &was, off, 1);
}

static void check_size(size_t size, size_t room)
{
	abd_copy_from_buf(data.copy, data.flat, room);
	abd_zero_off(data.copy, 0, size);
	cr_assert_eq(abd_cmp_zero_off(data.copy, 0, size), 0);
	cr_assert(abd_equal_buf_off(data.copy, data.flat + size, size, OFF - 1), "%zu", size);
	abd_zero(data.copy, room);
	abd_copy_off(data.copy, data.runs, 0, 0, size);
	cr_assert_eq(abd_cmp_buf_off(data.copy, data.flat, 0, size), 0);
	cr_assert_eq(abd_cmp_zero_off(data.copy, size, OFF - 1), 0, "%zu", size);
	cr_assert(abd_equal_off(data.copy, data.runs, 0, 0, size));
	cr_assert_eq(abd_diff_off(data.copy, data.runs, 0, 0, size), size);
	check_difference(size, size - 1);
	check_difference(size, 0);
	/* Boundaries that don't coincide, and linear memory. */
	abd_copy_off(data.copy, data.runs, 0, OFF, size);
	cr_assert(abd_equal_off(data.copy, data.runs, 0, OFF, size));
	cr_assert(abd_equal_buf_off(data.copy, data.flat + OFF, 0, size));
}

static void check_edge(size_t last)
{
	size_t room = last + 1 + OFF;
	uint64_t random = 20;

	abd_tuning_set("max_order", "0");
	data.runs = abd_alloc(room, false);
	data.copy = abd_alloc(room, false);
	data.flat = malloc(room);
	cr_assert(data.runs != NULL && data.copy != NULL && data.flat != NULL);
	for (size_t i = 0; i < room; i++)
		data.flat[i] = (char)(abd_test_random(&random) | 1);
	abd_copy_from_buf(data.runs, data.flat, room);
	for (size_t size = last - 1; size <= last + 1; size++)
		check_size(size, room);
	abd_free(data.runs);
	abd_free(data.copy);
	free(data.flat);
}

static void check_families(struct abd_choice *choice)
{
	const struct abd_plan_built_in *built_in = choice->built_in;
	const char *family;
	struct abd_plan plan;

	do {
		family = built_in++->family;
		abd_plan_of_family(choice, family != NULL ? family : "", &plan);
		abd_choice_plan_set(choice, &plan, false);
		for (size_t i = 0; i < plan.count; i++) {
			size_t last = plan.rows[i].last;

			cr_assert(abd_choice_for(choice, last) == plan.rows[i].kernel);
			if (last <= EDGE_MAX)
				check_edge(last);
		}
	} while (family != NULL); /* every table ends with fallbacks */
}

Test(abd_tuning_families, every_familys_plan_is_right_at_every_edge, .fini = end)
{
	check_families(&abd_compare_choice);
	check_families(&abd_copy_choice);
	check_families(&abd_zero_choice);
}

/* A misspelt family would never be noticed: the plan would give way to the next. */
Test(abd_tuning_families, every_built_in_plan_grows_and_is_of_a_family_that_exists)
{
	static const struct abd_cpu_identity known[] = {
		{"AuthenticAMD", 25, 17}, {"AuthenticAMD", 26, 2}, {"GenuineIntel", 6, 207}};
	struct abd_choice *const choices[] = {&abd_compare_choice, &abd_copy_choice,
		&abd_zero_choice, &abd_flush_choices[ABD_FLUSH_AUTO],
		&abd_flush_choices[ABD_FLUSH_EXCLUSIVE], &abd_fletcher_choice};

	for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++) {
		const struct abd_plan_built_in *plan = choices[c]->built_in;

		for (; plan->rows[0].kernel != NULL; plan++) {
			const struct abd_plan_row *row = plan->rows;
			size_t i = 0;

			while (plan->family != NULL && i < 3 &&
				strcmp(plan->family, abd_machine_family(&known[i])) != 0)
				i++;
			cr_assert_lt(i, 3, "%s: no family %s", choices[c]->name, plan->family);
			for (; row->last != SIZE_MAX; row++)
				cr_assert(row[1].kernel != NULL && row->last < row[1].last, "%s",
					choices[c]->name);
		}
	}
}
