/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store: slots of all sizes, slabs that come and go, and which slab is emptied next.
 */
#include "abd_arc_store.h"
#include "abd_chunk.h"
#include "abd_test.h"

#define MIB ((size_t)1 << 20)

static struct abd_arc_store store;

static struct abd_arc_entry *take(int class)
{
	struct abd_arc_entry *entry = abd_arc_store_alloc(&store, class, true);

	cr_assert_not_null(entry);
	cr_assert_eq(
		(uintptr_t)entry % (abd_arc_store_bytes_of(&store, entry) < 4224 ? 16 : 64), 0);
	/* in a list, as if it had been published */
	atomic_store(&entry->item.stamp, ABD_ARC_STAMP_YOUNG);
	return entry;
}

Test(arc_store, a_slot_wastes_a_17th_or_a_few_bytes)
{
	abd_arc_store_init(&store, 256 * MIB);
	for (size_t size = sizeof(struct abd_arc_entry); size <= 14 << 10; size += 1 + size / 97) {
		int class = abd_arc_store_class(&store, size);

		cr_assert_geq(class, 0, "%zu bytes have no class", size);

		size_t slot = abd_arc_store_slot_size(&store, class);

		size_t few = slot < 4224 ? 16 : 64;
		/* so that slots of these sizes are there in smaller caches, too */
		size_t least = slot > 3640 && slot <= 4096 ? 16 : 18;

		cr_assert(slot >= size &&
				  (slot < size + few || slot < size + size / (least - 1) + few),
			"%zu bytes in a slot of %zu", size, slot);
		/* what is left of the slab behind its last slot */
		size_t slab = abd_arc_store_next_bytes(&store, class), slots = slab / slot;

		cr_assert_geq(slots, least);
		cr_assert_leq(slab - slots * slot, slab / 20, "of a slab of %zu", slab);
	}
	cr_assert_eq(abd_arc_store_class(&store, MIB), -1);
}

Test(arc_store, slabs_are_a_small_part_of_the_capacity)
{
	static const size_t capacity[] = {64 << 10, MIB, 4 * MIB, 8 * MIB, 64 * MIB, 1024 * MIB};

	for (size_t i = 0; i < sizeof(capacity) / sizeof(capacity[0]); i++) {
		int class;

		abd_arc_store_init(&store, capacity[i]);
		/* what is less than a page does not take one, but in very small caches */
		cr_assert_eq(abd_arc_store_class(&store, 4080) >= 0, capacity[i] >= 4 * MIB);
		for (size_t size = 128; (class = abd_arc_store_class(&store, size)) >= 0;
			size = abd_arc_store_slot_size(&store, class) + 1) {
			size_t bytes = abd_arc_store_next_bytes(&store, class);

			size_t part = bytes > 64 << 10 ? 1024 : capacity[i] == 4 * MIB ? 64 : 128;

			cr_assert(bytes <= ABD_CHUNK_SIZE || bytes <= capacity[i] / part,
				"%zu bytes", bytes);
		}
	}
	abd_arc_store_init(&store, 256 * MIB);
	int large = abd_arc_store_class(&store, 14 << 10);

	cr_assert_geq(large, 0);
	abd_arc_store_resize(&store, 16 * MIB);
	cr_assert_eq(abd_arc_store_class(&store, 14 << 10), -1, "slabs are too large now");
	cr_assert_geq(abd_arc_store_class(&store, 128), 0);
	abd_arc_store_resize(&store, 64 << 10);
	cr_assert_eq(abd_arc_store_class(&store, sizeof(struct abd_arc_entry)), 0,
		"the smallest slabs stay");
	abd_arc_store_resize(&store, 256 * MIB);
	cr_assert_eq(abd_arc_store_class(&store, 14 << 10), large);
}

/* Random takes and frees, against a model: which slots are taken, and what they hold. */
Test(arc_store, no_two_slots_overlap_and_all_memory_comes_back)
{
	enum { ROUNDS = 20000, KEPT = 300 };
	static struct {
		struct abd_arc_entry *entry;
		size_t size;
		uint8_t byte;
	} kept[KEPT];
	uint64_t seed = 5;

	abd_arc_store_init(&store, 256 * MIB);
	memset(kept, 0, sizeof(kept));
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t n = (size_t)(abd_test_random(&seed) % KEPT);
		size_t size = sizeof(struct abd_arc_entry) +
			      (size_t)(abd_test_random(&seed) % (i % 8 == 0 ? 14000 : 600));

		if (kept[n].entry != NULL) {
			const uint8_t *data = (const uint8_t *)(kept[n].entry + 1);

			for (size_t at = 0; at < kept[n].size; at++)
				cr_assert_eq(data[at], kept[n].byte);
			abd_arc_store_free(&store, kept[n].entry);
			kept[n].entry = NULL;
			continue;
		}
		kept[n].entry = take(abd_arc_store_class(&store, size));
		cr_assert_geq(abd_arc_store_bytes_of(&store, kept[n].entry), size);
		kept[n].size = size - sizeof(struct abd_arc_entry);
		kept[n].byte = (uint8_t)i;
		memset(kept[n].entry + 1, (int)(uint8_t)i, kept[n].size);
	}
	for (size_t n = 0; n < KEPT; n++)
		if (kept[n].entry != NULL)
			abd_arc_store_free(&store, kept[n].entry);
	cr_assert_eq(store.bytes, 0);
	cr_assert_gt(atomic_load(&store.frees), 0);
}

