/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers: runs of every order are aligned, do not overlap, and go back to where they came from.
 * The table takes one more provider, once.
 */
#include "abd_chunk.h"
#include "abd_test.h"

static void begin(void)
{
	/*
	 * As in test_chunk_pool.c, where it is filled: in one process, who comes first settles it.
	 */
	abd_tuning_set("pool_size", "33554432");
	abd_test_provider_begin();
}

static void end(void)
{
	abd_test_provider_end();
}

static void check_provider(const char *name)
{
	char *runs[ABD_CHUNK_ORDERS][3];

	if (abd_tuning_set("chunk_provider", name) != 0)
		return;
	cr_assert_str_eq(abd_tuning_get("chunk_provider"), name);

	unsigned provider = abd_chunk_provider_now();

	for (unsigned order = 0; order < ABD_CHUNK_ORDERS; order++)
		for (unsigned i = 0; i < 3; i++) {
			char *run = abd_chunk_alloc(provider, order);

			cr_assert_not_null(run, "%s, order %u", name, order);
			cr_assert_eq((uintptr_t)run % 4096, 0);
			run[0] = (char)order;
			run[(ABD_CHUNK_SIZE << order) - 1] = (char)i;
			runs[order][i] = run;
		}
	for (unsigned order = 0; order < ABD_CHUNK_ORDERS; order++)
		for (unsigned i = 0; i < 3; i++) {
			char *run = runs[order][i];

			cr_assert(run[0] == (char)order &&
				  run[(ABD_CHUNK_SIZE << order) - 1] == (char)i);
			abd_chunk_free(provider, run, order);
		}
	abd_chunk_reap();
}

TestSuite(abd_chunk, .init = begin, .fini = end);

Test(abd_chunk, every_provider_gives_runs_of_every_order)
{
	check_provider("jemalloc");
	check_provider("regions");
	check_provider("malloc");
	check_provider("pool");
	check_provider("test");
	abd_tuning_set("thread_cache_bytes", "100000000");
	check_provider("jemalloc");
	check_provider("regions");
	check_provider("malloc");
	check_provider("test");
	cr_assert_eq(abd_test_runs_out_all(), 0);
}

/* Runs without reserves, of providers with regions and without. */
static void check_trim(const char *name, bool has_regions)
{
	abd_tuning_set("chunk_provider", name);

	unsigned provider = abd_chunk_provider_now();
	char *run = abd_chunk_alloc_direct(provider, 8);

	cr_assert_not_null(run, "%s", name);
	memset(run, 1, ABD_CHUNK_SIZE << 8);
	abd_chunk_free_direct(provider, run, 8);
	abd_chunk_trim(provider, true, 0, SIZE_MAX);
	cr_assert_eq(abd_chunk_idle(provider), 0, "%s", name);
	run = abd_chunk_alloc_direct(provider, 8);
	abd_chunk_free_direct(provider, run, 8);
	cr_assert_eq(abd_chunk_idle(provider) > 0, has_regions, "%s", name);
	abd_chunk_trim(provider, false, (size_t)64 << 20, SIZE_MAX);
	cr_assert_eq(abd_chunk_idle(provider) > 0, has_regions, "%s", name);
}

Test(abd_chunk, a_provider_is_trimmed)
{
	check_trim("regions", true);
	check_trim("test", false);
}

/* So is what the size classes keep beside it, and it counts as the provider's. */
Test(abd_chunk, the_size_classes_are_trimmed_with_it)
{
	static abd_t *abd[4000];
	unsigned provider;

	abd_tuning_set("chunk_provider", "regions");
	provider = abd_chunk_provider_now();
	for (size_t i = 0; i < 4000; i++) {
		abd[i] = abd_alloc_linear(1000, false);
		abd_zero(abd[i], 1000);
	}
	abd_chunk_trim(provider, true, 0, SIZE_MAX);
	cr_assert_leq(abd_chunk_idle(provider), 1 << 20);
	for (size_t i = 0; i < 4000; i++)
		abd_free(abd[i]);
	abd_magazine_reap();
	if (abd_mem_cache_heap != NULL)
		cr_assert_gt(abd_chunk_idle(provider), 3000000);
	abd_chunk_trim(provider, true, 0, SIZE_MAX);
	cr_assert_leq(abd_chunk_idle(provider), 1 << 20);
}

Test(abd_chunk, a_buffer_remembers_its_provider)
{
	abd_t *abd = abd_alloc(5 << 12, false), *single = abd_alloc(4096, false);

	cr_assert_eq(abd_tuning_set("chunk_provider", "malloc"), 0);
	cr_assert_eq(abd_test_runs_out_all(), 3);
	abd_free(abd);
	abd_free(single);
	cr_assert_eq(abd_test_runs_out_all(), 0);
}

Test(abd_chunk, the_table_has_an_end)
{
	/* Behind those of the library and the one of the tests there is one place at most. */
	abd_chunk_provider_add(&abd_chunk_malloc);
	cr_assert_eq(abd_chunk_provider_add(&abd_chunk_malloc), -ENOSPC);
}

Test(abd_chunk, a_provider_that_is_not_there_is_not_taken)
{
	cr_assert_eq(abd_tuning_set("chunk_provider", "slab"), -EINVAL);
	cr_assert_eq(abd_tuning_set("chunk_provider", ""), -EINVAL);
	cr_assert_str_eq(abd_tuning_get("chunk_provider"), "test");
}
