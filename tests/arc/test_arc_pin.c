/* SPDX-License-Identifier: BSD-2-Clause */
/* What is held stays, and what slots hold is counted: what a look at them finds, and what it costs.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

#include <sched.h>
#include <unistd.h>

enum { CAPACITY = 1 << 20, SIZE = 64, BLOCK = ABD_ARC_HOLDS };

static char data[SIZE];

static void put(abd_arc_t *arc, uint64_t n)
{
	arc_fill(data, SIZE, n, 0, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
}

static void hold(abd_arc_t *arc, uint64_t n, abd_arc_hold_t *held)
{
	cr_assert_eq(abd_arc_hold(arc, arc_at(n), held), 0);
}

/* Hold many records, which are not put again. */
static abd_arc_hold_t *hold_many(abd_arc_t *arc, uint64_t first, size_t count)
{
	abd_arc_hold_t *held = calloc(count, sizeof(*held));

	cr_assert(held != NULL);
	for (size_t i = 0; i < count; i++) {
		put(arc, first + i);
		hold(arc, first + i, &held[i]);
	}
	return held;
}

static void release_rest(abd_arc_hold_t *held, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (held[i].abd != NULL)
			abd_arc_release(&held[i]);
}

/* Release the rest, and end the cache. */
static void end(abd_arc_t *arc, abd_arc_hold_t *held, size_t count)
{
	release_rest(held, count);
	abd_arc_destroy(arc);
	free(held);
}

static void expect_content(const abd_arc_hold_t *held, uint64_t n)
{
	char got[SIZE];

	arc_fill(data, SIZE, n, 0, 64);
	cr_assert_eq(abd_arc_hold_read(held, got, 0, SIZE), SIZE);
	cr_assert_arr_eq(got, data, SIZE);
}

static struct abd_arc_entry *entry_of(const abd_arc_hold_t *held)
{
	struct abd_arc_hold_slot *slot = held->entry;

	return atomic_load(&slot->entry);
}

/* Retire something and free it: a grace period passes, and slots are looked at. */
static void look(abd_arc_t *arc)
{
	put(arc, 1u << 30);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1u << 30)), 0);
	abd_arc_reclaim(arc);
}

static size_t slots_looked_at(abd_arc_t *arc)
{
	look(arc);
	return arc->slots_looked;
}

static void evict(abd_arc_t *arc, uint64_t n)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, abd_arc_hash(arc, arc_at(n)), arc_at(n));

	cr_assert(entry != NULL);
	abd_arc_evict(arc, entry);
	pthread_mutex_unlock(&arc->lock);
}

/* Every count is the number of slots that it counts. */
static void expect_counts(abd_arc_t *arc, const abd_arc_hold_t *held, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct abd_arc_entry *entry = held[i].abd != NULL ? entry_of(&held[i]) : NULL;
		struct abd_arc_hold_block *block = &arc->readers->holds;
		uint32_t slots = 0;

		for (; entry != NULL && block != NULL; block = atomic_load(&block->next))
			for (unsigned j = 0; j < BLOCK; j++)
				slots += atomic_load(&block->slot[j].counted) == entry;
		if (entry != NULL)
			cr_assert_eq(entry->own.abd_u.abd_linear.abd_holds, slots);
	}
}

/* ---- what a look costs ----------------------------------------------------------------------- */

Test(arc_pin, holds_that_stay_are_not_looked_at_again)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 10 * BLOCK);

	cr_assert_eq(slots_looked_at(arc), 10 * BLOCK);
	look(arc);
	look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK, "the block that is being filled");
	cr_assert_eq(arc->counted, 9 * BLOCK);
	expect_counts(arc, held, 10 * BLOCK);

	/* One of them is released: its block is looked at until that is so for a while. */
	abd_arc_release(&held[3 * BLOCK]);
	cr_assert_eq(slots_looked_at(arc), 2 * BLOCK);
	cr_assert_eq(arc->counted, 9 * BLOCK - 1);
	cr_assert_eq(slots_looked_at(arc), 2 * BLOCK);
	cr_assert_eq(slots_looked_at(arc), BLOCK);

	release_rest(held, 10 * BLOCK);
	look(arc);
	cr_assert_eq(arc->counted, 0);
	look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK, "nor are blocks that nobody uses any more");
	abd_arc_destroy(arc);
	free(held);
}

Test(arc_pin, holds_that_change_are_not_counted)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 2 * BLOCK);

	for (unsigned i = 0; i < BLOCK; i++) {
		look(arc);
		cr_assert_eq(arc->counted, 0);
		abd_arc_release(&held[i]);
	}
	for (unsigned i = BLOCK; i < 2 * BLOCK; i++)
		abd_arc_release(&held[i]);
	abd_arc_destroy(arc);
	free(held);
}

