/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ghosts against a plain model; their cells grow with their number, and none is lost.
 */
#include "abd_arc_evict.h"
#include "abd_test_provider.h"
#include "arc_data.h"

enum { GHOSTS = 4000, LEFT = 10, COST = 4096, PAGE = 128 };

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

/* Where cells would lie on the heap, the C library would keep most of them when a cache ends. */
Test(arc_ghosts, cells_grow_one_by_one_in_pages_that_go_back_to_the_provider)
{
	struct abd_arc_policy policy;

	abd_init();
	abd_test_provider_begin();
	abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, ABD_ARC_GHOST_COST);
	for (uint64_t n = 1; n <= GHOSTS; n++) {
		evict(&policy, n);
		cr_assert_eq(policy.ghosts.cells, n > PAGE ? n : PAGE);
	}
	cr_assert_eq(abd_test_runs_out(0), (GHOSTS + PAGE - 1) / PAGE);
	for (size_t i = LEFT; i < GHOSTS; i++)
		cr_assert(abd_arc_policy_drop_ghost(&policy));
	the_newest_are_known(&policy, LEFT);
	abd_arc_policy_fini(&policy);
	cr_assert_eq(abd_arc_ghosts_bytes(&policy.ghosts), 0);
	cr_assert_eq(abd_test_runs_out_all(), 0);
	abd_test_provider_end();
}

/* Memory is refused at each step in turn: one record is forgotten, and no ghost is lost. */
Test(arc_ghosts, without_memory_for_more_cells_all_are_found)
{
	for (unsigned fault = 0; fault < 3; fault++) {
		struct abd_arc_policy policy;

		abd_init();
		abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, ABD_ARC_GHOST_COST);
		for (uint64_t n = 1; n <= PAGE; n++)
			evict(&policy, n);
		cr_assert_eq(policy.ghosts.cells, PAGE);
		abd_test_fault_from(fault);
		evict(&policy, PAGE + 1);
		(void)abd_test_fault_end();
		cr_assert_eq(policy.ghosts.cells, fault < 2 ? PAGE : PAGE + 1);
		cr_assert_eq(abd_arc_policy_has_ghost(&policy, hash_of(PAGE + 1)), fault == 2);
		for (uint64_t n = PAGE + 2; n <= GHOSTS; n++)
			evict(&policy, n);
		the_newest_are_known(&policy, fault == 2 ? GHOSTS : GHOSTS - PAGE - 1);
		abd_arc_policy_fini(&policy);
	}
}

Test(arc_ghosts, without_memory_for_the_first_cells_there_are_none)
{
	struct abd_arc_policy policy;

	abd_init();
	for (unsigned fault = 0; fault < 2; fault++) {
		abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, ABD_ARC_GHOST_COST);
		abd_test_fault_from(fault);
		evict(&policy, 1);
		(void)abd_test_fault_end();
		cr_assert_eq(policy.ghosts.cells, 0);
		abd_arc_policy_fini(&policy);
	}
}

/* ---- a plain model --------------------------------------------------------------------------- */

enum { KEYS = 700 };

/* So that buckets of all numbers are used. */
static uint64_t spread(size_t key)
{
	return abd_arc_mix(key + 1, 0x9e3779b97f4a7c15u);
}

/* For each key the list that its ghost is in, its cost, and when it was made. */
struct model {
	unsigned list[KEYS];
	uint32_t cost[KEYS];
	size_t made[KEYS];
};

static void compare_list(const struct abd_arc_ghosts *ghosts, const struct model *m, unsigned list)
{
	size_t bytes = 0, count = 0, oldest = SIZE_MAX, newest = 0;

	for (size_t key = 0; key < KEYS; key++) {
		if (m->list[key] != list)
			continue;
		count++;
		bytes += m->cost[key];
		oldest = oldest == SIZE_MAX || m->made[key] < m->made[oldest] ? key : oldest;
		newest = m->made[key] > m->made[newest] || m->list[newest] != list ? key : newest;
	}
	abd_test_check(ghosts->list[list].count == count, "%zu ghosts, not %zu", count,
		ghosts->list[list].count);
	abd_test_check(ghosts->list[list].bytes == bytes, "bytes");
	abd_test_check((ghosts->list[list].oldest == 0) == (count == 0), "the oldest");
	if (count == 0)
		return;
	abd_test_check(abd_arc_ghost_at(ghosts, ghosts->list[list].oldest)->hash == spread(oldest),
		"the oldest of %zu", count);
	abd_test_check(abd_arc_ghost_at(ghosts, ghosts->list[list].newest)->hash == spread(newest),
		"the newest of %zu", count);
}

static void compare(const struct abd_arc_ghosts *ghosts, const struct model *m)
{
	for (size_t key = 0; key < KEYS; key++) {
		uint32_t number = abd_arc_ghost_find(ghosts, spread(key));

		abd_test_check((number > 0) == (m->list[key] != ABD_ARC_NONE), "key %zu", key);
		if (number == 0)
			continue;
		abd_test_check(abd_arc_ghost_at(ghosts, number)->list == m->list[key] &&
				       abd_arc_ghost_at(ghosts, number)->cost == m->cost[key],
			"key %zu has another ghost", key);
	}
	compare_list(ghosts, m, ABD_ARC_RECENT);
	compare_list(ghosts, m, ABD_ARC_FREQUENT);
	abd_test_check(
		abd_arc_ghosts_count(ghosts) + ghosts->list[ABD_ARC_NONE].count == ghosts->cells,
		"each cell is a ghost or free");
}

