/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of a heap of its own: when free memory goes back and when it stays, whose runs are taken
 * back, and what happens where the system refuses.
 */
#include "abd_age.h"
#include "abd_chunk.h"
#include "abd_mem.h"
#include "abd_region.h"
#include "abd_test.h"

#include <sched.h>

#define HALF 9 /* the order of a run of half a region */

static void *map(size_t *size)
{
	return abd_region_map(*size, ABD_REGION_SIZE, MADV_HUGEPAGE);
}

static struct abd_region_heap heap = ABD_REGION_HEAP(map, abd_region_unmap, true);
static struct abd_region_heap other = ABD_REGION_HEAP(map, abd_region_unmap, true);

enum { REGIONS = 4 };
static void *runs[REGIONS];

static size_t free_dirty(void)
{
	return heap.dirty_pages - heap.taken_pages;
}

/* Four regions, each with one run of half its size; the other half is free and dirty. No more than
 * a MiB is to stay. */
static void begin(void)
{
	void *gone[REGIONS];

	abd_test_tunables_restore();
	cr_assert_eq(abd_tuning_set("reserve_bytes", "4194304"), 0);
	/* Pinned: it would go back at once. */
	abd_region_pin(&heap, true);
	for (size_t i = 0; i < REGIONS; i++) {
		runs[i] = abd_region_alloc(&heap, HALF);
		gone[i] = abd_region_alloc(&heap, HALF);
		cr_assert(runs[i] != NULL && gone[i] != NULL);
	}
	for (size_t i = 0; i < REGIONS; i++)
		abd_region_free(&heap, gone[i], HALF);
	abd_region_pin(&heap, false);
	cr_assert_eq(free_dirty(), REGIONS << HALF);
}

static void end(void)
{
	for (size_t i = 0; i < REGIONS; i++)
		abd_region_free(&heap, runs[i], HALF);
	abd_region_reap(&heap);
	cr_assert_eq(heap.region_count, 0);
	cr_assert_eq(heap.dirty_pages, 0);
	cr_assert_eq(abd_tuning_set("reserve_bytes", "67108864"), 0);
}

/* Only a new region has room for it. */
static void grow(void)
{
	void *run = abd_region_alloc(&heap, ABD_CHUNK_ORDER_MAX);

	cr_assert_not_null(run);
	abd_region_free(&heap, run, ABD_CHUNK_ORDER_MAX);
}

Test(abd_region, what_is_free_goes_back_down_to_the_floor_when_more_is_wanted, .init = begin,
	.fini = end)
{
	grow();
	/* The run that was wanted is free by now. */
	cr_assert_leq(free_dirty(), ABD_REGION_PAGES + (1u << 20 >> ABD_CHUNK_SHIFT));
}

Test(abd_region, nothing_goes_back_while_it_is_pinned, .init = begin, .fini = end)
{
	abd_region_pin(&heap, true);
	grow();
	abd_region_age(&heap);
	abd_region_age(&heap);
	abd_region_reap(&heap);
	cr_assert_eq(free_dirty(), (REGIONS << HALF) + ABD_REGION_PAGES);
	abd_region_pin(&heap, false);
}

/* As if another thread were at it. */
Test(abd_region, one_thread_gives_back_and_no_other_waits_for_it, .init = begin, .fini = end)
{
	pthread_mutex_lock(&heap.purge_lock);
	grow();
	abd_region_age(&heap);
	cr_assert_eq(free_dirty(), (REGIONS << HALF) + ABD_REGION_PAGES);
	pthread_mutex_unlock(&heap.purge_lock);
	abd_region_age(&heap);
	abd_region_age(&heap);
	cr_assert_leq(free_dirty(), 1u << 20 >> ABD_CHUNK_SHIFT);
}

