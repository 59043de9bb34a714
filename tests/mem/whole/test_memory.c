/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory comes back: for every provider, the resident memory that the system reports is compared
 * with what buffers hold. Each test has a process of its own, and counts from what that process
 * began with.
 */
#include "abd_age.h"
#include "abd_chunk.h"
#include "abd_test.h"

#include <sys/resource.h>

#define MIB ((size_t)1 << 20)
#define expect(condition) abd_test_child_expect(condition)

/* The figure that was wrong, for whoever reads the failure. */
#define expect_at_most(figure, limit)                                                        \
	do {                                                                                 \
		size_t figure_ = (figure), limit_ = (limit);                                 \
		if (figure_ > limit_) {                                                      \
			fprintf(stderr, "%s:%d: %s is %zu KiB, not at most %zu\n", __FILE__, \
				__LINE__, #figure, figure_ >> 10, limit_ >> 10);             \
			return 1;                                                            \
		}                                                                            \
	} while (0)

static size_t began;

static size_t statm(unsigned field)
{
	size_t pages[2] = {0};
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%zu %zu", &pages[0], &pages[1]) != 2)
		abort();
	fclose(file);
	return pages[field] * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t resident(void)
{
	size_t now = statm(1);

	return now > began ? now - began : 0;
}

static abd_t *buffer(size_t size)
{
	abd_t *abd = abd_alloc(size, false);

	if (abd == NULL)
		abort();
	abd_zero(abd, size);
	return abd;
}

/* Each child begins with the provider that the environment names, and with what the test itself
 * holds. */
static void *begin(size_t count)
{
	abd_t **abds = calloc(count, sizeof(*abds));

	if (abds == NULL)
		abort();
	memset(abds, 1, count * sizeof(*abds)); /* resident from here on */
	memset(abds, 0, count * sizeof(*abds));
	abd_free(buffer(4096));
	abd_cache_reap_now();
	began = statm(1);
	return abds;
}

static void run(const char *child, bool with_pool)
{
	static const char *const providers[] = {"jemalloc", "regions", "malloc", "pool"};

	for (size_t i = 0; i < 4; i++) {
		char variable[64];

		if (abd_tuning_set("chunk_provider", providers[i]) != 0 && i < 3)
			continue;
		/* One by one from the C library, whose memory is the host's. */
		if ((i == 2 && abd_chunk_malloc.heap == NULL) || (i == 3 && !with_pool))
			continue;
		snprintf(variable, sizeof(variable), "ABD_CHUNK_PROVIDER=%s", providers[i]);
		abd_test_child_passes(
			child, (const char *[]){variable, "ABD_POOL_SIZE=1073741824", NULL});
	}
	abd_test_tunables_restore();
}

/* Whether what is resident can be counted here: an emulator's and a checker's own memory would be,
 * and checked builds keep. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_A_SANITIZER 1
#elif defined(__has_feature)
#define UNDER_A_SANITIZER                                                       \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
		__has_feature(memory_sanitizer))
#else
#define UNDER_A_SANITIZER 0
#endif

static bool countable(void)
{
#if UNDER_A_SANITIZER
	return false;
#else
	return !ABD_CHECKED && getenv("ABD_TEST_EMULATOR") == NULL && sizeof(void *) == 8;
#endif
}

ABD_TEST_CHILD(memory_sparse)
{
	enum { COUNT = 65536 };
	abd_t **abds = begin(COUNT);
	size_t kept = 0;

	for (size_t i = 0; i < COUNT; i++)
		abds[i] = buffer(4096);
	expect(resident() > (size_t)COUNT * 4096);
	for (size_t i = 0; i < COUNT; i++) {
		if (i % 64 == 0) {
			kept++;
			continue;
		}
		abd_free(abds[i]);
		abds[i] = NULL;
	}
	abd_cache_reap_now();
	expect_at_most(resident(), kept * 4096 * 5 / 4 + 16 * MIB);
	for (size_t i = 0; i < COUNT; i += 64) {
		expect(abd_cmp_zero(abds[i], 4096) == 0);
		abd_free(abds[i]);
	}
	abd_cache_reap_now();
	/* glibc keeps what small blocks of malloc have freed, if one above them is in use: 13 MiB.
	 */
	expect_at_most(resident(), 16 * MIB);
	return 0;
}

Test(abd_memory, free_pages_between_taken_ones_go_back)
{
	if (countable())
		run("memory_sparse", true);
}

ABD_TEST_CHILD(memory_churn)
{
	enum { COUNT = 8192 };
	abd_t **abds = begin(COUNT);
	uint64_t seed = 5;
	size_t payload = 0;

	for (size_t step = 0; step < (size_t)6 * COUNT; step++) {
		size_t i = abd_test_random(&seed) % COUNT;

		abd_free(abds[i]);
		abds[i] = buffer((size_t)4096 << abd_test_random(&seed) % 5);
	}
	for (size_t i = 0; i < COUNT; i++) {
		if (abds[i] != NULL && abd_test_random(&seed) % 20 != 0) {
			abd_free(abds[i]);
			abds[i] = NULL;
		}
		payload += abds[i] != NULL ? abd_get_size(abds[i]) : 0;
	}
	abd_cache_reap_now();
	expect_at_most(resident(), payload * 5 / 4 + 16 * MIB);
	return 0;
}

Test(abd_memory, what_churn_leaves_behind_goes_back)
{
	if (countable())
		run("memory_churn", true);
}

ABD_TEST_CHILD(memory_shift)
{
	enum { SMALL = 65536, LARGE = 256 };
	abd_t **abds = begin(SMALL + LARGE);
	size_t payload = (size_t)SMALL * 4096, most = 0;
	uint64_t seed = 9;

	for (size_t i = 0; i < SMALL; i++)
		abds[i] = buffer(4096);
	for (size_t i = SMALL; i-- > 1;) { /* in any order */
		size_t j = abd_test_random(&seed) % (i + 1);
		abd_t *abd = abds[i];

		abds[i] = abds[j];
		abds[j] = abd;
	}
	for (size_t i = 0; i < LARGE; i++) {
		for (size_t j = 0; j < 256; j++)
			abd_free(abds[i * 256 + j]);
		abds[SMALL + i] = buffer(MIB);
		most = resident() > most ? resident() : most;
	}
	/* A quarter of reserve_bytes lies in regions, half in magazines and depot. */
	expect_at_most(most, payload * 5 / 4 + 16 * MIB);
	return 0;
}

Test(abd_memory, sizes_that_shift_do_not_add_up)
{
	if (countable())
		run("memory_shift", true);
}

/* What linear buffers leave behind goes back when runs are wanted, and the other way round. */
ABD_TEST_CHILD(memory_kinds)
{
	enum { LINEAR = 175000, RUNS = 256, ROUNDS = 2 };
	abd_t **abds = begin(LINEAR);
	size_t payload = RUNS * MIB;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < LINEAR; i++) {
			abds[i] = abd_alloc_linear(1536, false);
			expect(abds[i] != NULL);
			abd_zero(abds[i], 1536);
		}
		expect_at_most(resident(), payload * 5 / 4 + 16 * MIB);
		for (size_t i = 0; i < LINEAR; i++)
			abd_free(abds[i]);
		for (size_t i = 0; i < RUNS; i++)
			abds[i] = buffer(MIB);
		expect_at_most(resident(), payload * 5 / 4 + 16 * MIB);
		for (size_t i = 0; i < RUNS; i++)
			abd_free(abds[i]);
	}
	return 0;
}