Test(arc_store, the_next_class_helps_out)
{
	abd_arc_store_init(&store, 256 * MIB);

	int class = abd_arc_store_class(&store, 5000), last = (int)store.class_count - 1;

	cr_assert_eq(abd_arc_store_near(&store, class), class);
	cr_assert_eq(abd_arc_store_near(&store, last), last);
	cr_assert_null(abd_arc_store_alloc(&store, class, false), "no slab was wanted");

	struct abd_arc_entry *next = take(class + 1);

	cr_assert_eq(abd_arc_store_near(&store, class), class + 1);

	struct abd_arc_entry *own = take(class);

	cr_assert_eq(abd_arc_store_near(&store, class), class);
	cr_assert_eq(abd_arc_store_next_bytes(&store, class), 0);
	abd_arc_store_free(&store, own);
	abd_arc_store_free(&store, next);
	cr_assert_eq(store.bytes, 0);
}

Test(arc_store, free_slots_serve_records_that_are_a_little_smaller)
{
	abd_arc_store_init(&store, 256 * MIB);

	int class = abd_arc_store_class(&store, 2000), far = class;
	size_t slot = abd_arc_store_slot_size(&store, class);

	while (abd_arc_store_slot_size(&store, far + 1) <= slot / 12 * 13)
		far++;
	cr_assert_gt(far, class + 1);

	struct abd_arc_entry *beyond = take(far + 1);

	cr_assert_eq(abd_arc_store_near(&store, class), class);

	struct abd_arc_entry *within = take(far);

	cr_assert_eq(abd_arc_store_near(&store, class), far);
	abd_arc_store_free(&store, within);
	abd_arc_store_free(&store, beyond);
}

Test(arc_store, a_slab_is_drained_into_larger_slots)
{
	abd_arc_store_init(&store, 256 * MIB);

	int class = abd_arc_store_class(&store, 5000), large = abd_arc_store_class(&store, 9000);
	struct abd_arc_entry *small = take(class), *other = take(large), *to;

	struct abd_arc_store_slab *slab = abd_arc_store_drain(&store);
	unsigned slot = 0;

	cr_assert_not_null(slab, "most of the memory is free slots");
	cr_assert_eq(abd_arc_store_live(&store, slab, &slot), small);
	to = abd_arc_store_alloc_beside(&store, small, 5000);
	cr_assert_eq(abd_arc_store_bytes_of(&store, to), abd_arc_store_slot_size(&store, large));

	/* Slots of its own size are better. */
	struct abd_arc_entry *own = take(class),
			     *back = abd_arc_store_alloc_beside(&store, to, 5000);

	cr_assert_eq(abd_arc_store_bytes_of(&store, back), abd_arc_store_slot_size(&store, class));
	abd_arc_store_free(&store, back);
	abd_arc_store_free(&store, own);
	abd_arc_store_free(&store, small);
	abd_arc_store_free(&store, to);

	/* When little is free, records are not moved to slots that are much larger. */
	struct abd_arc_entry *full[64];
	size_t count = 0;

	small = take(class);
	while (abd_arc_store_next_bytes(&store, large) == 0 && count < 64)
		full[count++] = take(large);
	while (count > 1 && abd_arc_store_next_bytes(&store, class) == 0 && count < 64)
		full[count++] = take(class);
	abd_arc_store_free(&store, other);
	cr_assert_null(abd_arc_store_drain(&store));
	abd_arc_store_free(&store, small);
	while (count > 0)
		abd_arc_store_free(&store, full[--count]);
	cr_assert_eq(store.bytes, 0);
}

