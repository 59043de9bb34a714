/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where memory is asked for: never inside a read-side section; of the library where the engine's
 * allocator refuses. test_arc_oom.c refuses each allocation of each call.
 */
#include "abd_mem.h"
#include "abd_arc_rcu.h"
#include "arc_data.h"

/* A budget of the engine's that is used up: the read takes the library's own memory. */
Test(arc_memory, a_read_does_without_the_allocator_that_refuses)
{
	static char record[9000], read[100];

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_arc_t *arc = arc_make(500000, 0, ABD_ARC_CHECKSUM);

	arc_fill(record, sizeof(record), 3, 0, 3);
	cr_assert_eq(abd_arc_put(arc, arc_at(3), record, sizeof(record)), 0);
	cr_assert_eq(abd_arc_read(arc, arc_at(3), read, 5000, 100), 100);
	abd_test_fault_at(0);
	cr_assert_eq(abd_arc_read(arc, arc_at(3), read, 5000, 100), 100);
	cr_assert_eq(abd_test_fault_end(), 2, "the scratch, and the scratch again");
	cr_assert_arr_eq(read, record + 5000, sizeof(read));
	abd_arc_destroy(arc);
	abd_tuning_set("thread_cache_bytes", "8388608");
}

/* ---- where memory is asked for --------------------------------------------------------------- */

static _Thread_local size_t asked, asked_inside;

static bool note_asked(void)
{
	asked++;
	asked_inside += abd_arc_rcu_is_reading();
	return false;
}

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	asked++;
	asked_inside += abd_arc_rcu_is_reading();
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	asked_inside += abd_arc_rcu_is_reading();
	free(buf);
}

/* Put, read in parts, hold, replace and remove records of many sizes. */
static void use_all_calls(abd_arc_t *arc, size_t size, unsigned random)
{
	char *record = malloc(size), *read = malloc(size);
	abd_arc_hold_t hold[40];

	arc_fill(record, size, size, 0, random);
	if (record != NULL && read != NULL && abd_arc_put(arc, arc_at(size), record, size) == 0) {
		for (size_t off = 0; off < size; off += size / 5 + 1)
			abd_arc_read(arc, arc_at(size), read, off, size - off);
		abd_arc_read(arc, arc_at(size), read, size / 2, 1);
		for (size_t i = 0; i < 40; i++)
			if (abd_arc_hold(arc, arc_at(size), &hold[i]) != 0)
				hold[i].entry = NULL;
		for (size_t i = 0; i < 40; i++)
			if (hold[i].entry != NULL)
				abd_arc_release(&hold[i]);
		if (size % 2 != 0)
			abd_arc_remove(arc, arc_at(size));
	}
	free(record);
	free(read);
}

ABD_TEST_CHILD(nothing_is_allocated_inside)
{
	struct abd_allocator engine = {.alloc = engine_alloc, .free = engine_free};

	abd_test_child_expect(abd_allocator_set(&engine) == 0);
	atomic_store(&abd_mem_fault, note_asked);
	abd_test_child_expect(abd_tuning_set("thread_cache_bytes", "0") == 0);
	for (uint32_t flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM) {
		abd_arc_t *arc = arc_make(1 << 20, 0, flags);

		abd_test_child_expect(arc != NULL);
		for (size_t size = 1; size < 600000; size += size / 2 + 1)
			for (unsigned random = 0; random <= 64; random += 32)
				use_all_calls(arc, size, random);
		abd_arc_resize(arc, 200000);
		abd_arc_destroy(arc);
	}
	atomic_store(&abd_mem_fault, NULL);
	abd_arc_rcu_read_lock();
	abd_test_child_expect(abd_arc_rcu_is_reading());
	abd_arc_rcu_read_unlock();
	abd_test_child_expect(!abd_arc_rcu_is_reading());
	abd_test_child_expect(asked > 100);
	abd_test_child_expect(asked_inside == 0);
	return 0;
}

Test(arc_memory, nothing_is_allocated_inside_a_read_side_section)
{
	abd_test_child_passes("nothing_is_allocated_inside", NULL);
}

Test(arc_memory, a_cache_that_can_not_be_made_leaves_nothing)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
	abd_arc_t *arc = NULL;

	for (size_t n = 0; arc == NULL; n++) {
		cr_assert_lt(n, 50);
		abd_test_fault_at(n);
		errno = 0;
		arc = abd_arc_create(&config);
		cr_assert(arc != NULL || errno == ENOMEM);
		abd_test_fault_end();
	}
	abd_arc_destroy(arc);
}
