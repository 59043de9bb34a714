/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from jemalloc's regions: they do not overlap, are aligned, and are given back.
 */
#include "abd_chunk.h"
#include "abd_region.h"
#include "abd_test.h"

struct run {
	uint64_t *address;
	unsigned order;
};

static size_t resident_bytes(void)
{
	size_t total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%zu %zu", &total, &resident), 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Each chunk of a run is marked with its own address and a number of the run's. */
static void mark(const struct run *run, uint64_t number)
{
	for (size_t i = 0; i < (ABD_CHUNK_SIZE << run->order) / 8; i += ABD_CHUNK_SIZE / 8) {
		run->address[i] = (uintptr_t)&run->address[i];
		run->address[i + 511] = number;
	}
}

static bool is_marked(const struct run *run, uint64_t number)
{
	for (size_t i = 0; i < (ABD_CHUNK_SIZE << run->order) / 8; i += ABD_CHUNK_SIZE / 8)
		if (run->address[i] != (uintptr_t)&run->address[i] ||
			run->address[i + 511] != number)
			return false;
	return true;
}

/* Random use; returns how many runs were damaged or misplaced. */
static void *churn(void *arg)
{
	enum { RUNS = 400, STEPS = 30000 };
	uint64_t seed = (uintptr_t)arg, faults = 0;
	struct run *runs = calloc(RUNS, sizeof(*runs));

	for (int step = 0; step < STEPS; step++) {
		size_t i = abd_test_random(&seed) % RUNS;
		uint64_t number = (uint64_t)(uintptr_t)arg << 32 | i;

		if (runs[i].address != NULL) {
			faults += !is_marked(&runs[i], number);
			abd_region_free(abd_chunk_jemalloc.heap, runs[i].address, runs[i].order);
			runs[i].address = NULL;
			continue;
		}
		/* Low orders mostly, as buffers have them. */
		runs[i].order = (unsigned)__builtin_ctzll(
			abd_test_random(&seed) | 1u << ABD_CHUNK_ORDER_MAX);
		runs[i].address = abd_region_alloc(abd_chunk_jemalloc.heap, runs[i].order);
		faults +=
			runs[i].address == NULL || (uintptr_t)runs[i].address % ABD_CHUNK_SIZE != 0;
		mark(&runs[i], number);
	}
	for (size_t i = 0; i < RUNS; i++)
		if (runs[i].address != NULL)
			abd_region_free(abd_chunk_jemalloc.heap, runs[i].address, runs[i].order);
	free(runs);
	return (void *)(uintptr_t)faults;
}

Test(abd_chunk_jemalloc, threads_churning_runs_never_share_one)
{
	pthread_t threads[4];

	if (!abd_chunk_jemalloc.supported())
		cr_skip_test("this process has no jemalloc");
	for (uintptr_t i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
	for (int i = 0; i < 4; i++) {
		void *faults;

		pthread_join(threads[i], &faults);
		cr_assert_eq((uintptr_t)faults, 0);
	}
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

Test(abd_chunk_jemalloc, freeing_a_run_twice_is_a_broken_contract)
{
	if (!abd_chunk_jemalloc.supported())
		cr_skip_test("this process has no jemalloc");
	void *run = abd_region_alloc(abd_chunk_jemalloc.heap, 3),
	     *beside = abd_region_alloc(abd_chunk_jemalloc.heap, 0);

	abd_region_free(abd_chunk_jemalloc.heap, run, 3);
	abd_test_expect_contract(
		abd_region_free(abd_chunk_jemalloc.heap, run, 3), "no run of 8 pages");
	abd_region_free(abd_chunk_jemalloc.heap, beside, 0);
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
