/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ghosts' hash table grows and shrinks with their number, and loses none of them.
 */
#include "abd_arc_policy.h"
#include "abd_test_fault.h"

#include <abd/abd.h>
#include <criterion/criterion.h>

enum { GHOSTS = 1000, LEFT = 10, COST = 4096 };

/* Many to a bucket, whatever their number is. */
static uint64_t hash_of(uint64_t n)
{
	return n * 32;
}

static void evict_all(struct abd_arc_policy *policy)
{
	for (uint64_t n = 1; n <= GHOSTS; n++) {
		struct abd_arc_item item = {.cost = COST};

		abd_arc_policy_insert(policy, &item, ABD_ARC_RECENT, hash_of(n));
		abd_arc_policy_evict(policy, &item, hash_of(n));
	}
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

Test(arc_ghosts, buckets_grow_with_the_ghosts_and_shrink_with_them)
{
	struct abd_arc_policy policy;
	size_t most;

	abd_init();
	abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, abd_arc_policy_ghost_cost());
	evict_all(&policy);
	most = policy.bucket_count;
	cr_assert_geq(most, GHOSTS);
	cr_assert_lt(most, 2 * GHOSTS);
	for (size_t i = LEFT; i < GHOSTS; i++)
		cr_assert(abd_arc_policy_drop_ghost(&policy));

	abd_test_fault_from(0);
	abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0);
	cr_assert_eq(abd_test_fault_end(), 1);
	cr_assert_eq(policy.bucket_count, most, "without memory all stays as it is");
	while (most > LEFT * 8) {
		abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0);
		cr_assert_eq(policy.bucket_count, most / 2, "halved once a call");
		most /= 2;
	}
	abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0);
	cr_assert_eq(policy.bucket_count, most, "enough is enough");
	the_newest_are_known(&policy, LEFT);
	abd_arc_policy_fini(&policy);
}
