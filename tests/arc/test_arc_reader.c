/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread keeps for each cache: one block, made once and found again, for any number of
 * caches.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

enum { RECORD = 4096 };

/* Record 1, which compresses to a few bytes. */
static int put_record(abd_arc_t *arc)
{
	char record[RECORD];

	arc_fill(record, sizeof(record), 1, 0, 2);
	return abd_arc_put(arc, arc_at(1), record, sizeof(record));
}

static abd_arc_t *make_with_record(void)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);

	cr_assert_not_null(arc);
	cr_assert_eq(put_record(arc), 0);
	return arc;
}

static ssize_t read_record(abd_arc_t *arc, size_t size)
{
	char read[RECORD];

	return abd_arc_read(arc, arc_at(1), read, 0, size);
}

Test(arc_reader, a_thread_has_one_block_of_each_of_many_caches)
{
	enum { CACHES = 20 };
	abd_arc_t *arc[CACHES];

	for (unsigned i = 0; i < CACHES; i++) {
		arc[i] = make_with_record();
		cr_assert_eq((uintptr_t)arc[i] % 64, 0, "its lines are shared with others");
	}
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < CACHES; i++) {
			cr_assert_eq(read_record(arc[i], RECORD), RECORD);
			cr_assert_not_null(arc[i]->readers);
			cr_assert_null(arc[i]->readers->next, "round %u: another one", round);
		}
	}
	for (unsigned i = 0; i < CACHES; i++)
		abd_arc_destroy(arc[i]);
}

/*
 * The first call of a thread, which does without a block if it must, leaves nothing that keeps the
 * next one from having one.
 */
Test(arc_reader, a_thread_that_was_refused_a_block_gets_one_later)
{
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t n = 0, met = 1; met > n; n++) {
		abd_arc_t *arc = arc_make(1 << 20, 0, 0);

		cr_assert_not_null(arc);
		abd_test_fault_at(n);
		int error = put_record(arc);

		met = abd_test_fault_end();
		/* There is nothing in the cache that could have been given up for it. */
		if (error == -ENOMEM)
			error = put_record(arc);
		cr_assert_eq(error, 0, "refusal %zu", n);
		cr_assert_eq(read_record(arc, 100), 100);
		cr_assert_not_null(arc->readers, "refusal %zu: none yet", n);
		cr_assert_eq(arc_stats(arc).hits, 1);
		abd_arc_destroy(arc);
	}
	abd_tuning_set("thread_cache_bytes", "8388608");
}

Test(arc_reader, a_hit_of_no_bytes_decodes_nothing)
{
	abd_arc_t *arc = make_with_record();

	cr_assert_eq(read_record(arc, 0), 0);
	cr_assert_eq(arc_stats(arc).hits, 1);
	cr_assert_eq(arc_stats(arc).decodes, 0);
	cr_assert_eq(read_record(arc, 1), 1);
	cr_assert_eq(arc_stats(arc).decodes, 1);
	abd_arc_destroy(arc);
}

/*
 * One grace period serves many evictions. One used record in each page of entries keeps the page
 * when the others go, so that a smaller cache has to give up many of those too, but by no means
 * all: there is room for 97 pages.
 */
Test(arc_reader, resizing_waits_for_readers_a_few_times_and_keeps_what_fits)
{
	enum { RECORDS = 6000, SIZE = 64 };
	abd_arc_t *arc = arc_make(4 << 20, 1, 0);
	char record[SIZE];

	for (uint64_t n = 0; n < RECORDS; n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n % 31 == 0)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, SIZE), SIZE);
	}

	struct abd_arc_stats before = arc_stats(arc);

	cr_assert_eq(abd_arc_resize(arc, 400000), 0);

	struct abd_arc_stats after = arc_stats(arc);

	cr_log_info("%zu entries to %zu, %zu grace periods", (size_t)before.entries,
		(size_t)after.entries, (size_t)(after.grace_periods - before.grace_periods));
	cr_assert_leq(after.used_bytes, 400000);
	cr_assert_geq(after.entries, 30);
	cr_assert_leq(after.grace_periods - before.grace_periods, 20);
	abd_arc_destroy(arc);
}
