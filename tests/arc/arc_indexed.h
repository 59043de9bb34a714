/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of records whose blocks have an index.
 */
#ifndef ARC_INDEXED_H
#define ARC_INDEXED_H

#include "abd_arc_impl.h"
#include "arc_data.h"

#define MIB ((size_t)1 << 20)

static char data[2 << 20], got[2 << 20];

static inline abd_arc_t *make(size_t capacity, uint32_t flags, uint32_t least, uint32_t group)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.hit_batch = 1,
		.flags = flags,
		.lz4_index_min = least,
		.lz4_index_group = group};

	return abd_arc_create(&config);
}

static inline void put(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	arc_fill(data, size, n, 1, random);
	abd_test_check(abd_arc_put(arc, arc_at(n), data, size) == 0, "put of %zu", size);
}

static inline bool is_indexed(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t hold;

	abd_test_check(abd_arc_hold(arc, arc_at(n), &hold) == 0, "hold");
	struct abd_arc_hold_slot *slot = hold.entry;
	struct abd_arc_entry *entry = atomic_load(&slot->entry);
	bool indexed = entry->item.indexed;

	if (indexed)
		abd_test_check(abd_lz4_index_check(abd_arc_entry_index(arc, entry),
				       abd_arc_entry_index_size(arc, entry), hold.stored_size) == 0,
			"the index");
	abd_arc_release(&hold);
	return indexed;
}

/* Whole, the ends, and places at random. */
static inline void check(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	uint64_t seed = n;

	arc_fill(data, size, n, 1, random);
	for (int i = 0; i < 12; i++) {
		size_t off = i == 0 ? 0 : i == 1 ? size - 1 : abd_test_random_below(&seed, size);
		size_t part = i == 0 ? size : 1 + abd_test_random_below(&seed, size - off);

		part = i % 2 == 1 && part > 4096 ? 4096 : part;
		abd_test_check(abd_arc_read(arc, arc_at(n), got, off, part) == (ssize_t)part,
			"%zu +%zu of %zu", off, part, size);
		abd_test_check(
			memcmp(got, data + off, part) == 0, "%zu +%zu: other bytes", off, part);
	}
}

#endif