static void step(struct abd_arc_ghosts *ghosts, struct model *m, size_t now, uint64_t *seed)
{
	size_t key = (size_t)(abd_test_random(seed) % KEYS);
	/* mostly made, then mostly ended */
	bool makes = abd_test_random(seed) % 8 < (now / 2000 % 2 == 0 ? 6u : 2u);

	if (makes && m->list[key] == ABD_ARC_NONE) {
		m->list[key] = 1 + (unsigned)(abd_test_random(seed) % 2);
		m->cost[key] = (uint32_t)(abd_test_random(seed) % 1000);
		m->made[key] = now;
		abd_arc_ghost_make(ghosts, m->list[key], spread(key), m->cost[key]);
	} else if (!makes && m->list[key] != ABD_ARC_NONE) {
		m->list[key] = ABD_ARC_NONE;
		abd_arc_ghost_end(ghosts, abd_arc_ghost_find(ghosts, spread(key)));
	}
}

Test(arc_ghosts, are_those_of_a_plain_model_while_they_come_and_go)
{
	struct abd_arc_ghosts ghosts = {.page = NULL};
	static struct model m;
	uint64_t seed = 7;

	abd_init();
	for (size_t now = 1; now <= 100000; now++) {
		step(&ghosts, &m, now, &seed);
		if (now % 50 == 0)
			compare(&ghosts, &m);
	}
	cr_assert_gt(ghosts.cells, 400);
	abd_arc_ghosts_fini(&ghosts);
}

/* As many cells as a number of 32 bits can name. */
Test(arc_ghosts, without_numbers_for_more_cells_records_are_forgotten)
{
	struct abd_arc_ghosts ghosts = {.cells = UINT32_MAX};

	abd_arc_ghost_make(&ghosts, ABD_ARC_RECENT, 1, COST);
	cr_assert_eq(ghosts.cells, UINT32_MAX);
	cr_assert_eq(abd_arc_ghosts_count(&ghosts), 0);
}

/* With many to forget, as after a resize, a call forgets so many and says that there are more. */
Test(arc_ghosts, a_call_forgets_no_more_than_it_may)
{
	static const enum abd_arc_list_id lists[] = {ABD_ARC_RECENT, ABD_ARC_FREQUENT};
	struct abd_arc_policy policy;

	abd_init();
	for (size_t i = 0; i < 2; i++) {
		const struct abd_arc_ghost_list *list = &policy.ghosts.list[lists[i]];

		abd_arc_policy_init(&policy, (size_t)GHOSTS * COST, ABD_ARC_GHOST_COST);
		for (uint64_t n = 0; n < GHOSTS; n++) {
			struct abd_arc_item item = {.cost = COST};

			abd_arc_policy_insert(&policy, &item, lists[i], 0, hash_of(n));
			abd_arc_policy_evict(&policy, &item, hash_of(n));
		}
		abd_arc_policy_resize(&policy, (size_t)GHOSTS * COST / 8);
		cr_assert(abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0, 2));
		cr_assert_eq(list->count, GHOSTS - 2);
		cr_assert_not(abd_arc_policy_trim(&policy, ABD_ARC_RECENT, 0, SIZE_MAX));
		cr_assert_leq(list->count, GHOSTS / 4);
		abd_arc_policy_fini(&policy);
	}
}

/* Their table does not shrink: a cache that is made far smaller begins another one. */
Test(arc_ghosts, a_resize_keeps_them_unless_their_table_is_far_too_large)
{
	enum { CAPACITY = 8 << 20, RECORDS = 50000 };
	abd_arc_t *arc = arc_make(CAPACITY, 1, 0);
	char record[64];

	arc_fill(record, sizeof(record), 1, 1, 64);
	for (uint64_t n = 0; n < RECORDS; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n < RECORDS / 2) /* what was used twice leaves room for ghosts of others */
			cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, 1), 1);
	}

	uint64_t ghosts = arc_stats(arc).ghosts;
	size_t cells = arc->policy.ghosts.cells;

	cr_assert_gt(ghosts, 2000);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 4 * 3), 0);
	cr_assert_eq(arc->policy.ghosts.cells, cells);
	cr_assert_gt(arc_stats(arc).ghosts, ghosts / 2);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 8), 0);
	cr_assert_leq(arc->policy.ghosts.cells, PAGE);
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY / 8);
	abd_arc_destroy(arc);
}

/* Where memory is short, an eviction that would need a page for its ghost ends another ghost. */
Test(arc_ghosts, no_eviction_takes_the_cache_over_its_capacity)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = (size_t)4 << 20, .shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	char record[COST];

	arc_fill(record, sizeof(record), 1, 1, 64);
	for (uint64_t n = 0; n < GHOSTS; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
	pthread_mutex_lock(&arc->lock);

	size_t used = abd_arc_used(arc), ghosts = abd_arc_ghosts_count(&arc->policy.ghosts);

	arc->capacity = used;
	for (unsigned i = 0; i < 300; i++) {
		struct abd_arc_item *victim = abd_arc_policy_victim(&arc->policy, false);
		uint64_t hash = abd_arc_hash(arc, &abd_arc_entry_of(victim)->key);

		abd_arc_evict(arc, abd_arc_entry_of(victim));
		cr_assert_eq(abd_arc_used(arc), used);
		cr_assert(abd_arc_policy_has_ghost(&arc->policy, hash));
	}
	cr_assert_leq(abd_arc_ghosts_count(&arc->policy.ghosts), ghosts + PAGE);

	size_t next = abd_arc_ghosts_next_bytes(&arc->policy.ghosts);

	/* With room for a page there is one. */
	arc->capacity = used + next;
	abd_arc_evict(arc, abd_arc_entry_of(abd_arc_policy_victim(&arc->policy, false)));
	cr_assert_eq(abd_arc_used(arc), used + next);
	arc->capacity = config.capacity_bytes;
	pthread_mutex_unlock(&arc->lock);
	abd_arc_destroy(arc);
}
