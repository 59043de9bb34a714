/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One look-up, or one step of a walk, with lines split and joined between any two of its loads:
 * three changes are tried at every combination of places. Both are inline, so here each of their
 * loads first calls a hook, which plays the other thread. All stores are seen at once and in order:
 * this test does not show the effects of weaker memory.
 */
#include <stdatomic.h>

static void before_load(void);

#undef atomic_load_explicit
#define atomic_load_explicit(object, order) (before_load(), *(object))

#include "abd_arc_impl.h"
#include "abd_arc_walk.h"
#include "arc_data.h"

/* Below LINES * LOAD and above, so that lines are doubled and joined between 64 and 128. */
enum { FEW = 300, MANY = 400, CHANGES = 3, LOADS = 20, LOOKED_UP = 6 };
/* A step loads every slot of a line. */
enum { STEP_LOADS = 36, WALKED_TO = 1 };

static struct {
	struct abd_arc_index *index;
	unsigned loads, changes;
	unsigned at[CHANGES]; /* before which load each change happens */
	bool joined;
} other;

/* Lines are doubled, or joined again; in turn. */
static void change(struct abd_arc_index *index)
{
	if (index->lines == ABD_ARC_PAGE_LINES) {
		for (unsigned i = 0; i < ABD_ARC_PAGE_LINES; i++)
			abd_arc_index_grow(index, i == 0 ? MANY : FEW);
		cr_assert_eq(index->lines, 2 * ABD_ARC_PAGE_LINES);
	} else if (!other.joined) {
		other.joined = abd_arc_index_shrink(index, FEW);
		cr_assert_eq(index->lines, ABD_ARC_PAGE_LINES);
	}
}

static void before_load(void)
{
	unsigned load = other.loads++;

	if (other.index == NULL)
		return;
	while (other.changes < CHANGES && other.at[other.changes] <= load) {
		struct abd_arc_index *index = other.index;

		other.index = NULL;
		other.changes++;
		change(index);
		other.index = index;
	}
}

/* The step that begins at this hash must find its entry, and once. */
static struct abd_arc_entry *walk_to(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_walk walk = {.index = index, .at = abd_arc_walk_reverse(hash)};
	struct abd_arc_entry *found = NULL;

	abd_arc_walk_step(&walk, false);
	other.index = NULL;
	for (size_t i = 0; i < walk.count; i++) {
		if (!abd_key_equal(walk.found[i], key, sizeof(*key)))
			continue;
		cr_assert_null(found);
		found = walk.found[i];
	}
	return found;
}

typedef struct abd_arc_entry *find_fn(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key);

static struct abd_arc_entry *find_while_it_changes(
	find_fn *find, struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_entry *found;

	other.index = index;
	other.loads = other.changes = 0;
	other.joined = false;
	found = find(index, hash, key);
	other.index = NULL;
	if (other.joined) /* no section lasts here */
		abd_arc_index_shrink_end(index);
	return found;
}

static void try_all_places(find_fn *find, unsigned loads, struct abd_arc_index *index, bool doubled,
	const struct abd_arc_entry *entry)
{
	uint64_t hash = abd_arc_hash_key(index->seed, &entry->key);
	unsigned *at = other.at;

	for (at[0] = 0; at[0] < loads; at[0]++) {
		for (at[1] = at[0]; at[1] < loads; at[1]++) {
			for (at[2] = at[1]; at[2] < loads; at[2]++) {
				other.joined = false;
				if ((index->lines > ABD_ARC_PAGE_LINES) != doubled)
					change(index);
				if (other.joined)
					abd_arc_index_shrink_end(index);
				cr_assert_eq(find_while_it_changes(find, index, hash, &entry->key),
					entry, "changes before loads %u, %u, %u", at[0], at[1],
					at[2]);
			}
		}
	}
}

static void find_all(find_fn *find, unsigned loads, uint64_t count)
{
	struct abd_arc_entry *entries = calloc(FEW, sizeof(*entries)), *old;
	struct abd_arc_index *index;

	abd_init();
	index = abd_arc_index_new(0, 7);
	cr_assert(entries != NULL && index != NULL);
	for (uint64_t n = 0; n < FEW; n++) {
		entries[n].key = arc_key(n);
		cr_assert(abd_arc_index_put(
			index, abd_arc_hash_key(7, &entries[n].key), &entries[n], &old));
	}
	for (uint64_t n = 0; n < count; n++) {
		try_all_places(find, loads, index, false, &entries[n]);
		try_all_places(find, loads, index, true, &entries[n]);
	}
	abd_arc_index_free(index);
	free(entries);
}

Test(arc_interleaved, a_look_up_finds_what_is_in_wherever_lines_are_split_and_joined)
{
	find_all(abd_arc_index_find, LOADS, LOOKED_UP);
}

Test(arc_interleaved, a_step_of_a_walk_finds_what_is_in_wherever_lines_are_split_and_joined)
{
	find_all(walk_to, STEP_LOADS, WALKED_TO);
}
