/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records are moved while sizes change: what is read, held and counted stays right.
 */
#include "abd_arc_compact.h"
#include "abd_arc_reclaim.h"
#include "arc_data.h"

#include <abd/tuning.h>

#define CAPACITY ((size_t)16 << 20)

static char data[1 << 20], got[1 << 20];

static void put(abd_arc_t *arc, uint64_t n, size_t size)
{
	arc_fill(data, size, n, 1, 64);
	abd_test_check(abd_arc_put_flags(
			       arc, arc_at(n), data, size, n % 5 == 0 ? ABD_ARC_METADATA : 0) == 0,
		"put");
}

/* How many of records [0, count) are there; all of them are as they were put. */
static size_t find(abd_arc_t *arc, uint64_t count, size_t size)
{
	size_t found = 0;

	for (uint64_t n = 0; n < count; n++) {
		ssize_t done = abd_arc_read(arc, arc_at(n), got, 0, size);

		if (done == -ENOENT)
			continue;
		abd_test_check(done == (ssize_t)size, "read");
		arc_fill(data, size, n, 1, 64);
		abd_test_check(memcmp(data, got, size) == 0, "content");
		found++;
	}
	return found;
}

/* Fill the cache, and evict all but one record in eight: no slab is empty. */
static uint64_t thin_out(abd_arc_t *arc, size_t size)
{
	uint64_t count = 0;

	do
		put(arc, count++, size);
	while (arc_stats(arc).evictions == 0);
	for (uint64_t n = 0; n < count; n++) {
		if (n % 8 != 0)
			abd_arc_remove(arc, arc_at(n));
	}
	abd_arc_reclaim(arc);
	return count;
}

/* Put records [0, count) of this size, and leave each nth. */
static void leave_each(abd_arc_t *arc, uint64_t count, size_t size, uint64_t nth)
{
	for (uint64_t n = 0; n < count; n++)
		put(arc, n, size);
	for (uint64_t n = 0; n < count; n++) {
		if (n % nth != 0)
			cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
	}
	abd_arc_reclaim(arc);
}

static void move_all(abd_arc_t *arc)
{
	bool again;

	do {
		pthread_mutex_lock(&arc->lock);
		again = abd_arc_compact_some(arc, CAPACITY);
		pthread_mutex_unlock(&arc->lock);
		abd_arc_reclaim(arc);
	} while (again);
}

static void move_and_look(uint32_t flags)
{
	abd_arc_t *arc = arc_make(CAPACITY, 1, flags);
	uint64_t count = thin_out(arc, 1500);
	struct abd_arc_stats before = arc_stats(arc), after;
	size_t found = find(arc, count, 1500);

	cr_assert_geq(found, count / 9);
	cr_assert_geq(before.used_bytes, CAPACITY / 2, "%zu: slabs are empty already",
		(size_t)before.used_bytes);
	move_all(arc);
	after = arc_stats(arc);
	cr_assert_gt(after.moves, 0);
	cr_assert_leq(after.used_bytes, before.used_bytes / 4, "%zu bytes are left of %zu",
		(size_t)after.used_bytes, (size_t)before.used_bytes);
	cr_assert_eq(find(arc, count, 1500), found, "records were lost");
	cr_assert_eq(after.entries, before.entries);
	cr_assert_eq(after.stored_bytes, before.stored_bytes);
	cr_assert_eq(after.logical_bytes, before.logical_bytes);
	cr_assert_eq(after.metadata_entries, before.metadata_entries);
	cr_assert_eq(after.metadata_stored_bytes, before.metadata_stored_bytes);
	cr_assert_eq(after.recent_bytes + after.frequent_bytes,
		before.recent_bytes + before.frequent_bytes);
	cr_assert_eq(after.evicted_bytes, 0);
	abd_arc_destroy(arc);
}

/* And no record has more outside of its slot than it takes, though its slot may be larger. */
static size_t cost_of(const abd_arc_t *arc, const struct abd_arc_list *list)
{
	size_t bytes = 0;

	for (struct abd_arc_link *link = list->head.next; link != &list->head; link = link->next) {
		const struct abd_arc_entry *entry = abd_arc_link_entry(link);

		cr_assert_leq(abd_arc_entry_elsewhere(arc, entry), entry->item.cost);
		bytes += entry->item.cost;
	}
	return bytes;
}

static void the_costs_add_up(const abd_arc_t *arc)
{
	const struct abd_arc_policy *policy = &arc->policy;

	cr_assert_eq(cost_of(arc, &policy->recent), policy->recent.bytes);
	cr_assert_eq(cost_of(arc, &policy->frequent), policy->frequent.bytes);
	cr_assert_eq(policy->quota[0].bytes, policy->recent.bytes + policy->frequent.bytes);
}

Test(arc_compact, records_that_are_moved_are_what_they_were)
{
	move_and_look(0);
	move_and_look(ABD_ARC_CHECKSUM);
}

