/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where jemalloc's regions are to be had, and that their memory goes back. What regions are made of
 * is the same for all providers.
 */
#include "abd_chunk.h"
#include "abd_region.h"
#include "abd_test.h"

static size_t resident_bytes(void)
{
	size_t total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%zu %zu", &total, &resident), 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

Test(abd_chunk_jemalloc, reaping_gives_memory_back_to_the_system)
{
	enum { RUNS = 64 };
	void *runs[RUNS];

	if (!abd_chunk_jemalloc.supported())
		cr_skip_test("this process has no jemalloc");
	for (int i = 0; i < RUNS; i++) {
		runs[i] = abd_region_alloc(abd_chunk_jemalloc.heap, 8);
		cr_assert_not_null(runs[i]);
		memset(runs[i], 1, ABD_CHUNK_SIZE << 8);
	}

	size_t full = resident_bytes();

	for (int i = 0; i < RUNS; i++)
		abd_region_free(abd_chunk_jemalloc.heap, runs[i], 8);
	abd_cache_reap_now();
	cr_assert_lt(resident_bytes(), full - ((size_t)48 << 20),
		"64 MiB were used; still %zu of %zu", resident_bytes(), full);
}

/* The others do nothing without it, which must not be how they pass. */
Test(abd_chunk_jemalloc, is_supported_in_every_program_that_asked_for_it)
{
	cr_assert_eq(abd_chunk_jemalloc.supported(), ABD_TEST_JEMALLOC);
}

ABD_TEST_CHILD(default_provider)
{
	const char *wanted = abd_chunk_malloc.heap == NULL ? "malloc" : "regions";

	unsetenv("ABD_CHUNK_PROVIDER");
	abd_test_child_expect(strcmp(abd_tuning_get("chunk_provider"), wanted) == 0);
	return 0;
}

Test(abd_chunk_jemalloc, regions_of_our_own_are_the_default)
{
	abd_test_child_passes("default_provider", NULL);
}
