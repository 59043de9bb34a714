/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Size classes: each size has a class that is large enough and not much larger. The number of a
 * class and its size fit each other. Blocks of all sizes lie apart, and go back.
 */
#include "abd_mem_cache.h"
#include "abd_test.h"

#include <abd/tuning.h>
#include <sched.h>
#include <unistd.h>

Test(abd_mem, every_size_fits_its_class_and_wastes_little)
{
	size_t size_of_class[ABD_MEM_CACHE_CLASSES] = {0};
	unsigned last = 0;

	for (size_t size = 1; size <= ABD_MEM_CACHE_MAX; size++) {
		size_t class_size = size;
		unsigned class = abd_mem_cache_class(&class_size);

		abd_test_check(class < ABD_MEM_CACHE_CLASSES && class_size >= size,
			"%zu in class %u of %zu", size, class, class_size);
		abd_test_check(
			class_size - size < (size <= 1024                   ? 64
						    : size < 4096           ? class_size / 5 + 1
						    : class_size / 5 < 4096 ? 4096
									    : class_size / 5 + 1),
			"%zu in class %u of %zu", size, class, class_size);
		abd_test_check(
			class >= last && class <= last + 4, "class %u after %u", class, last);
		abd_test_check(size_of_class[class] == 0 || size_of_class[class] == class_size,
			"class %u has %zu and %zu", class, size_of_class[class], class_size);
		size_of_class[class] = class_size;
		last = class;
	}
	cr_assert_eq(last, ABD_MEM_CACHE_CLASSES - 1);
	cr_assert_eq(size_of_class[0], 64);
	cr_assert_eq(size_of_class[ABD_MEM_CACHE_CLASSES - 1], ABD_MEM_CACHE_MAX);
}

Test(abd_mem, blocks_are_aligned_and_apart)
{
	unsigned char *blocks[600];
	size_t count = 0;

	for (size_t size = 1; count < 600; size += 1 + size / 16) {
		size_t wanted = size % 400000 + 1;
		unsigned char *block = abd_mem_cache_alloc(wanted);

		cr_assert_not_null(block);
		cr_assert_eq((uintptr_t)block % (wanted < 4096 ? 64 : 4096), 0);
		block[0] = block[wanted - 1] = (unsigned char)count;
		blocks[count++] = block;
	}
	count = 0;
	for (size_t size = 1; count < 600; size += 1 + size / 16, count++) {
		size_t wanted = size % 400000 + 1;

		cr_assert_eq(blocks[count][0], (unsigned char)count);
		cr_assert_eq(blocks[count][wanted - 1], (unsigned char)count);
		abd_mem_cache_free(blocks[count], wanted);
	}
}

Test(abd_mem, more_than_the_machine_has_is_refused)
{
	cr_assert_gt(abd_mem_bytes_max(), (size_t)16 << 20);
	cr_assert_null(abd_mem_alloc(abd_mem_bytes_max() + 1, 64));
	cr_assert_null(abd_mem_alloc(SIZE_MAX, 4096));
	cr_assert_null(abd_mem_cache_alloc(SIZE_MAX));
}

Test(abd_mem, the_hook_refuses_every_allocation)
{
	void *block = abd_mem_alloc(100, 64);

	cr_assert_not_null(block);
	abd_mem_free(block, 100, 64);
	abd_magazine_reap(); /* what is in reserve would be asked for */
	abd_test_fault_from(0);
	cr_assert_null(abd_mem_alloc(100, 64));
	cr_assert_null(abd_mem_cache_alloc(ABD_MEM_CACHE_MAX + 1));
	cr_assert_eq(abd_test_fault_end(), 2);
}

#if !ABD_CHECKED

enum { KEPT = 100 };

/* Have blocks of 128 bytes in reserve. */
static void keep_some(void)
{
	void *kept[KEPT];

	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = abd_mem_cache_alloc(128);
	for (unsigned i = 0; i < KEPT; i++)
		abd_mem_cache_free(kept[i], 128);
}

static atomic_int step;

static void *keep_and_wait(void *arg)
{
	keep_some();
	atomic_store(&step, 1);
	while (atomic_load(&step) < 2)
		sched_yield();
	return arg;
}

/* A refusal takes what is in reserve, of any size, first of this thread and then of others. */
static void expect_relief(const char *whose)
{
	abd_test_fault_at(0);
	void *block = abd_mem_cache_alloc(8192);

	abd_test_check(block != NULL && abd_test_fault_end() == 2, "what %s keep", whose);
	abd_mem_cache_free(block, 8192);
	abd_magazine_reap();
}

Test(abd_mem, a_refusal_takes_what_threads_have_in_reserve)
{
	pthread_t thread;

	if (abd_mem_cache_heap == NULL)
		return; /* in builds for checkers blocks are the C library's */
	abd_tuning_set("thread_cache_bytes", "8388608"); /* whatever the environment says */
	abd_magazine_reap();
	keep_some();
	expect_relief("it");
	atomic_store(&step, 0);
	usleep(20000); /* others are visited every 10 ms */
	cr_assert_eq(pthread_create(&thread, NULL, keep_and_wait, NULL), 0);
	while (atomic_load(&step) == 0)
		sched_yield();
	expect_relief("others");
	atomic_store(&step, 2);
	pthread_join(thread, NULL);
	abd_test_fault_at(0);
	cr_assert_null(abd_mem_cache_alloc(8192));
	cr_assert_eq(abd_test_fault_end(), 1);
}

#endif

/* Up to a region they lie in regions; a thread that keeps nothing gives them back at once. */
Test(abd_mem, large_blocks_are_whole_pages)
{
	static const size_t size[] = {ABD_MEM_CACHE_MAX + 1, 700000, 4 << 20, (4 << 20) + 1};

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		unsigned char *block = abd_mem_cache_alloc(size[i]);

		cr_assert_not_null(block);
		cr_assert_eq((uintptr_t)block % 4096, 0);
		memset(block, 1, size[i]);
		abd_mem_cache_free(block, size[i]);
	}
}