Test(arc_compact, a_held_record_is_moved_for_others_and_stays_for_its_holder)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	uint64_t count = thin_out(arc, 1500);
	static abd_arc_hold_t hold[100];

	for (uint64_t n = 0; n < 100; n++)
		cr_assert_eq(abd_arc_hold(arc, arc_at(8 * n + 400), &hold[n]), 0);
	size_t found = find(arc, count, 1500);

	move_all(arc);
	cr_assert_gt(arc_stats(arc).moves, 0);
	cr_assert_eq(find(arc, count, 1500), found);
	for (uint64_t n = 0; n < 100; n++) {
		arc_fill(data, 1500, 8 * n + 400, 1, 64);
		abd_copy_to_buf_off(got, hold[n].abd, 0, 1500);
		cr_assert_eq(memcmp(data, got, 1500), 0, "held record %u", (unsigned)n);
		abd_arc_release(&hold[n]);
	}
	abd_arc_reclaim(arc);
	move_all(arc);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY / 4);
	abd_arc_destroy(arc);
}

/* Their buffers are elsewhere, and stay; so do their entries. */
Test(arc_compact, large_records_stay)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	leave_each(arc, 1000, 8192, 8);
	pthread_mutex_lock(&arc->lock);
	bool any = 0 < abd_arc_compact_some(arc, CAPACITY);

	pthread_mutex_unlock(&arc->lock);
	cr_assert_not(any, "no slab becomes free");
	cr_assert_eq(arc_stats(arc).moves, 0);
	cr_assert_eq(find(arc, 1000, 8192), 125);
	move_all(arc);
	cr_assert_eq(arc_stats(arc).moves, 0);
	abd_arc_destroy(arc);
}

/* Their pages are copied with them, and the slots of their last parts become others'. */
Test(arc_compact, split_records_move_with_their_pages)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	for (uint64_t n = 0; n < 1000; n++)
		put(arc, n, 9000);

	abd_arc_hold_t hold;
	size_t runs = arc->run_bytes;

	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	cr_assert_not(abd_is_linear(hold.abd));
	cr_assert_eq(runs, 1000 * 8192, "two pages of each");
	abd_verify(hold.abd);
	for (uint64_t n = 0; n < 1000; n++) {
		if (n % 8 != 0)
			cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
	}
	move_all(arc);
	cr_assert_gt(arc_stats(arc).moves, 20, "%zu", (size_t)arc_stats(arc).moves);
	cr_assert_eq(find(arc, 1000, 9000), 125);
	arc_fill(data, 9000, 1, 1, 64);
	cr_assert(abd_equal_buf_off(hold.abd, data, 0, 9000), "what is held stays");
	abd_arc_release(&hold);
	abd_arc_reclaim(arc);
	cr_assert_leq(arc_stats(arc).used_bytes, 125 * (8192 + 1408) + (512 << 10));
	the_costs_add_up(arc);
	abd_arc_destroy(arc);
}

/* The rest of these is nearly a page, for which there are slots: with its tables it takes more. */
Test(arc_compact, a_record_that_would_take_more_is_not_split)
{
	abd_arc_t *arc = arc_make((size_t)128 << 20, 0, 0);

	put(arc, 1, 8182);
	cr_assert_eq(arc->run_bytes, 8192, "%zu bytes", arc->run_bytes);
	put(arc, 2, 8182 - 1000);
	cr_assert_eq(arc->run_bytes, 8192 + 4096, "%zu bytes", arc->run_bytes);
	abd_arc_destroy(arc);
}

/* Nothing is scattered then. */
Test(arc_compact, without_scatter_buffers_no_record_is_split)
{
	abd_arc_hold_t hold;

	abd_tuning_set("scatter_enabled", "0");

	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	put(arc, 1, 9000);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	cr_assert(abd_is_linear(hold.abd));
	abd_arc_release(&hold);
	cr_assert_eq(find(arc, 2, 9000), 1);
	abd_arc_destroy(arc);
	abd_tuning_set("scatter_enabled", "1");
}

/* Then a split record has more runs, whose table may need a larger slot than there is. */
Test(arc_compact, of_another_max_order_split_records_move_or_stay)
{
	enum { COUNT = 200, SIZE = 16932, SLOTS = 20 };
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	leave_each(arc, COUNT, SIZE, SLOTS);
	abd_tuning_set("max_order", "0");
	move_all(arc);
	cr_assert_eq(find(arc, COUNT, SIZE), COUNT / SLOTS);
	/* where a pointer has 8 bytes the table takes more than what is left of a slot */
	cr_assert(sizeof(void *) != 8 || arc_stats(arc).moves == 0);
	the_costs_add_up(arc);
	abd_tuning_set("max_order", "10");
	put(arc, COUNT, SIZE); /* of what stayed, a slab that loses a record is looked at again */
	cr_assert_eq(abd_arc_remove(arc, arc_at(0)), 0);
	abd_arc_reclaim(arc);
	move_all(arc);
	cr_assert_eq(find(arc, COUNT, SIZE), COUNT / SLOTS - 1);
	abd_arc_destroy(arc);
}

