/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ghosts' hash table grows and shrinks with their number, and loses none of them.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

enum { GHOSTS = 4000, LEFT = 10, COST = 4096 };

/* Many to a bucket, whatever their number is. */
static uint64_t hash_of(uint64_t n)
{
	return n * 32;
}

static void evict(struct abd_arc_policy *policy, uint64_t n)
{
	struct abd_arc_item item = {.cost = COST};

	abd_arc_policy_insert(policy, &item, ABD_ARC_RECENT, 0, hash_of(n));
	abd_arc_policy_evict(policy, &item, hash_of(n));
}

/* The last ones: the oldest are given up first. */
static void the_newest_are_known(struct abd_arc_policy *policy, size_t count)
{
	bool from_frequent;

	for (uint64_t n = GHOSTS; n > GHOSTS - count; n--)
		cr_assert_eq(abd_arc_policy_ask(policy, hash_of(n), COST, &from_frequent),
			ABD_ARC_FREQUENT, "ghost %u", (unsigned)n);
	cr_assert_eq(abd_arc_policy_ask(policy, hash_of(GHOSTS - count), COST, &from_frequent),
		ABD_ARC_RECENT, "one that was given up");
}

/* Others wait for the lock meanwhile: with a table of any size, a call does a few steps. */
static void expect_few(size_t now, size_t before)
{
	cr_assert_leq(now, before + 2);
	cr_assert_geq(now + 2, before);
}

Test(arc_ghosts, buckets_grow_with_the_ghosts_and_shrink_with_them_a_few_at_a_time)
{
	struct abd_arc_policy policy;
	size_t before = 64;

	abd_init();
	abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, abd_arc_policy_ghost_cost());
	for (uint64_t n = 1; n <= GHOSTS; n++) {
		evict(&policy, n);
		expect_few(policy.bucket_count, before);
		before = policy.bucket_count;
	}
	cr_assert_geq(before, GHOSTS - 1);
	cr_assert_leq(before, GHOSTS + 1);
	for (size_t i = LEFT; i < GHOSTS; i++)
		cr_assert(abd_arc_policy_drop_ghost(&policy));
	for (size_t i = 0; i < GHOSTS / 4; i++) {
		abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0, SIZE_MAX);
		expect_few(policy.bucket_count, before);
		before = policy.bucket_count;
	}
	cr_assert(abd_arc_policy_tidy(&policy));
	cr_assert(policy.bucket_count > 64 && policy.bucket_count < before, "a piece at a time");
	cr_assert(abd_arc_policy_tidy(&policy));
	cr_assert_eq(policy.bucket_count, 64, "enough is enough");
	cr_assert_not(abd_arc_policy_tidy(&policy));
	the_newest_are_known(&policy, LEFT);
	abd_arc_policy_fini(&policy);
	cr_assert_eq(abd_arc_policy_ghost_bytes(&policy), 0);
}

/* Its memory is refused at each step in turn: chains become longer, and no ghost is lost. */
Test(arc_ghosts, without_memory_for_more_buckets_all_are_found)
{
	enum { BEFORE = 64 };

	for (unsigned fault = 0; fault < 3; fault++) {
		struct abd_arc_policy policy;

		abd_init();
		abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, abd_arc_policy_ghost_cost());
		for (uint64_t n = 1; n <= BEFORE; n++)
			evict(&policy, n);
		cr_assert_eq(policy.bucket_count, BEFORE);
		abd_test_fault_from(fault);
		evict(&policy, BEFORE + 1);
		(void)abd_test_fault_end();
		cr_assert_eq(policy.bucket_count, fault < 2 ? BEFORE : BEFORE + 1);
		for (uint64_t n = BEFORE + 2; n <= GHOSTS; n++)
			evict(&policy, n);
		the_newest_are_known(&policy, GHOSTS);
		abd_arc_policy_fini(&policy);
	}
}

Test(arc_ghosts, without_memory_for_the_first_buckets_there_are_none)
{
	struct abd_arc_policy policy;

	abd_init();
	for (unsigned fault = 0; fault < 2; fault++) {
		abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, abd_arc_policy_ghost_cost());
		abd_test_fault_from(fault);
		evict(&policy, 1);
		(void)abd_test_fault_end();
		cr_assert_eq(policy.bucket_count, 0);
		abd_arc_policy_fini(&policy);
	}
}

Test(arc_ghosts, take_a_small_part_of_the_capacity_except_in_the_exact_algorithm)
{
	enum { CAPACITY = 1 << 20 };
	struct abd_arc_policy policy;
	size_t cost = abd_arc_policy_ghost_cost();

	abd_init();
	for (unsigned exact = 0; exact < 2; exact++) {
		abd_arc_policy_init(&policy, CAPACITY, cost);
		policy.period_us = exact ? 0 : 1;
		for (uint64_t n = 0; n < GHOSTS; n++) {
			struct abd_arc_item item = {.cost = 128};

			abd_arc_policy_insert(&policy, &item, ABD_ARC_RECENT, 0, hash_of(n));
			abd_arc_policy_evict(&policy, &item, hash_of(n));
			abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0, 2);
		}
		cr_assert_eq(policy.ghost_recent.count,
			exact ? (size_t)GHOSTS : (size_t)CAPACITY / 32 / cost);
		abd_arc_policy_fini(&policy);
	}
}

/* As when the last evictions of a resize have left far fewer than there were. */
Test(arc_ghosts, a_resize_gives_back_the_buckets_of_those_that_are_gone)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = (size_t)4 << 20,
		.hit_batch = 1,
		.shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	char record[COST];

	arc_fill(record, sizeof(record), 1, 1, 64);
	for (uint64_t n = 0; n < GHOSTS; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n < 600) /* what was used twice leaves room for the ghosts of the others */
			cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, 1), 1);
	}
	cr_assert_gt(arc->policy.bucket_count, 64);
	while (arc_stats(arc).ghosts > LEFT) {
		pthread_mutex_lock(&arc->lock);
		cr_assert(abd_arc_policy_drop_ghost(&arc->policy));
		pthread_mutex_unlock(&arc->lock);
	}
	cr_assert_eq(abd_arc_resize(arc, config.capacity_bytes), 0);
	cr_assert_eq(arc->policy.bucket_count, 64);
	cr_assert_eq(arc_stats(arc).ghosts, LEFT);
	abd_arc_destroy(arc);
}
