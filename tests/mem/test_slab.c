/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs: blocks of every size lie apart and are aligned, a slab in which all is free goes back, and
 * what is no block in use is reported.
 */
#include "abd_slab.h"

#include "abd_test.h"

static void *map(size_t *size)
{
	return abd_region_map(*size, ABD_REGION_SIZE, MADV_NOHUGEPAGE);
}

static struct abd_region_heap heap = ABD_REGION_HEAP(map, abd_region_unmap, false);
static struct abd_slab *list;

enum { BLOCKS = 700 };
static void *block[BLOCKS];

/* As if each were somebody's. */
static void mark(size_t size)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		cr_assert_eq((uintptr_t)block[i] % 64, 0);
		memset(block[i], (int)i, size);
		*(size_t *)block[i] = i;
	}
}

static void check(size_t size)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		const unsigned char *byte = block[i];

		abd_test_check(*(size_t *)block[i] == i && byte[size - 1] == (unsigned char)i,
			"block %zu of %zu bytes was overwritten", i, size);
	}
}

Test(abd_slab, blocks_of_every_size_lie_apart_and_go_back)
{
	for (size_t size = 64; size < 4096; size += size < 1024 ? 64 : size < 2048 ? 256 : 512) {
		uint64_t seed = size;

		cr_assert_eq(abd_slab_alloc(&list, &heap, size, block, BLOCKS), BLOCKS);
		mark(size);
		check(size);
		/* At most 4 % of a slab is no block. The last slab is only begun. */
		cr_assert_leq((heap.taken_pages << ABD_CHUNK_SHIFT) * 96,
			(BLOCKS * size + ((size_t)64 << 10)) * 100, "%zu: %zu pages", size,
			heap.taken_pages);
		for (size_t i = BLOCKS; i-- > 1;) { /* in any order */
			size_t j = abd_test_random_below(&seed, i + 1);
			void *other = block[j];

			block[j] = block[i];
			block[i] = other;
		}
		for (size_t i = 0; i < BLOCKS; i += 70)
			abd_slab_free(&list, &heap, size, block + i, 70);
		cr_assert_null(list);
		cr_assert_eq(heap.taken_pages, 0);
	}
	abd_region_reap(&heap);
	cr_assert_eq(heap.region_count, 0);
}

Test(abd_slab, a_free_block_is_taken_before_a_new_slab)
{
	cr_assert_eq(abd_slab_alloc(&list, &heap, 1024, block, BLOCKS), BLOCKS);

	size_t taken = heap.taken_pages;

	for (size_t i = 0; i < BLOCKS; i += 3) {
		abd_slab_free(&list, &heap, 1024, block + i, 1);
		cr_assert_eq(abd_slab_alloc(&list, &heap, 1024, block + i, 1), 1);
	}
	cr_assert_eq(heap.taken_pages, taken);
	mark(1024);
	check(1024);
	abd_slab_free(&list, &heap, 1024, block, BLOCKS);
	cr_assert_eq(heap.taken_pages, 0);
}

Test(abd_slab, without_memory_there_are_as_many_as_there_are)
{
	cr_assert_eq(abd_slab_alloc(&list, &heap, 2048, block, 1), 1);
	abd_region_pin(&heap, true);
	while (abd_region_alloc(&heap, 4) != NULL && heap.region_count == 1)
		continue;
	abd_region_pin(&heap, false);
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);

	size_t had = abd_slab_alloc(&list, &heap, 2048, block + 1, BLOCKS - 1);

	abd_test_wrap_fail(ABD_TEST_MMAP, 0);
	cr_assert_gt(had, 0);
	abd_slab_free(&list, &heap, 2048, block, had + 1);
	cr_assert_null(list);
}

Test(abd_slab, what_is_no_block_in_use_is_reported)
{
	void *wrong;

	cr_assert_eq(abd_slab_alloc(&list, &heap, 1536, block, 3), 3);
	abd_slab_free(&list, &heap, 1536, block, 1);
	abd_test_expect_contract(
		abd_slab_free(&list, &heap, 1536, block, 1), "no block of 1536 bytes in use");
	wrong = (char *)block[1] + 64;
	abd_test_expect_contract(
		abd_slab_free(&list, &heap, 1536, &wrong, 1), "no block of 1536 bytes in use");
	abd_slab_free(&list, &heap, 1536, block + 1, 2);
	cr_assert_null(list);
}
