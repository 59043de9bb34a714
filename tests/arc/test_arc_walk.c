/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks: of what stays each record is visited once, whatever comes and goes, and however the index
 * grows and shrinks meanwhile. test_arc_index_interleaved.c has the changes within a step,
 * test_arc_index_crowded.c the lines that are full.
 */
#include "abd_arc_walk.h"
#include "abd_arc_hold.h"
#include "arc_data.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { RECORDS = 3000, STAY = 1000, TURNS = 30, LARGE = 1 << 20 };

static char data[LARGE];

static size_t size_of(uint64_t n)
{
	return n == 0 ? LARGE : n * 977 % 5000 + 1;
}

static void put(abd_arc_t *arc, uint64_t n)
{
	arc_fill(data, size_of(n), n, 0, n % 2 == 0 ? 64 : 8);
	abd_test_check(abd_arc_put(arc, arc_at(n), data, size_of(n)) == 0, "put %zu", (size_t)n);
}

/* What a walk has visited. */
struct visited {
	abd_arc_t *arc;
	unsigned times[2 * RECORDS];
	uint64_t count, stored_bytes, logical_bytes;
	uint64_t stop_at;
	bool removes;
};

static int visit(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg)
{
	struct visited *visited = arg;
	uint64_t n = key->dva[0];
	abd_arc_key_t same = arc_key(n);

	abd_test_check(!abd_arc_rcu_is_reading(), "in a section");
	abd_test_check(abd_key_equal(key, &same, sizeof(same)), "key");
	abd_test_check(logical_size == size_of(n), "record %zu: %zu", (size_t)n, logical_size);
	abd_test_check(stored_size > 0 && stored_size <= logical_size, "stored");
	visited->times[n]++;
	visited->count++;
	visited->stored_bytes += stored_size;
	visited->logical_bytes += logical_size;
	if (visited->removes)
		abd_test_check(abd_arc_remove(visited->arc, key) == 0, "remove");
	return visited->count == visited->stop_at ? -7 : 0;
}

Test(abd_arc_walk, every_record_is_visited_once_with_its_sizes)
{
	abd_arc_t *arc = arc_make(32 << 20, 0, 0);
	struct visited *visited = calloc(1, sizeof(*visited));

	cr_assert(arc != NULL && visited != NULL);
	cr_assert_eq(abd_arc_each(arc, visit, visited), 0);
	cr_assert_eq(visited->count, 0);
	for (uint64_t n = 0; n < RECORDS; n++)
		put(arc, n);
	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_each(arc, visit, visited), 0);
	cr_assert_eq(abd_test_fault_end(), 0, "no memory is asked for");
	for (uint64_t n = 0; n < RECORDS; n++)
		cr_assert_eq(
			visited->times[n], 1, "record %zu: %u times", (size_t)n, visited->times[n]);
	cr_assert_eq(visited->count, RECORDS);
	cr_assert_eq(visited->stored_bytes, arc_stats(arc).stored_bytes);
	cr_assert_eq(visited->logical_bytes, arc_stats(arc).logical_bytes);
	cr_assert_eq(arc_stats(arc).hits + arc_stats(arc).misses, 0, "a visit is no hit");
	free(visited);
	abd_arc_destroy(arc);
}

Test(abd_arc_walk, a_visitor_may_end_it_and_use_the_cache)
{
	abd_arc_t *arc = arc_make(32 << 20, 0, 0);
	struct visited *visited = calloc(1, sizeof(*visited));

	cr_assert(arc != NULL && visited != NULL);
	for (uint64_t n = 0; n < RECORDS; n++)
		put(arc, n);
	visited->arc = arc;
	visited->removes = true;
	visited->stop_at = 10;
	cr_assert_eq(abd_arc_each(arc, visit, visited), -7);
	cr_assert_eq(visited->count, 10);
	cr_assert_eq(arc_stats(arc).entries, RECORDS - 10);
	cr_assert_eq(abd_arc_each(arc, visit, visited), 0);
	cr_assert_eq(visited->count, RECORDS);
	cr_assert_eq(arc_stats(arc).entries, 0);
	broken((void)abd_arc_each(NULL, visit, visited), "is NULL");
	broken((void)abd_arc_each(arc, NULL, visited), "is NULL");
	free(visited);
	abd_arc_destroy(arc);
}

Test(abd_arc_walk, what_was_evicted_is_not_visited_although_it_is_held)
{
	abd_arc_t *arc = arc_make(32 << 20, 0, 0);
	struct visited *visited = calloc(1, sizeof(*visited));
	abd_arc_hold_t hold;

	cr_assert(arc != NULL && visited != NULL);
	put(arc, 1);
	put(arc, 2);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(arc, abd_arc_held_entry(&hold));
	pthread_mutex_unlock(&arc->lock);
	cr_assert_eq(abd_arc_each(arc, visit, visited), 0);
	cr_assert_eq(visited->times[1], 0);
	cr_assert_eq(visited->times[2], 1);
	abd_arc_release(&hold);
	free(visited);
	abd_arc_destroy(arc);
}

/* ---- while the index changes ----------------------------------------------------------------- */