Test(abd_region, it_is_trimmed_to_a_number_of_bytes, .init = begin, .fini = end)
{
	cr_assert_eq(abd_region_idle(&heap), (REGIONS << HALF) << ABD_CHUNK_SHIFT);
	abd_region_trim(&heap, (REGIONS << HALF) << ABD_CHUNK_SHIFT, SIZE_MAX);
	cr_assert_eq(free_dirty(), REGIONS << HALF, "it has no more than that");
	pthread_mutex_lock(&heap.purge_lock);
	abd_region_trim(&heap, 1 << 20, SIZE_MAX);
	cr_assert_eq(free_dirty(), REGIONS << HALF, "another thread is at it");
	pthread_mutex_unlock(&heap.purge_lock);
	abd_region_pin(&heap, true);
	abd_region_trim(&heap, 1 << 20, SIZE_MAX);
	cr_assert_eq(free_dirty(), REGIONS << HALF, "pinned");
	abd_region_pin(&heap, false);
	abd_region_trim(&heap, 1 << 20, 1 << 20);
	cr_assert_lt(free_dirty(), REGIONS << HALF);
	cr_assert_geq(free_dirty() + ABD_REGION_PAGES, REGIONS << HALF, "a region, no more");
	abd_region_trim(&heap, 1 << 20, SIZE_MAX);
	cr_assert_leq(abd_region_idle(&heap), 1 << 20);
}

/* Pages here and there, of huge pages that are nearly full: whoever asks for a number gets it. */
Test(abd_region, huge_pages_are_split_when_it_is_trimmed, .init = begin, .fini = end)
{
	enum { PAGES = 1u << HALF };
	static void *page[PAGES];

	abd_region_reap(&heap);
	for (unsigned i = 0; i < PAGES; i++)
		page[i] = abd_region_alloc(&heap, 0);
	for (unsigned i = 0; i < PAGES; i += 32)
		abd_region_free(&heap, page[i], 0);
	abd_region_age(&heap);
	abd_region_age(&heap);
	cr_assert_geq(free_dirty(), PAGES / 32);
	abd_region_trim(&heap, 0, SIZE_MAX);
	cr_assert_eq(free_dirty(), 0);
	for (unsigned i = 0; i < PAGES; i++)
		if (i % 32 != 0)
			abd_region_free(&heap, page[i], 0);
}

Test(abd_region, another_heaps_runs_are_not_taken_back, .init = begin, .fini = end)
{
	size_t taken = heap.taken_pages;

	abd_test_expect_contract(abd_region_free(&other, runs[0], HALF), "no run of 512 pages");
	abd_test_expect_contract(abd_region_free(&heap, &taken, 0), "no run of 1 pages");
	cr_assert_eq(heap.taken_pages, taken);
	cr_assert_eq(other.taken_pages, 0);
}

/* Runs of any number of pages: apart, and what is left of each is free. */
Test(abd_region, runs_of_any_length_lie_apart)
{
	enum { MOST = 90 };
	void *run[MOST];
	size_t taken = 0;

	for (size_t n = 1; n < MOST; n++) {
		cr_assert_eq(abd_region_alloc_many(&other, &run[n], 1, n), 1);
		memset(run[n], (int)n, n << ABD_CHUNK_SHIFT);
		cr_assert_eq(other.taken_pages, taken += n);
	}
	for (size_t n = 1; n < MOST; n++) {
		const unsigned char *byte = run[n];

		cr_assert(byte[0] == n && byte[(n << ABD_CHUNK_SHIFT) - 1] == n);
		abd_region_free_many(&other, &run[n], 1, n);
		cr_assert_eq(other.taken_pages, taken -= n);
	}
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
	cr_assert_eq(other.dirty_pages, 0);
}

/* Several at once: none for which a region would have to be made, unless it is the first. */
Test(abd_region, many_runs_are_taken_as_far_as_there_are_regions)
{
	void *run[16];

	cr_assert_eq(abd_region_alloc_many(&other, run, 16, ABD_REGION_PAGES / 8), 8);
	abd_region_free_many(&other, run, 8, ABD_REGION_PAGES / 8);
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
}