Test(abd_memory, kinds_that_take_turns_do_not_add_up)
{
	if (countable())
		run("memory_kinds", false);
}

static int burst(size_t count, size_t size, bool linear)
{
	abd_t **abds = begin(count);

	expect(abd_tuning_set("reserve_ms", "120") == 0);
	for (size_t i = 0; i < count; i++) {
		abds[i] = linear ? abd_alloc_linear(size, false) : abd_alloc(size, false);
		expect(abds[i] != NULL);
		abd_zero(abds[i], size);
	}
	for (size_t i = 0; i < count; i++)
		abd_free(abds[i]);

	size_t limit = 64 * MIB;
	uint64_t begun = abd_age_now_ms(), patience = linear ? 13000 : 2000;

	/* The program goes on with another size, which its magazines serve alone. */
	while (abd_age_now_ms() - begun < 150 ||
		(resident() > limit && abd_age_now_ms() - begun < patience))
		for (unsigned i = 0; i < 100; i++)
			abd_free(abd_alloc(512, false));
	expect_at_most(resident(), limit);
	return 0;
}

ABD_TEST_CHILD(memory_burst_large)
{
	return burst(500, MIB, false);
}

ABD_TEST_CHILD(memory_burst_small)
{
	return burst(2000, 128 << 10, false);
}