struct crowd {
	struct abd_arc_index *index;
	struct abd_arc_entry entry[RECORDS];
	bool in[RECORDS];
	unsigned times[RECORDS], puts[RECORDS];
	uint64_t random;
};

static uint64_t hash_of(const struct crowd *crowd, uint64_t n)
{
	return abd_arc_hash_key(crowd->index->seed, &crowd->entry[n].key);
}

static void crowd_put(struct crowd *crowd, uint64_t n)
{
	struct abd_arc_entry *old;

	crowd->in[n] = abd_arc_index_put(crowd->index, hash_of(crowd, n), &crowd->entry[n], &old);
	crowd->puts[n] += crowd->in[n];
}

/* One comes or goes, or lines are split, or joined. */
static void crowd_change(struct crowd *crowd)
{
	uint64_t random = abd_test_random(&crowd->random);
	uint64_t n = STAY + (random >> 8) % (RECORDS - STAY);

	if (random % 64 == 0 && abd_arc_index_shrink(crowd->index, RECORDS / 2 + n / 2)) {
		abd_arc_index_shrink_end(crowd->index);
	} else if (random % 2 == 0) {
		abd_arc_index_grow(crowd->index, 3 * RECORDS);
	} else if (crowd->in[n]) {
		cr_assert(abd_arc_index_remove(crowd->index, hash_of(crowd, n), &crowd->entry[n]));
		crowd->in[n] = false;
	} else {
		crowd_put(crowd, n);
	}
}

Test(abd_arc_walk, what_stays_is_found_once_while_lines_are_split_and_joined)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));

	abd_init();
	cr_assert_not_null(crowd);
	crowd->index = abd_arc_index_new(STAY, 3);
	cr_assert_not_null(crowd->index);
	for (uint64_t n = 0; n < RECORDS; n++)
		crowd->entry[n].key = arc_key(n);
	for (uint64_t n = 0; n < STAY; n++)
		crowd_put(crowd, n);
	for (unsigned turn = 1; turn <= TURNS; turn++) {
		struct abd_arc_walk walk = {.index = crowd->index};

		for (uint64_t n = 0; n < RECORDS; n++)
			crowd->puts[n] = crowd->in[n];
		memset(crowd->times, 0, sizeof(crowd->times));
		do {
			abd_arc_walk_step(&walk, turn % 2 == 0);
			for (size_t i = 0; i < walk.count; i++)
				crowd->times[walk.found[i] - crowd->entry]++;
			for (unsigned changes = turn % 4; changes > 0; changes--)
				crowd_change(crowd);
		} while (abd_arc_walk_next(&walk));
		for (uint64_t n = 0; n < RECORDS; n++)
			cr_assert(crowd->times[n] <= crowd->puts[n] &&
					  (n >= STAY || crowd->times[n] == 1),
				"turn %u, entry %zu: %u times", turn, (size_t)n, crowd->times[n]);
	}
	abd_arc_index_free(crowd->index);
	free(crowd);
}

struct churn {
	abd_arc_t *arc;
	atomic_bool stop;
};

static void *churns(void *arg)
{
	struct churn *churn = arg;
	size_t less = 0;

	while (!atomic_load(&churn->stop)) {
		for (uint64_t n = STAY; n < RECORDS; n++)
			abd_test_check(abd_arc_put(churn->arc, arc_at(n), "x", 1) == 0, "put");
		for (uint64_t n = STAY; n < RECORDS; n++)
			abd_test_check(abd_arc_remove(churn->arc, arc_at(n)) == 0, "remove");
		/* whenever the capacity falls, the index shrinks */
		less = less == 0 ? 4096 : 0;
		abd_test_check(abd_arc_resize(churn->arc, (32 << 20) - less) == 0, "resize");
	}
	return NULL;
}

static int visit_those_that_stay(
	const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg)
{
	struct visited *visited = arg;

	visited->times[key->dva[0]]++;
	abd_test_check(
		key->dva[0] >= STAY ? logical_size == 1 : logical_size == size_of(key->dva[0]),
		"size");
	return 0;
}

Test(abd_arc_walk, what_stays_is_visited_once_beside_a_thread_that_puts_and_removes)
{
	struct churn churn = {.arc = arc_make(32 << 20, 0, 0)};
	struct visited *visited = calloc(1, sizeof(*visited));
	pthread_t thread;

	cr_assert(churn.arc != NULL && visited != NULL);
	for (uint64_t n = 0; n < STAY; n++)
		put(churn.arc, n);
	cr_assert_eq(pthread_create(&thread, NULL, churns, &churn), 0);
	for (unsigned turn = 1; turn <= 10 * TURNS; turn++) {
		cr_assert_eq(abd_arc_each(churn.arc, visit_those_that_stay, visited), 0);
		for (uint64_t n = 0; n < STAY; n++)
			abd_test_check(
				visited->times[n] == turn, "turn %u: record %zu", turn, (size_t)n);
	}
	atomic_store(&churn.stop, true);
	pthread_join(thread, NULL);
	free(visited);
	abd_arc_destroy(churn.arc);
}