/* The lock is not held while the entries of 1e5 holds are fetched from memory. */
Test(arc_pin, a_look_counts_a_thousand_holds_at_most)
{
	enum { MANY = 5000 };
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 4 * CAPACITY, .shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_hold_t *held = hold_many(arc, 0, MANY);
	size_t most = 0, before = arc->counted;

	for (unsigned i = 0; i < 10; i++) {
		look(arc);
		most = arc->counted - before > most ? arc->counted - before : most;
		before = arc->counted;
	}
	cr_assert_gt(before, MANY - 2 * BLOCK);
	cr_assert_leq(most, 1024);
	for (unsigned i = 0; i < MANY; i++)
		abd_arc_release(&held[i]);
	abd_arc_destroy(arc);
	free(held);
}

/* Nor while 1e5 releases are noted: a look notes some of them, and the next ones the others. */
Test(arc_pin, a_look_notes_a_few_thousand_releases_at_most)
{
	enum { MANY = 6000, MOST = 256 * BLOCK };
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 4 * CAPACITY, .shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_hold_t *held = hold_many(arc, 0, MANY);

	for (unsigned i = 0; i < 12; i++)
		look(arc);
	cr_assert_gt(arc->counted, MANY - 2 * BLOCK);
	for (unsigned i = 0; i < MANY; i++)
		abd_arc_release(&held[i]);
	cr_assert_leq(slots_looked_at(arc), MOST + BLOCK);
	cr_assert_geq(arc->counted, MANY - MOST - 2 * BLOCK);
	look(arc);
	cr_assert_eq(arc->counted, 0);
	abd_arc_destroy(arc);
	free(held);
}

/* A slot whose record is found leaving is free again at once, though nobody puts and looks. */
Test(arc_pin, reads_of_what_is_leaving_use_up_no_slots)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	char byte;

	put(arc, 1);
	evict(arc, 1);
	for (unsigned i = 0; i < 10 * BLOCK; i++)
		cr_assert_eq(abd_arc_read(arc, arc_at(1), &byte, 0, 1), 1);
	cr_assert_null(atomic_load(&arc->readers->holds.next));
	abd_arc_destroy(arc);
}

/* A release that cleared a slot may not be visible yet, unless a grace period has passed. */
Test(arc_pin, nothing_is_settled_without_a_grace_period)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK);

	look(arc);
	look(arc);
	cr_assert_eq(arc->counted, 2 * BLOCK);
	for (unsigned i = 0; i < 3; i++) {
		abd_arc_reclaim(arc); /* nothing was retired */
		cr_assert_eq(arc->slots_looked, 3 * BLOCK);
	}
	look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK);
	for (unsigned i = 0; i < 3 * BLOCK; i++)
		abd_arc_release(&held[i]);
	abd_arc_destroy(arc);
	free(held);
}

static int membarrier_missing(int command)
{
	(void)command;
	return -1;
}

ABD_TEST_CHILD(arc_pin_no_membarrier)
{
	abd_rcu_membarrier = membarrier_missing;
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK);

	for (unsigned i = 0; i < 5; i++)
		if (slots_looked_at(arc) != 3 * BLOCK)
			exit(1);
	free(held);
	exit(0);
}

Test(arc_pin, nor_without_membarrier)
{
	abd_test_child_passes("arc_pin_no_membarrier", NULL);
}

/* ---- settled holds --------------------------------------------------------------------------- */

Test(arc_pin, what_a_settled_slot_holds_is_pinned_when_it_is_evicted)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK), again;

	for (unsigned i = 0; i < 4; i++)
		look(arc);
	evict(arc, 1);
	evict(arc, 2);
	abd_arc_release(&held[2]);
	look(arc);
	cr_assert_eq(arc->pinned_count, 1, "and 2, which nobody holds, is freed");
	cr_assert_not(arc_contains(arc, 2));
	expect_content(&held[1], 1);
	hold(arc, 1, &again);
	cr_assert_eq(again.abd, held[1].abd);
	expect_counts(arc, held, 3 * BLOCK);

	abd_arc_release(&held[1]);
	cr_assert_eq(arc->pinned_count, 1);
	abd_arc_release(&again);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	end(arc, held, 3 * BLOCK);
}