ABD_TEST_CHILD(memory_burst_linear)
{
	return burst(500, MIB, true);
}

Test(abd_memory, what_a_burst_leaves_behind_goes_back_in_time)
{
	if (!countable())
		return;
	run("memory_burst_large", true);
	run("memory_burst_small", true);
}

Test(abd_memory, so_does_what_a_burst_of_linear_buffers_leaves_behind)
{
	if (countable())
		abd_test_child_passes("memory_burst_linear", NULL);
}

static size_t told(void)
{
	struct abd_stats stats;

	if (abd_stats_get(&stats, sizeof(stats)) != 0)
		abort();
	return stats.resident_regions + stats.resident_jemalloc + stats.resident_malloc +
	       stats.resident_pool;
}

/* To 3 %: full, in pieces, and after a reap. */
ABD_TEST_CHILD(memory_told)
{
	enum { COUNT = 32768 };
	void **runs = begin(COUNT);
	unsigned provider = abd_chunk_provider_now();

	size_t first = told();

	for (unsigned phase = 0; phase < 3; phase++) {
		for (size_t i = 0; phase == 0 && i < COUNT; i++) {
			runs[i] = abd_chunk_alloc(provider, 0);
			expect(runs[i] != NULL);
			memset(runs[i], 1, 4096);
		}
		for (size_t i = 0; phase == 1 && i < COUNT; i++)
			if (i % 4 != 0)
				abd_chunk_free(provider, runs[i], 0);
		if (phase == 2)
			abd_cache_reap_now();

		size_t now = resident(), said = told() - first;

		expect(said > (size_t)COUNT * 4096 / 5);
		/* What the library knows of its regions is resident, too. */
		expect_at_most(said > now ? said - now : now - said, now * 3 / 100 + MIB);
	}
	return 0;
}

Test(abd_memory, what_is_resident_is_told)
{
	if (countable())
		run("memory_told", true);
}

ABD_TEST_CHILD(memory_told_small)
{
	enum { COUNT = 40000, SIZE = 1000 };
	void **bufs = begin(COUNT);
	uint64_t first = abd_test_stats().resident_small;

	for (size_t i = 0; i < COUNT; i++) {
		bufs[i] = abd_buf_alloc(SIZE, false);
		expect(bufs[i] != NULL);
		memset(bufs[i], 1, SIZE);
	}

	size_t said = abd_test_stats().resident_small - first;

	expect(said >= (size_t)COUNT * SIZE);
	expect_at_most(said, (size_t)COUNT * SIZE * 5 / 4 + MIB);
	for (size_t i = 0; i < COUNT; i++)
		abd_buf_free(bufs[i], SIZE);
	abd_cache_reap_now();
	expect_at_most(abd_test_stats().resident_small, first + 4 * MIB);
	return 0;
}

Test(abd_memory, what_small_memory_takes_is_told)
{
	if (countable())
		run("memory_told_small", true);
}

/* ---- threads that sleep ---- */

enum { SLEEPERS = 140 };
static pthread_barrier_t sleepers;

static void *sleeper(void *arg)
{
	abd_t *abd[64];

	for (size_t i = 0; i < 64; i++)
		abd[i] = abd_alloc(128 << 10, false);
	for (size_t i = 0; i < 64; i++)
		abd_free(abd[i]);
	pthread_barrier_wait(&sleepers);
	pthread_barrier_wait(&sleepers);
	return arg;
}

