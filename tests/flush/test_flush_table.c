/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of policies as text: what is too long to be read back is refused, what does not fit the
 * reader is cut.
 */
#include "abd_flush_portable.h"
#include "abd_flush_table.h"
#include "abd_test.h"
#include "abd_tunable.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct abd_tunable *row(const char *name)
{
	for (size_t i = 0; i < abd_flush_tunables.count; i++)
		if (strcmp(abd_flush_tunables.table[i].name, name) == 0)
			return &abd_flush_tunables.table[i];
	cr_assert_fail("there is no tunable %s", name);
	return NULL;
}

Test(abd_flush_table, a_row_that_could_not_be_read_back_is_refused)
{
	static const char *const names[] = {"flush_auto", "flush_shared", "flush_exclusive"};
	char text[4096], was[512], now[512];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < 3; i++) {
		const struct abd_tunable *tunable = row(names[i]);

		tunable->get(was, sizeof(was));
		cr_assert_eq(tunable->set(text), -EINVAL);
		cr_assert_eq(tunable->set("portable:100,none-such"), -EINVAL);
		cr_assert_eq(tunable->set(""), -EINVAL);
		tunable->get(now, sizeof(now));
		cr_assert_str_eq(was, now);
		cr_assert_eq(tunable->set("portable:64,portable:4096,portable"), 0);
		tunable->get(now, sizeof(now));
		cr_assert_str_eq(now, "portable");
		cr_assert_eq(tunable->set(was), 0);
	}
}

/* As long a row as this machine can have: of two policies, where it has a second one. */
static void set_long(const struct abd_tunable *tunable)
{
	static const char *const other[] = {"nt-sse2", "cvac", "portable"};
	char text[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "portable:64,%s:128,portable:4096,%s", other[i],
			other[i]);
		if (tunable->set(text) == 0)
			return;
	}
	cr_assert_fail("no row can be set");
}

Test(abd_flush_table, a_row_is_cut_to_the_readers_room)
{
	const struct abd_tunable *tunable = row("flush_auto");
	char whole[512], cut[512];

	set_long(tunable);
	tunable->get(whole, sizeof(whole));
	cr_assert_geq(strlen(whole), strlen("portable"));
	for (size_t size = 1; size < strlen(whole); size++) {
		memset(cut, 'x', sizeof(cut));
		tunable->get(cut, size);
		cr_assert_eq(strlen(cut), size - 1, "room of %zu", size);
		cr_assert_eq(memcmp(cut, whole, size - 1), 0, "room of %zu", size);
		cr_assert_eq(cut[size], 'x', "room of %zu", size);
	}
	cr_assert_eq(tunable->set("auto"), -EINVAL);
}

/* What every machine can do, where no policy of this one needs it. */
Test(abd_flush_table, the_portable_records_copy_and_fence)
{
	char from[3 * 64 + 1], to[3 * 64 + 1];

	memset(from, 7, sizeof(from));
	memset(to, 0, sizeof(to));
	abd_flush_portable_copy.lines(to, from, 3);
	abd_flush_portable_line.flush(to, 3);
	abd_flush_portable_fence.fence();
	cr_assert_eq(memcmp(to, from, 3 * 64), 0);
	cr_assert_eq(to[3 * 64], 0);
	cr_assert_eq(abd_flush_portable_line.durability, ABD_FLUSH_DURABILITY_NONE);
}