/* The cursor comes back to a block that was settled: what is held there then is seen. */
Test(arc_pin, a_settled_block_is_filled_again)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK), more[2];

	for (unsigned i = 0; i < 4; i++)
		look(arc);
	/* The next that has room. */
	const struct abd_arc_hold_slot *slot = held[BLOCK].entry;

	for (unsigned i = BLOCK; i < BLOCK + 2; i++)
		abd_arc_release(&held[i]);
	look(arc);
	look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK);
	for (unsigned i = 0; i < 2; i++) {
		put(arc, 1000 + i);
		hold(arc, 1000 + i, &more[i]);
	}
	cr_assert_eq(atomic_load(&arc->readers->cursor), slot->block);
	evict(arc, 1000);
	evict(arc, 1001);
	look(arc);
	cr_assert_eq(arc->pinned_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		expect_content(&more[i], 1000 + i);
		abd_arc_release(&more[i]);
	}
	cr_assert_eq(arc->pinned_count, 0);
	end(arc, held, 3 * BLOCK);
}

/* The cursor has gone on, and there was no memory for a block behind it. */
Test(arc_pin, a_slot_that_was_found_last_is_not_filled_behind_the_cursor)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 2 * BLOCK), more;

	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(0), &more), -ENOMEM);
	cr_assert_gt(abd_test_fault_end(), 0);
	abd_arc_release(&held[2 * BLOCK - 1]);
	for (unsigned i = 0; i < 4; i++)
		look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK);
	put(arc, 1000);
	hold(arc, 1000, &more);
	evict(arc, 1000);
	look(arc);
	cr_assert_eq(arc->pinned_count, 1);
	expect_content(&more, 1000);
	abd_arc_release(&more);
	end(arc, held, 2 * BLOCK);
}

/* A release has seen that its slot is not counted, and is interrupted by a look that counts it. */
Test(arc_pin, a_look_between_a_releases_two_looks_at_its_slot_pins_nothing_for_ever)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK);
	struct abd_arc_hold_slot *slot = held[BLOCK].entry;

	for (unsigned i = 0; i < 4; i++)
		look(arc);
	cr_assert_not_null(atomic_load(&slot->counted));
	held[BLOCK].abd = NULL;
	atomic_store(&slot->entry, NULL);
	abd_arc_slot_released(slot);
	evict(arc, BLOCK);
	for (unsigned i = 0; i < 2; i++)
		look(arc);
	cr_assert_null(atomic_load(&slot->counted));
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	end(arc, held, 3 * BLOCK);
}

/* A release is interrupted before it has woken the block: its thread does not rely on that. */
Test(arc_pin, a_release_that_stands_still_holds_up_nobody)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * BLOCK), more;
	struct abd_arc_hold_slot *slot = held[BLOCK].entry;

	for (unsigned i = 0; i < 4; i++)
		look(arc);
	abd_arc_release(&held[BLOCK]);
	look(arc);
	look(arc);
	cr_assert_eq(slots_looked_at(arc), BLOCK);
	atomic_store(&slot->block->wake[ABD_ARC_WAKER_RELEASES].is_woken, true);
	put(arc, 1000);
	hold(arc, 1000, &more);
	cr_assert_eq(more.entry, slot);
	evict(arc, 1000);
	look(arc);
	cr_assert_eq(arc->pinned_count, 1);
	expect_content(&more, 1000);
	abd_arc_release(&more);
	end(arc, held, 3 * BLOCK);
}

/* ---- releases that a look overtakes ---------------------------------------------------------- */

/*
 * A release that does not see that its slot is being counted only clears it. The next look at the
 * slots finds that, also if the slot holds another record by then.
 */
static void release_unseen(uint64_t next)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t first, second;

	put(arc, 1);
	put(arc, 2);
	hold(arc, 1, &first);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	abd_arc_reclaim(arc);
	cr_assert_eq(arc->pinned_count, 1);

	struct abd_arc_hold_slot *slot = first.entry;
	struct abd_arc_entry *counted = atomic_exchange(&slot->counted, NULL);

	atomic_store(&slot->entry, NULL);
	if (next != 0) {
		hold(arc, next, &second);
		cr_assert_eq(second.entry, slot);
	}
	atomic_store(&slot->counted, counted);
	abd_arc_reclaim(arc);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	if (next != 0)
		abd_arc_release(&second);
	abd_arc_destroy(arc);
}

Test(arc_pin, a_release_that_saw_no_count_is_found_later)
{
	release_unseen(0);
	release_unseen(2);
}