ABD_TEST_CHILD(memory_sleepers)
{
	pthread_t thread[SLEEPERS];
	abd_t *abds[256];
	size_t made = 0;

	pthread_barrier_init(&sleepers, NULL, SLEEPERS + 1);
	for (size_t i = 0; i < SLEEPERS; i++)
		expect(pthread_create(&thread[i], NULL, sleeper, NULL) == 0);
	pthread_barrier_wait(&sleepers);
	/* Looking at others is rationed: a refusal may need a second question some milliseconds
	 * later. */
	for (unsigned refused = 0; made < 256 && refused < 100;) {
		abds[made] = abd_alloc(MIB, false);
		if (abds[made] != NULL) {
			made++;
			continue;
		}
		refused++;
		usleep(2000);
	}
	expect(made == 128);
	for (size_t i = 0; i < made; i++)
		abd_free(abds[i]);
	pthread_barrier_wait(&sleepers);
	for (size_t i = 0; i < SLEEPERS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* All of it: what one thread holds in reserve is another's when it is asked for. */
Test(abd_memory, a_pool_whose_threads_sleep_serves_others_whole)
{
	if (!ABD_CHECKED && getenv("ABD_TEST_EMULATOR") == NULL)
		abd_test_child_passes("memory_sleepers",
			(const char *[]){"ABD_CHUNK_PROVIDER=pool", "ABD_POOL_SIZE=134217728",
				"ABD_RESERVE_BYTES=1073741824", NULL});
}

/* ---- overhead and address space ---- */

ABD_TEST_CHILD(memory_overhead)
{
	enum { COUNT = 32768 };
	void **runs = begin(COUNT);
	unsigned provider = abd_chunk_provider_now();

	for (size_t i = 0; i < COUNT; i++) {
		runs[i] = abd_chunk_alloc(provider, 0);
		expect(runs[i] != NULL);
		memset(runs[i], 1, 4096);
	}
	expect_at_most(resident(), (size_t)COUNT * 4096 * 105 / 100);
	return 0;
}

Test(abd_memory, a_page_costs_a_page)
{
	if (countable())
		run("memory_overhead", true);
}

ABD_TEST_CHILD(memory_addresses)
{
	enum { SIZE = 5000, COUNT = 60000 };
	abd_t **abds = begin(COUNT);
	size_t before = statm(0), made = 0;
	struct rlimit limit = {before + 300 * MIB, before + 300 * MIB};

	expect_at_most(before, 400 * MIB);
	expect(setrlimit(RLIMIT_AS, &limit) == 0);
	while (made < COUNT && (abds[made] = abd_alloc(SIZE, false)) != NULL)
		made++;
	expect(made > 10000 && made < COUNT);
	for (size_t i = 0; i < made; i++)
		abd_free(abds[i]);
	abd_cache_reap_now();

	void *host = malloc(200 * MIB);

	expect(host != NULL);
	free(host);

	size_t again = 0;

	while (again < COUNT && (abds[again] = abd_alloc(SIZE, false)) != NULL)
		again++;
	expect(again >= made - made / 20);
	return 0;
}

Test(abd_memory, what_fitted_once_fits_again)
{
	/* jemalloc keeps addresses. */
	if (countable() && abd_chunk_malloc.heap != NULL) {
		abd_test_child_passes(
			"memory_addresses", (const char *[]){"ABD_CHUNK_PROVIDER=regions", NULL});
		abd_test_child_passes(
			"memory_addresses", (const char *[]){"ABD_CHUNK_PROVIDER=malloc", NULL});
	}
}

ABD_TEST_CHILD(memory_large_pool)
{
	begin(1);
	expect(abd_tuning_set("pool_size", "1099511627776") == 0);
	if (abd_tuning_set("chunk_provider", "pool") != 0)
		return 0; /* out of addresses is an answer, too */
	abd_free(buffer(MIB));
	expect_at_most(resident(), 8 * MIB);
	return 0;
}

Test(abd_memory, a_pool_of_a_tebibyte_costs_what_is_used)
{
	if (countable())
		abd_test_child_passes("memory_large_pool", NULL);
}

ABD_TEST_CHILD(memory_held_pool)
{
	void *base;
	size_t size;

	begin(1);
	expect(abd_chunk_pool_hold(&base, &size));
	memset(base, 1, size); /* as a registration does */
	expect(resident() >= size);
	abd_cache_reap_now();
	expect(resident() >= size);
	abd_chunk_pool_release();
	expect_at_most(resident(), 8 * MIB);
	return 0;
}

Test(abd_memory, a_pool_that_is_let_go_of_goes_back)
{
	if (countable())
		abd_test_child_passes(
			"memory_held_pool", (const char *[]){"ABD_CHUNK_PROVIDER=pool",
						    "ABD_POOL_SIZE=69206016", NULL});
}