/* What takes more copying than it frees, or more than is free, is evicted instead. */
Test(arc_compact, a_slab_of_large_split_records_is_not_emptied)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	leave_each(arc, 120, 100000, 8);
	move_all(arc);
	cr_assert_eq(arc_stats(arc).moves, 0);
	cr_assert_eq(find(arc, 120, 100000), 15);
	abd_arc_destroy(arc);
}

struct beside {
	abd_arc_t *arc;
	atomic_bool stop;
};

static void *read_beside(void *arg)
{
	struct beside *beside = arg;
	char byte;

	for (uint64_t n = 0; !atomic_load(&beside->stop); n++)
		(void)abd_arc_read(beside->arc, arc_at(n % 1000), &byte, 0, 1);
	return NULL;
}

/* Copies of pages are there twice until readers have left the old ones. */
Test(arc_compact, moves_beside_a_reader_keep_within_the_capacity)
{
	struct beside beside = {.arc = arc_make(CAPACITY, 0, 0)};
	size_t worst = 0, puts = abd_test_share(3000);
	uint64_t seed = 1;
	pthread_t thread;

	arc_fill(data, sizeof(data), 1, 1, 64);
	cr_assert_eq(pthread_create(&thread, NULL, read_beside, &beside), 0);
	for (uint64_t n = 0; n < puts; n++) {
		size_t size = 16384 + (size_t)(abd_test_random(&seed) % 114688);

		abd_test_check(
			abd_arc_put(beside.arc, arc_at(n), data + n % 64 * 64, size) == 0, "put");

		struct abd_arc_stats stats = arc_stats(beside.arc);
		size_t over = (size_t)(stats.used_bytes - abd_min(stats.used_bytes, CAPACITY));

		worst = over > worst ? over : worst;
	}
	atomic_store(&beside.stop, true);
	pthread_join(thread, NULL);
	/* the record that the reader holds while it reads comes on top */
	cr_assert_leq(worst, 160 << 10, "%zu bytes too much", worst);
	abd_arc_destroy(beside.arc);
}

/* The move of a split record needs pages. */
Test(arc_compact, without_pages_a_split_record_stays)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	leave_each(arc, 1000, 9000, 8);
	abd_cache_reap_now(); /* this thread's reserve */
	abd_test_fault_from(0);
	pthread_mutex_lock(&arc->lock);
	size_t emptied = abd_arc_compact_some(arc, CAPACITY);

	pthread_mutex_unlock(&arc->lock);
	cr_assert(abd_test_fault_end());
	cr_assert_eq(emptied, 0);
	cr_assert_eq(arc_stats(arc).moves, 0);
	cr_assert_eq(find(arc, 1000, 9000), 125);
	the_costs_add_up(arc);
	abd_arc_destroy(arc);
}

/* A resize moves what is left after it has evicted the most. */
Test(arc_compact, a_small_cache_is_packed_like_a_large_one)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	uint64_t count = 0;

	for (; arc_stats(arc).evictions < 1000; count++)
		put(arc, count, 320 + (size_t)(count % 3) * 700);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 4), 0);

	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_leq(stats.used_bytes, CAPACITY / 4);
	cr_assert_geq(stats.stored_bytes, CAPACITY / 4 / 2, "%zu bytes of records are left",
		(size_t)stats.stored_bytes);
	abd_arc_destroy(arc);
}

/* What has become of 64 MiB of records of 64 bytes to 16 KiB: no size has many. */
Test(arc_compact, a_cache_that_shrinks_has_its_records_in_few_slabs)
{
	abd_arc_t *arc = arc_make(4 * CAPACITY, 0, 0);
	uint64_t seed = 1;

	arc_fill(data, sizeof(data), 1, 1, 64);
	for (uint64_t n = 0; arc_stats(arc).evictions < 2000; n++) {
		size_t size = (size_t)64 << abd_test_random(&seed) % 8;

		size += (size_t)(abd_test_random(&seed) % size);
		abd_test_check(abd_arc_put(arc, arc_at(n), data, size) == 0, "put");
	}
	cr_assert_eq(abd_arc_resize(arc, CAPACITY), 0);
	the_costs_add_up(arc);

	struct abd_arc_stats stats = arc_stats(arc);
	size_t known = (size_t)(stats.stored_bytes + 160 * stats.entries);

	cr_assert_gt(stats.moves, 0);
	cr_assert_leq(stats.used_bytes, CAPACITY);
	cr_assert_geq(known, CAPACITY / 5 * 4, "%zu of %zu bytes are records", known, CAPACITY);
	abd_arc_destroy(arc);
}