/* Nor if the next hold in this slot is released too, and sees the count of the one before. */
Test(arc_pin, nor_need_the_slot_hold_anything_then)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t first, second;

	put(arc, 1);
	put(arc, 2);
	hold(arc, 1, &first);
	evict(arc, 1);
	abd_arc_reclaim(arc);

	struct abd_arc_hold_slot *slot = first.entry;
	struct abd_arc_entry *counted = atomic_exchange(&slot->counted, NULL);

	atomic_store(&slot->entry, NULL);
	hold(arc, 2, &second);
	cr_assert_eq(second.entry, slot);
	atomic_store(&slot->counted, counted);
	abd_arc_release(&second);
	abd_arc_reclaim(arc);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

/* A record that is found under the lock goes into a slot that was counted meanwhile. */
static void take_counted(uint64_t n)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t first, second;

	put(arc, 1);
	put(arc, 2);
	hold(arc, 1, &first);
	hold(arc, 2, &second);
	evict(arc, 1);
	evict(arc, 2);
	abd_arc_reclaim(arc);
	cr_assert_eq(arc->pinned_count, 2);

	struct abd_arc_hold_slot *slot = first.entry;

	atomic_store(&slot->entry, NULL);
	cr_assert(abd_arc_hold_any(arc, slot, abd_arc_hash(arc, arc_at(n)), arc_at(n)) != NULL);
	cr_assert_eq(arc->pinned_count, n == 1 ? 2 : 1);
	abd_arc_slot_uncount(slot); /* by the release, which comes late */
	abd_arc_reclaim(arc);
	cr_assert_eq(arc->pinned_count, n == 1 ? 2 : 1);
	abd_arc_release(&second);
	cr_assert_eq(arc->pinned_count, 1, "the slot holds it, and is counted");
	abd_arc_slot_release(slot);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc_pin, a_slot_that_counts_another_record_lets_go_of_it)
{
	take_counted(2);
}

Test(arc_pin, a_slot_that_was_only_cleared_may_hold_the_same_record_again)
{
	take_counted(1);
}

/* A look comes between what a release does: clear the slot, and uncount it. */
Test(arc_pin, a_look_may_uncount_first)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held;

	put(arc, 1);
	hold(arc, 1, &held);
	evict(arc, 1);
	abd_arc_reclaim(arc);

	struct abd_arc_hold_slot *slot = held.entry;

	atomic_store(&slot->entry, NULL);
	look(arc);
	cr_assert_eq(arc->pinned_count, 0);
	abd_arc_slot_uncount(slot);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

/* ---- second holds --------------------------------------------------------------------------- */

Test(abd_arc_hold_dup, each_of_two_holds_is_released_alone)
{
	for (unsigned first = 0; first < 2; first++) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
		abd_arc_hold_t held[2];

		put(arc, 1);
		hold(arc, 1, &held[0]);
		cr_assert_eq(abd_arc_hold_dup(&held[0], &held[1]), 0);
		cr_assert(held[1].entry != held[0].entry && held[1].abd == held[0].abd);
		cr_assert_eq(arc_stats(arc).hits, 1, "it is no look-up");
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
		look(arc);
		cr_assert_eq(arc->pinned_count, 1);
		abd_arc_release(&held[first]);
		look(arc);
		expect_content(&held[1 - first], 1);
		abd_arc_release(&held[1 - first]);
		look(arc);
		cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
		abd_arc_destroy(arc);
	}
}

/* Its count was the number of its holds: the second one has to count too. */
Test(abd_arc_hold_dup, of_what_was_evicted_before_keeps_it)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held[3];

	put(arc, 1);
	hold(arc, 1, &held[0]);
	evict(arc, 1);
	look(arc);
	cr_assert_eq(arc->pinned_count, 1);
	cr_assert_eq(abd_arc_hold_dup(&held[0], &held[1]), 0);
	cr_assert_eq(abd_arc_hold_dup(&held[1], &held[2]), 0);
	expect_counts(arc, held, 3);
	cr_assert_gt(arc_stats(arc).held_bytes, 0);
	for (unsigned i = 0; i < 2; i++) {
		abd_arc_release(&held[i]);
		look(arc);
		expect_content(&held[2], 1);
	}
	abd_arc_release(&held[2]);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

Test(abd_arc_hold_dup, of_nothing_breaks_the_contract)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held = {.entry = NULL}, copy, released;

	abd_test_expect_contract((void)abd_arc_hold_dup(NULL, &copy), "hold is NULL");
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, &copy), "nothing is held");
	put(arc, 1);
	hold(arc, 1, &held);
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, NULL), "copy is NULL");
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, &held), "copy is the hold itself");
	released = held;
	abd_arc_release(&held);
	abd_test_expect_contract((void)abd_arc_hold_dup(&released, &copy), "released before");
	abd_arc_destroy(arc);
}

static _Atomic bool has_begun, may_go, is_over;

