/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every tunable by name: set, shown, refused, and read from the environment when it is first
 * needed.
 */
#include "abd_machine.h"
#include "abd_test.h"

#include <abd/version.h>

struct name_and_values {
	const char *name;
	const char *good[5];
	const char *bad[6];
};

static const struct name_and_values all[] = {
	{"scatter_enabled", {"0", "1"}, {"2", "", "-1", "yes", "01x"}},
	{"scatter_min_size",
		{"0", "1536", sizeof(size_t) == 8 ? "18446744073709551615" : "4294967295"},
		{"", "1k", "-1", "18446744073709551616"}},
	{"max_order", {"0", "5", "10"}, {"11", "", "-1", "ten", " 1"}},
	{"linear_page", {"0", "1"}, {"2", "", "true"}},
	{"thread_cache_bytes", {"0", "1", "8388608"}, {"", "8M", "-1"}},
	{"chunk_provider", {"malloc"}, {"", "slab", "MALLOC"}},
	{"pool_size", {NULL}, {"", "1", "4096", "1G", "18446744073709551615"}},
	{"compare", {"scalar", "word", "libc", "word<=64,scalar<=4096,libc"},
		{"", "fastest", "SCALAR", "word<=64", "word<=64,fastest", "word:64,libc"}},
	{"copy", {"libc"}, {"", "memcpy", "libc,libc"}},
	{"lz4", {"portable"}, {"", "LZ4", "liblz4", "portable<=,portable"}},
	{"fletcher", {"scalar"}, {"", "sse", "scalar "}},
	{"crc32c", {"portable"}, {"", "crc"}},
	{"xxh3", {"portable"}, {"", "xxh"}},
	{"flush", {"portable"}, {"", "auto ", "portable<=1"}},
	{"flush_auto", {"portable"}, {"", "none"}},
	{"flush_shared", {"portable"}, {"", "none"}},
	{"flush_exclusive", {"portable"}, {"", "none"}},
	{"flush_line", {"portable"}, {"", "none"}},
};

static void end(void)
{
	abd_test_tunables_restore();
}

Test(abd_tuning, every_tunable_shows_what_it_was_set_to, .fini = end)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cr_assert_not_null(abd_tuning_get(all[i].name), "%s", all[i].name);
		for (size_t k = 0; k < 5 && all[i].good[k] != NULL; k++) {
			cr_assert_eq(abd_tuning_set(all[i].name, all[i].good[k]), 0, "%s=%s",
				all[i].name, all[i].good[k]);
			cr_assert_str_eq(abd_test_tunable(all[i].name), all[i].good[k]);
		}
	}
}

Test(abd_tuning, a_bad_value_changes_nothing, .fini = end)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t k = 0; k < 6 && all[i].bad[k] != NULL; k++) {
			char was[256];

			snprintf(was, sizeof(was), "%s", abd_tuning_get(all[i].name));
			cr_assert_eq(abd_tuning_set(all[i].name, all[i].bad[k]), -EINVAL, "%s=%s",
				all[i].name, all[i].bad[k]);
			cr_assert_str_eq(abd_tuning_get(all[i].name), was);
		}
}

Test(abd_tuning, an_unknown_name_is_told)
{
	static const char *const names[] = {
		"", "max_orders", "MAX_ORDER", "max_order ", "zfs_abd_scatter_enabled"};

	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(abd_tuning_set(names[i], "1"), -ENOENT, "%s", names[i]);
		cr_assert_null(abd_tuning_get(names[i]));
	}
}

Test(abd_tuning, the_processor_and_what_is_ignored_are_shown_and_can_not_be_set)
{
	cr_assert_str_eq(abd_tuning_get("ignored"), "");
	cr_assert_eq(abd_tuning_set("ignored", ""), -ENOENT);
	cr_assert_str_eq(abd_tuning_get("cpu"), abd_machine()->cpu);
	cr_assert_eq(abd_tuning_set("cpu", "AuthenticAMD-25-17"), -ENOENT);
}

