/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunables from the environment: names in capitals, as long as they fit the buffer; values that
 * can't be accepted are noted.
 */
#include "abd_test.h"
#include "abd_tunable.h"

#define TEN "abcdefghij"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN TEN

static char taken[64];
static const struct abd_tunables tunables;

static int take(const char *value)
{
	if (strcmp(value, "bad") == 0)
		return -EINVAL;
	strcpy(taken, value);
	return 0;
}

static const char *give(char *text, size_t size)
{
	return taken;
}

static void nothing(void)
{
}

static const struct abd_tunable table[] = {{.name = LONG_NAME, .set = take, .get = give}};
static const struct abd_tunables tunables = {table, 1, nothing};

ABD_TEST_CHILD(environment_of_long_names)
{
	char text[ABD_TUNABLE_IGNORED];

	/* "ABD_" and 59 letters are looked for. */
	setenv("ABD_ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHI", "59", 1);
	abd_tunable_from_environment(&tunables);
	abd_test_child_expect(strcmp(taken, "59") == 0);
	setenv("ABD_ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHI", "bad", 1);
	abd_tunable_from_environment(&tunables);
	abd_test_child_expect(strcmp(taken, "59") == 0);
	abd_test_child_expect(
		strstr(abd_tunable_ignored_get(text, sizeof(text)),
			"ABD_ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHI=bad") ==
		text);
	return 0;
}

Test(abd_environment, long_names_are_cut_and_bad_values_are_noted_and_not_printed)
{
	char text[512];
	int status = abd_test_child_run("environment_of_long_names", NULL, text, sizeof(text));

	cr_assert_eq(abd_test_child_exit(status), 0, "%s", text);
	cr_assert_str_eq(text, "");
}