static void *hold_it_again(void *held)
{
	abd_arc_hold_t copy;

	/* Its block for this cache is made under lock, and is there then. */
	abd_test_check(abd_arc_hold_dup(held, &copy) == 0, "the first one");
	abd_arc_release(&copy);
	atomic_store(&has_begun, true);
	while (!atomic_load(&may_go))
		sched_yield();
	abd_test_check(abd_arc_hold_dup(held, &copy) == 0, "the second one");
	atomic_store(&is_over, true);
	abd_arc_release(&copy);
	return NULL;
}

/* A look that had seen the second slot empty, and then the first one released, would free it. */
Test(abd_arc_hold_dup, waits_for_a_look_at_the_slots)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held;
	pthread_t thread;

	put(arc, 1);
	hold(arc, 1, &held);
	struct abd_arc *shard = abd_arc_shard(arc, abd_arc_hash(arc, arc_at(1)));

	cr_assert_eq(pthread_create(&thread, NULL, hold_it_again, &held), 0);
	while (!atomic_load(&has_begun))
		sched_yield();
	pthread_mutex_lock(&shard->lock);
	atomic_store(&may_go, true);
	usleep(20000);
	cr_assert_not(atomic_load(&is_over));
	pthread_mutex_unlock(&shard->lock);
	pthread_join(thread, NULL);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

/* A hold passes from slot to slot, while looks go over the slots. */
static void *pass_on(void *arc)
{
	while (!atomic_load(&is_over)) {
		abd_arc_hold_t held, copy;
		char got[SIZE], expected[SIZE];

		if (abd_arc_hold(arc, arc_at(1), &held) != 0)
			continue;
		arc_fill(expected, SIZE, 1, 0, 64);
		for (unsigned i = 0; i < 50; i++) {
			abd_test_check(abd_arc_hold_dup(&held, &copy) == 0, "dup");
			abd_arc_release(&held);
			abd_test_check(abd_arc_hold_read(&copy, got, 0, SIZE) == SIZE &&
					       memcmp(got, expected, SIZE) == 0,
				"its content");
			held = copy;
		}
		abd_arc_release(&held);
	}
	return NULL;
}

Test(abd_arc_hold_dup, what_is_passed_on_is_never_freed)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	pthread_t thread[2];

	atomic_store(&is_over, false);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, pass_on, arc), 0);
	for (unsigned i = 0; i < 3000; i++) {
		put(arc, 1);
		(void)abd_arc_remove(arc, arc_at(1));
		put(arc, 2); /* into the slot of 1, if that is free */
		look(arc);
		(void)abd_arc_remove(arc, arc_at(2));
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	look(arc);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

/* ---- any order ------------------------------------------------------------------------------- */

static void hold_again(
	const abd_arc_hold_t *held, abd_arc_hold_t *copy, const uint64_t *of, uint64_t *to)
{
	cr_assert_eq(abd_arc_hold_dup(held, copy), 0);
	*to = *of;
}

/* Puts, holds, second holds, releases, evictions and looks: what is held keeps its content, and its
 * count. */
Test(arc_pin, in_any_order)
{
	enum { HELD = 200, KEYS = 300, STEPS = 60000 };
	static abd_arc_hold_t held[HELD];
	static uint64_t key[HELD];
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	uint64_t seed = 6;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t n = abd_test_random(&seed) % KEYS, i = abd_test_random(&seed) % HELD;
		uint64_t what = abd_test_random(&seed) % 100;

		if (what < 30)
			put(arc, n);
		else if (what < 60 && held[i].abd == NULL && arc_contains(arc, n))
			hold(arc, key[i] = n, &held[i]);
		else if (what < 70 && held[i].abd == NULL && held[n % HELD].abd != NULL)
			hold_again(&held[n % HELD], &held[i], &key[n % HELD], &key[i]);
		else if (what < 80 && held[i].abd != NULL && i % 4 == 0)
			abd_arc_release(&held[i]);
		else if (what < 90 && arc_contains(arc, n))
			(void)abd_arc_remove(arc, arc_at(n));
		else if (what < 95)
			look(arc);
		if (held[i].abd != NULL)
			expect_content(&held[i], key[i]);
		if (step % 100 == 0)
			expect_counts(arc, held, HELD);
		/* Now and then, those that stay change too. */
		if (step % 5000 == 0)
			for (i = 0; i < HELD; i++)
				if (held[i].abd != NULL && abd_test_random(&seed) % 2 == 0)
					abd_arc_release(&held[i]);
	}
	release_rest(held, HELD);
	look(arc);
	cr_assert_eq(arc->pinned_count, 0);
	cr_assert_eq(arc->counted, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}