Test(abd_tuning, a_tunable_governs_what_comes_after_it, .fini = end)
{
	abd_t *one = abd_alloc(8192, false), *many;

	abd_tuning_set("max_order", "0");
	many = abd_alloc(8192, false);
	cr_assert(abd_is_linear(one) && !abd_is_linear(many));
	abd_free(one);
	abd_free(many);
}

Test(abd_tuning, the_version_is_the_projects)
{
	cr_assert_str_eq(abd_version(), ABD_VERSION_STRING);
}

/* ---- the environment ---- */

#define expect_value(name, value)                                                  \
	do {                                                                       \
		if (strcmp(abd_test_tunable(name), value) != 0) {                  \
			fprintf(stderr, "%s is %s\n", name, abd_tuning_get(name)); \
			return 1;                                                  \
		}                                                                  \
	} while (0)

ABD_TEST_CHILD(environment_is_read)
{
	expect_value("max_order", "0");
	expect_value("scatter_enabled", "1");
	expect_value("scatter_min_size", "5000");
	expect_value("linear_page", "0");
	expect_value("thread_cache_bytes", "0");
	expect_value("chunk_provider", "malloc");
	expect_value("compare", "scalar");
	if (strcmp(abd_tuning_get("compare"), "scalar (environment)") != 0)
		return 2;
	expect_value("pool_size", "4194304");
	return 0;
}

/* Without any call of the tuning header: the first allocation reads it. */
ABD_TEST_CHILD(environment_governs_the_first_allocation)
{
	abd_t *abd = abd_alloc(8192, false), *small = abd_alloc(4999, false);
	bool right = !abd_is_linear(abd) && abd_is_linear(small) && !abd_is_linear_page(small);

	abd_free(abd);
	abd_free(small);
	return right ? 0 : 1;
}

ABD_TEST_CHILD(environment_yields_to_calls)
{
	if (abd_tuning_set("max_order", "7") != 0 || abd_tuning_set("thread_cache_bytes", "1") != 0)
		return 2;
	abd_free(abd_alloc(8192, false));
	expect_value("max_order", "7");
	expect_value("thread_cache_bytes", "1");
	expect_value("linear_page", "0");
	return 0;
}

static const char *const environment[] = {"ABD_MAX_ORDER=0", "ABD_SCATTER_MIN_SIZE=5000",
	"ABD_LINEAR_PAGE=0", "ABD_THREAD_CACHE_BYTES=0", "ABD_CHUNK_PROVIDER=malloc",
	"ABD_COMPARE=scalar", "ABD_POOL_SIZE=4194304", NULL};

static void child(const char *name, const char *const *variables, char *text, size_t size)
{
	int status = abd_test_child_run(name, variables, text, size);

	cr_assert_eq(
		abd_test_child_exit(status), 0, "%s: status %x: %s", name, (unsigned)status, text);
}

Test(abd_tuning, the_environment_is_read_when_it_is_first_needed)
{
	char text[512];

	child("environment_is_read", environment, text, sizeof(text));
	child("environment_governs_the_first_allocation", environment, text, sizeof(text));
	child("environment_yields_to_calls", environment, text, sizeof(text));
	cr_assert_str_eq(text, "");
}

ABD_TEST_CHILD(environment_is_bad)
{
	expect_value("max_order", "10");
	abd_tuning_get("flush"); /* three choices read the variable */
	expect_value("ignored", "ABD_MAX_ORDER=11 ABD_FLUSH=none");
	return 0;
}

/* Descriptor 2 may be the program's data file by now. */
Test(abd_tuning, a_bad_value_in_the_environment_is_ignored_and_shown_but_not_printed)
{
	static const char *const bad[] = {
		"ABD_MAX_ORDER=11", "ABD_NO_SUCH_THING=1", "ABD_FLUSH=none", NULL};
	char text[512];

	child("environment_is_bad", bad, text, sizeof(text));
	cr_assert_str_eq(text, "");
}