/* A slab's head is in the slab: what lay on the C library's heap would stay there. */
Test(arc_store, a_slab_is_one_allocation_and_without_it_there_is_none)
{
	struct abd_arc_entry *entry;

	abd_arc_store_init(&store, 256 * MIB);
	abd_arc_store_free(&store, take(3)); /* now the provider has memory */
	abd_test_fault_at(0);
	cr_assert_null(abd_arc_store_alloc(&store, 3, true));
	abd_test_fault_end();
	cr_assert_eq(store.bytes, 0);
	abd_test_fault_at(1);
	entry = take(3);
	abd_test_fault_end();
	abd_arc_store_free(&store, entry);
	cr_assert_eq(store.bytes, 0);
}

enum { SLABS = 3 };

/* Fill three slabs of a class. Returns the slots of one. */
static size_t fill(int class, struct abd_arc_entry **entry)
{
	size_t slots = 0, n = 0;

	do
		entry[n++] = take(class);
	while (abd_arc_store_next_bytes(&store, class) == 0);
	for (slots = n; n < SLABS * slots;)
		entry[n++] = take(class);
	return slots;
}

static void free_all(struct abd_arc_entry **entry, size_t count)
{
	for (size_t n = 0; n < count; n++)
		if (entry[n] != NULL)
			abd_arc_store_free(&store, entry[n]);
	cr_assert_eq(store.bytes, 0);
}

static void free_one(struct abd_arc_entry **entry)
{
	abd_arc_store_free(&store, *entry);
	*entry = NULL;
}

Test(arc_store, the_emptiest_slab_is_drained_if_its_records_fit_elsewhere)
{
	struct abd_arc_entry *entry[SLABS * 64] = {NULL}, *live;
	unsigned slot = 0, count = 0;

	abd_arc_store_init(&store, 256 * MIB);

	int class = abd_arc_store_class(&store, 3000);
	size_t slots = fill(class, entry);

	cr_assert_leq(slots, 64);
	cr_assert_null(abd_arc_store_drain(&store), "all are full");
	for (size_t n = 0; n < slots - 2; n++)
		free_one(&entry[n]);
	cr_assert_null(abd_arc_store_drain(&store), "two records would have no place");
	free_one(&entry[slots]);
	free_one(&entry[slots + 1]);
	atomic_store(&entry[slots - 1]->item.stamp, ABD_ARC_STAMP_OWNER); /* pinned */

	struct abd_arc_store_slab *slab = abd_arc_store_drain(&store);

	cr_assert_not_null(slab);
	cr_assert_eq(abd_arc_store_slab_size(&store, slab), 64 << 10);
	while ((live = abd_arc_store_live(&store, slab, &slot)) != NULL) {
		cr_assert(live == entry[slots - 1] || live == entry[slots - 2]);
		count++;
	}
	cr_assert_eq(count, 2, "of the emptiest one");
	cr_assert_null(abd_arc_store_drain(&store), "no other has room");

	/* The free slots of a drained slab serve nobody. */
	struct abd_arc_entry *beside[3];

	for (size_t n = 0; n < 2; n++) {
		beside[n] = abd_arc_store_alloc_beside(&store, entry[slots - 1], 3000);
		cr_assert_not_null(beside[n]);
		atomic_store(&beside[n]->item.stamp, 0); /* evicted, say */
	}
	cr_assert_null(abd_arc_store_alloc_beside(&store, entry[slots - 1], 3000));
	/* ... until a record is found to stay. */
	abd_arc_store_keep(&store, entry[slots - 1]);
	abd_arc_store_keep(&store, entry[slots - 1]);
	beside[2] = abd_arc_store_alloc_beside(&store, entry[slots - 1], 3000);
	cr_assert_not_null(beside[2]);
	for (size_t n = 0; n < 3; n++)
		abd_arc_store_free(&store, beside[n]);
	free_all(entry, SLABS * slots);
}

Test(arc_store, a_slab_that_could_not_be_emptied_is_left_alone_until_a_slot_is_freed)
{
	struct abd_arc_entry *entry[SLABS * 64] = {NULL};

	abd_arc_store_init(&store, 256 * MIB);

	int class = abd_arc_store_class(&store, 3000);
	size_t slots = fill(class, entry);

	for (size_t n = 0; n < slots - 2; n++)
		free_one(&entry[n]);
	free_one(&entry[slots]);
	free_one(&entry[slots + 1]);
	cr_assert_not_null(abd_arc_store_drain(&store));
	abd_arc_store_keep(&store, entry[slots - 1]);
	cr_assert_null(abd_arc_store_drain(&store));
	free_one(&entry[slots - 2]);
	cr_assert_not_null(abd_arc_store_drain(&store));
	free_one(&entry[slots - 1]); /* the drained slab ends */
	free_all(entry, SLABS * slots);
}