/* The system can't say what is resident where nothing is mapped. */
Test(abd_region, what_the_system_does_not_tell_counts_as_nothing)
{
	char *run = abd_region_alloc(&other, ABD_CHUNK_ORDER_MAX);

	cr_assert_not_null(run);
	memset(run, 1, ABD_CHUNK_SIZE);
	cr_assert_geq(abd_region_resident(&other), ABD_CHUNK_SIZE);
	munmap(run, ABD_REGION_SIZE);
	cr_assert_eq(abd_region_resident(&other), 0);
	cr_assert_eq(mmap(run, ABD_REGION_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		run);
	abd_region_free(&other, run, ABD_CHUNK_ORDER_MAX);
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
}

/* A boundary that hardly a map lies at by chance, so that the system is asked twice. */
Test(abd_region, a_map_is_refused_or_lies_at_its_boundary)
{
	size_t alignment = (size_t)1 << 29;

	char *chance = NULL, *base = NULL;

	for (unsigned n = 1; n <= 2; n++) {
		abd_test_wrap_fail(ABD_TEST_MMAP, n);
		base = abd_region_map(ABD_REGION_SIZE, alignment, MADV_HUGEPAGE);
		if (base != NULL) { /* its neighbour does not lie there */
			chance = base;
			abd_test_wrap_fail(ABD_TEST_MMAP, n);
			base = abd_region_map(ABD_REGION_SIZE, alignment, MADV_HUGEPAGE);
		}
		cr_assert_null(base);
	}
	if (chance != NULL)
		munmap(chance, ABD_REGION_SIZE);
	base = abd_region_map(ABD_REGION_SIZE, alignment, MADV_HUGEPAGE);

	cr_assert_not_null(base);
	cr_assert_eq((uintptr_t)base % alignment, 0);
	munmap(base, ABD_REGION_SIZE);
}

Test(abd_region, a_region_is_refused_or_had)
{
	void *run;

	abd_test_fault_from(0);
	cr_assert_null(abd_region_alloc(&other, 0));
	abd_test_fault_end();
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	run = abd_region_alloc(&other, 0);
	abd_test_wrap_fail(ABD_TEST_MMAP, 0);
	/* What is known of it may have been what was refused. */
	cr_assert_null(run);
	run = abd_region_alloc(&other, 0);
	cr_assert_not_null(run);
	abd_region_free(&other, run, 0);
	abd_region_reap(&other);
}

/* One half of a region has been free for a period, the other has not. Of the reserve nothing stays.
 */
Test(abd_region, what_is_free_ages_page_by_page)
{
	char *one = abd_region_alloc(&other, HALF), *two = abd_region_alloc(&other, HALF);
	size_t half = (size_t)1 << HALF;

	cr_assert(one != NULL && two != NULL);
	abd_region_free(&other, one < two ? one : two, HALF);
	abd_region_age(&other);
	cr_assert_eq(other.dirty_pages, 2 * half);
	abd_region_free(&other, one < two ? two : one, HALF);
	abd_region_age(&other);
	cr_assert_eq(other.dirty_pages, half);
	abd_region_age(&other);
	cr_assert_eq(other.region_count, 0);
	cr_assert_eq(other.dirty_pages, 0);
}

/* ---- a system that takes nothing back ---- */

static uint64_t refusals(void)
{
	return abd_test_stats().refused_cnt;
}

/* A region with one run, which is free and resident. */
static void have_free_region(void)
{
	char *run = abd_region_alloc(&other, HALF);

	cr_assert_not_null(run);
	memset(run, 1, ABD_CHUNK_SIZE << HALF);
	abd_region_free(&other, run, HALF);
	cr_assert_eq(other.region_count, 1);
}

/* As at the limit of mappings: the pages go back at once, and the addresses later. */
Test(abd_region, what_can_not_be_unmapped_gives_its_pages_back_and_is_unmapped_later)
{
	uint64_t before = refusals();
	void *run;

	have_free_region();
	abd_test_wrap_refuse(1);
	abd_region_reap(&other);
	abd_test_wrap_refuse(0);
	cr_assert_eq(refusals(), before + 1);
	cr_assert_eq(other.region_count, 1);
	cr_assert_eq(other.dirty_pages, 0);
	cr_assert_eq(abd_region_resident(&other), 0);
	run = abd_region_alloc(&other, HALF);
	cr_assert_eq(other.region_count, 1, "it serves on");
	abd_region_free(&other, run, HALF);
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
	cr_assert_eq(refusals(), before + 1);
}

Test(abd_region, what_does_not_go_back_is_known_and_offered_again)
{
	for (unsigned whole = 0; whole < 2; whole++) {
		uint64_t before = refusals();
		char *kept = whole ? NULL : abd_region_alloc(&other, 0);
		size_t rest = whole ? 0 : 1;

		have_free_region();
		abd_test_wrap_refuse(3);
		errno = 77;
		abd_region_reap(&other);
		abd_region_shed(&other, NULL);
		abd_test_wrap_refuse(0);
		cr_assert_eq(errno, 77);
		cr_assert_gt(refusals(), before);
		cr_assert_geq(abd_region_idle(&other), ABD_CHUNK_SIZE << HALF);
		abd_region_age(&other);
		abd_region_age(&other);
		cr_assert_eq(other.dirty_pages - rest, abd_region_idle(&other) >> ABD_CHUNK_SHIFT);
		cr_assert_lt(abd_region_idle(&other), ABD_CHUNK_SIZE << HALF);
		if (kept != NULL)
			abd_region_free(&other, kept, 0);
		abd_region_reap(&other);
		cr_assert_eq(other.region_count, 0);
		cr_assert_eq(other.dirty_pages, 0);
	}
}

Test(abd_region, locked_memory_goes_back)
{
	char *kept = abd_region_alloc(&other, 0), *run = abd_region_alloc(&other, 4);

	memset(run, 1, ABD_CHUNK_SIZE << 4);
	*kept = 1;
	/* qemu-user says yes to what it does not know, and does nothing. */
	if (mlock(run, ABD_CHUNK_SIZE << 4) == 0 && madvise(run, ABD_CHUNK_SIZE, 24) == 0 &&
		*(volatile char *)run == 0) {
		uint64_t before = refusals();

		abd_region_free(&other, run, 4);
		abd_region_reap(&other);
		cr_assert_leq(abd_region_resident(&other), ABD_CHUNK_SIZE);
		cr_assert_eq(refusals(), before);
		run = NULL;
	}
	if (run != NULL)
		abd_region_free(&other, run, 4);
	abd_region_free(&other, kept, 0);
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
}

/* ---- addresses that can't be looked up ---- */

static size_t unmapped;

static void *map_beyond(size_t *size)
{
	return (void *)(UINTPTR_MAX / 2 / *size * *size);
}

static bool unmap_beyond(void *base, size_t size)
{
	unmapped += base == map_beyond(&size) && size == ABD_REGION_SIZE;
	return true;
}

Test(abd_region, a_map_where_nothing_can_be_looked_up_is_given_back)
{
	static struct abd_region_heap beyond = ABD_REGION_HEAP(map_beyond, unmap_beyond, true);

	if (sizeof(void *) == 4)
		cr_skip_test("all addresses can be looked up");
	unmapped = 0;
	cr_assert_null(abd_region_alloc(&beyond, 0));
	cr_assert_eq(unmapped, 1);
	cr_assert_eq(beyond.region_count, 0);
}

/* ---- runs that come back while memory goes back ---- */

enum { ROUNDS = 3000, LARGE = 8 };
static atomic_bool reaps;

static void *reap_always(void *arg)
{
	while (atomic_load(&reaps))
		abd_region_reap(&other);
	return arg;
}

Test(abd_region, runs_are_taken_and_freed_while_their_region_is_given_back)
{
	pthread_t thread;
	char *kept = abd_region_alloc(&other, 0); /* the region stays */

	cr_assert_not_null(kept);
	*kept = 1;
	atomic_store(&reaps, true);
	cr_assert_eq(pthread_create(&thread, NULL, reap_always, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		char *large = abd_region_alloc(&other, LARGE), *small = abd_region_alloc(&other, 0);

		abd_test_check(large != NULL && small != NULL, "no run");
		memset(large, 2, ABD_CHUNK_SIZE << LARGE);
		*small = 3;
		abd_region_free(&other, large, LARGE);
		abd_test_check(*small == 3, "a taken page went back");
		sched_yield();
		abd_region_free(&other, small, 0);
	}
	atomic_store(&reaps, false);
	pthread_join(thread, NULL);
	cr_assert_eq(*kept, 1);
	cr_assert_eq(other.taken_pages, 1);
	abd_region_free(&other, kept, 0);
	abd_region_reap(&other);
	cr_assert_eq(other.region_count, 0);
	cr_assert_eq(other.dirty_pages, 0);
}

Test(abd_region, what_a_growing_heap_gives_back_can_be_deferred)
{
	begin();
	size_t before = free_dirty();
	bool was = abd_age_defer(true);
	void *run = abd_region_alloc(&heap, ABD_CHUNK_ORDER_MAX);

	cr_assert_not(was);
	cr_assert_not_null(run);
	cr_assert_eq(free_dirty(), before);
	abd_region_settle(&heap);
	cr_assert(abd_age_defer(false));
	cr_assert_leq(free_dirty(), before / 2);
	abd_region_free(&heap, run, ABD_CHUNK_ORDER_MAX);
	end();
}
