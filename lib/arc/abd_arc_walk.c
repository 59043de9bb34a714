/* SPDX-License-Identifier: BSD-2-Clause */
#include "abd_arc_rcu.h"
#include "abd_arc_record.h"
#include "abd_arc_walk.h"
/*
 * Visiting all records. What a step finds is copied inside its read-side section, and the visitor
 * is called outside: it may do anything with the cache, and take its time.
 * Invariant: no lock is taken, and nothing is allocated.
 * OpenZFS: none.
 */

struct abd_arc_walk_copy {
	abd_arc_key_t key;
	size_t stored_size, logical_size;
};

/* One step. Returns how many records it copied. */
static size_t abd_arc_walk_copies(
	struct abd_arc_walk *walk, struct abd_arc_walk_copy copy[ABD_ARC_WALK_MOST])
{
	abd_arc_rcu_read_lock();
	abd_arc_walk_step(walk, false);
	for (size_t i = 0; i < walk->count; i++) {
		struct abd_arc_entry *entry = walk->found[i];

		copy[i] = (struct abd_arc_walk_copy){
			entry->key, abd_arc_entry_stored(entry), entry->item.size};
	}
	abd_arc_rcu_read_unlock();
	return walk->count;
}

int abd_arc_each(abd_arc_t *arc,
	int (*visit)(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg),
	void *arg)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(visit != NULL, "visit is NULL");
	struct abd_arc_walk walk = {.index = arc->index};
	struct abd_arc_walk_copy copy[ABD_ARC_WALK_MOST];
	uint32_t shard = 0;
	int result = 0;

	while (result == 0) {
		size_t count = abd_arc_walk_copies(&walk, copy);

		for (size_t i = 0; result == 0 && i < count; i++)
			result =
				visit(&copy[i].key, copy[i].stored_size, copy[i].logical_size, arg);
		if (abd_arc_walk_next(&walk))
			continue;
		if (++shard == arc->shards)
			break;
		walk = (struct abd_arc_walk){.index = arc[shard].index};
	}
	return result;
}
