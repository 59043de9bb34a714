/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of tunables: only whole decimal numbers within bounds.
 */
#include "abd_tunable.h"

#include "abd_test.h"

static bool parse(const char *text, uint64_t low, uint64_t high, uint64_t expected)
{
	uint64_t value = ~expected;

	return abd_tunable_parse(text, low, high, &value) && value == expected;
}

Test(abd_tunable, numbers_are_decimal_and_whole)
{
	uint64_t value;
	static const char *const bad[] = {"", " ", "1 ", " 1", "+1", "-1", "0x10", "1.5", "1k",
		"ten", "18446744073709551616", "99999999999999999999", "184467440737095516150"};

	cr_assert(parse("0", 0, 1, 0));
	cr_assert(parse("18446744073709551615", 0, UINT64_MAX, UINT64_MAX));
	cr_assert(parse("18446744073709551609", 0, UINT64_MAX, UINT64_MAX - 6));
	cr_assert(parse("0000000000000000000000000007", 0, 10, 7));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert(!abd_tunable_parse(bad[i], 0, UINT64_MAX, &value), "\"%s\"", bad[i]);
}

Test(abd_tunable, bounds_are_inside)
{
	uint64_t value;

	cr_assert(parse("3", 3, 5, 3) && parse("5", 3, 5, 5));
	cr_assert(!abd_tunable_parse("2", 3, 5, &value));
	cr_assert(!abd_tunable_parse("6", 3, 5, &value));
}

static char was_set[32];

static int set(const char *value)
{
	if (strcmp(value, "bad") == 0)
		return -EINVAL;
	snprintf(was_set, sizeof(was_set), "%s", value);
	return 0;
}

static void start(void)
{
}

Test(abd_tunable, the_environment_sets_what_it_names)
{
	static const struct abd_tunable table[] = {
		{.name = "test_only_one", .set = set}, {.name = "test_only_two", .set = set}};
	static const struct abd_tunables tunables = {table, 2, start};

	abd_tunable_from_environment(&tunables);
	cr_assert_str_eq(was_set, "");
	setenv("ABD_TEST_ONLY_TWO", "17", 1);
	abd_tunable_from_environment(&tunables);
	cr_assert_str_eq(was_set, "17");
	setenv("ABD_TEST_ONLY_TWO", "bad", 1);
	abd_tunable_from_environment(&tunables);
	cr_assert_str_eq(was_set, "17");
	unsetenv("ABD_TEST_ONLY_TWO");
}

static unsigned changes;

static void changed(void)
{
	changes++;
}

Test(abd_tunable, a_number_is_set_within_its_bounds_whatever_its_size)
{
	static uint32_t small = 7;
	static uint64_t large = 8;
	static const struct abd_tunable table[] = {
		{.name = "small", ABD_TUNABLE_NUMBER(small), .low = 5, .high = UINT32_MAX},
		{.name = "large",
			ABD_TUNABLE_NUMBER(large),
			.high = UINT64_MAX,
			.changed = changed}};
	char text[32];

	cr_assert(abd_tunable_set(&table[0], "4") == -EINVAL && small == 7);
	cr_assert(abd_tunable_set(&table[0], "4294967295") == 0 && small == UINT32_MAX);
	cr_assert_str_eq(abd_tunable_get(&table[0], text, sizeof(text)), "4294967295");
	cr_assert(abd_tunable_set(&table[1], "x") == -EINVAL && large == 8 && changes == 0);
	cr_assert(abd_tunable_set(&table[1], "18446744073709551615") == 0 && large == UINT64_MAX);
	cr_assert_str_eq(abd_tunable_get(&table[1], text, sizeof(text)), "18446744073709551615");
	cr_assert_eq(changes, 1);
}
