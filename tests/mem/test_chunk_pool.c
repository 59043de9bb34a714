/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool as an engine sees it: buffers in one region, refusals that make buffers fall back,
 * figures that add up.
 */
#include "abd_chunk.h"
#include "abd_region.h"
#include "abd_test.h"

static void begin(void)
{
	abd_tuning_set("thread_cache_bytes", "0");
	abd_tuning_set("pool_size", "33554432");
	cr_assert_eq(abd_tuning_set("chunk_provider", "pool"), 0);
}

static void end(void)
{
	abd_tuning_set("thread_cache_bytes", "8388608");
	abd_tuning_set("chunk_provider", abd_chunk_malloc.heap == NULL ? "malloc" : "regions");
	abd_tuning_set("max_order", "10");
}

/* Blocks that checked builds hold back count as taken. */
static struct abd_pool_stats stats(void)
{
	struct abd_pool_stats now;

	abd_cache_reap_now();
	cr_assert_eq(abd_pool_stats_get(&now, sizeof(now)), 0);
	return now;
}

Test(abd_chunk_pool, runs_lie_in_the_region_and_come_back, .init = begin, .fini = end)
{
	void *base;
	size_t size;
	struct abd_pool_stats before = stats();

	cr_assert_eq(abd_pool_region(&base, &size), 0);
	cr_assert_eq((uintptr_t)base % (2u << 20), 0);
	cr_assert_eq(size, before.region_size);

	abd_t *abd = abd_alloc(3 << 20, false);
	struct iovec iov[8];
	size_t covered;
	int count = abd_to_iov(abd, 0, 3 << 20, iov, 8, &covered);

	cr_assert_eq(covered, 3u << 20);
	for (int i = 0; i < count; i++)
		cr_assert((char *)iov[i].iov_base >= (char *)base &&
			  (char *)iov[i].iov_base + iov[i].iov_len <= (char *)base + size);
	cr_assert_eq(stats().free_size, before.free_size - (3u << 20));
	abd_free(abd);

	struct abd_pool_stats after = stats();

	cr_assert_eq(memcmp(&before, &after, sizeof(after)), 0);
}

Test(abd_chunk_pool, a_full_pool_answers_out_of_memory_and_leaks_nothing, .init = begin,
	.fini = end)
{
	struct abd_pool_stats before = stats();
	size_t count = before.free_size / (1 << 20), made = 0;
	abd_t **abds = calloc(count + 1, sizeof(*abds));

	while (made <= count && (abds[made] = abd_alloc(1 << 20, false)) != NULL)
		made++;
	cr_assert_eq(made, count);
	cr_assert_eq(errno, ENOMEM);
	cr_assert_eq(stats().free_size, 0);
	for (size_t i = 0; i < made; i++)
		abd_free(abds[i]);
	free(abds);

	struct abd_pool_stats after = stats();

	cr_assert_eq(memcmp(&before, &after, sizeof(after)), 0);
}

Test(abd_chunk_pool, fragments_make_a_buffer_fall_back_to_lower_orders, .init = begin, .fini = end)
{
	size_t pages = stats().free_size / ABD_CHUNK_SIZE;
	abd_t **abds = calloc(pages, sizeof(*abds));

	/* All pages singly, then every second one given back: no run above order 0 is left. */
	for (size_t i = 0; i < pages; i++)
		abds[i] = abd_alloc(4096, false);
	for (size_t i = 0; i < pages; i++) {
		if ((uintptr_t)abd_to_buf(abds[i]) / 4096 % 2 == 0)
			continue;
		abd_free(abds[i]);
		abds[i] = NULL;
	}

	struct abd_pool_stats now = stats();

	cr_assert_eq(now.largest_free_run, 4096);
	cr_assert_eq(now.free_runs[0], pages / 2);

	abd_t *abd = abd_alloc(64 << 10, false);

	cr_assert_not_null(abd);
	cr_assert_not(abd_is_linear(abd));
	abd_verify(abd);
	abd_free(abd);
	for (size_t i = 0; i < pages; i++)
		abd_free(abds[i]);
	free(abds);
}

Test(abd_chunk_pool, its_size_is_settled_once_it_is_chosen, .init = begin, .fini = end)
{
	cr_assert_eq(abd_tuning_set("pool_size", "67108864"), -EINVAL);
	cr_assert_eq(abd_tuning_set("pool_size", "nonsense"), -EINVAL);
}

Test(abd_chunk_pool, records_of_other_sizes_are_served, .init = begin, .fini = end)
{
	uint64_t shorter = 0;
	struct {
		struct abd_pool_stats known;
		uint64_t later;
	} longer = {.later = 1};

	cr_assert_eq(abd_pool_stats_get((void *)&shorter, sizeof(shorter)), 0);
	cr_assert_eq(abd_pool_stats_get((void *)&longer, sizeof(longer)), 0);
	cr_assert_eq(shorter, longer.known.region_size);
	cr_assert_eq(longer.later, 0);
	cr_assert_eq(abd_pool_stats_get(&longer.known, 0), -EINVAL);
	cr_assert_eq(abd_pool_stats_get(&longer.known, 12), -EINVAL);
}

Test(abd_chunk_pool, what_this_thread_keeps_in_reserve_serves_single_pages, .init = begin,
	.fini = end)
{
	abd_t *abds[4096];
	size_t made = 0;

	abd_tuning_set("thread_cache_bytes", "8388608");
	while (made < 4096 && (abds[made] = abd_alloc(4 << 20, false)) != NULL)
		made++;
	cr_assert_gt(made, 0);
	/* Nothing is free now but what this goes to: the thread's magazine, as one run. */
	abd_free(abds[--made]);

	abd_t *page = abd_alloc(4096, false);

	/*
	 * Checked builds keep nothing in reserve, and hold what is freed in quarantine for a while.
	 */
	cr_assert(page != NULL || ABD_CHECKED);
	abd_free(page);
	while (made > 0)
		abd_free(abds[--made]);
}

Test(abd_chunk_pool, freeing_a_run_twice_is_a_broken_contract, .init = begin, .fini = end)
{
	cr_assert(abd_chunk_pool.supported());

	void *run = abd_region_alloc(abd_chunk_pool.heap, 2);

	abd_region_free(abd_chunk_pool.heap, run, 2);
	abd_test_expect_contract(abd_region_free(abd_chunk_pool.heap, run, 2), "no run of 4 pages");
}

ABD_TEST_CHILD(pool_takes_sizes)
{
	/* Pages have numbers of 32 bits; where addresses do, some go into the region's boundary. */
	bool is_64 = sizeof(size_t) == 8;
	const char *largest = is_64 ? "17592183947264" : "3221225472";

	abd_test_child_expect(abd_tuning_set("pool_size", largest) == 0);
	abd_test_child_expect(strcmp(abd_tuning_get("pool_size"), largest) == 0);
	abd_test_child_expect(
		abd_tuning_set("pool_size", is_64 ? "17592183947265" : "3221225473") == -EINVAL);
	abd_test_child_expect(
		abd_tuning_set("pool_size", is_64 ? "17592186044416" : "4294967296") == -EINVAL);
	abd_test_child_expect(strcmp(abd_tuning_get("pool_size"), largest) == 0);
	return 0;
}

Test(abd_chunk_pool, sizes_end_where_page_numbers_or_addresses_do)
{
	abd_test_child_passes("pool_takes_sizes", NULL);
}
