/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs come from the C library. The page in front of each run remembers its order and is poisoned
 * under AddressSanitizer, so that a checker sees accesses beyond both ends. If a test asks for
 * adjacent runs, they come from one region instead; its space is reused only after all its runs are
 * freed.
 */
#include "abd_test.h"

#include "abd_chunk.h"
#include "abd_quarantine.h"

#include <abd/buffer.h>
#include <abd/tuning.h>

#define MAGIC 0x72756e2d69732d6dull
#define REGION_PAGES ((size_t)16384)

struct run_header {
	uint64_t magic;
	unsigned order;
};

static struct {
	uint32_t mask;
	const char *script;
	unsigned percent;
	uint64_t random;
	bool adjacent;
	uint64_t refusals;
	/* lost: runs that an earlier test did not free; that test has reported it */
	size_t out[ABD_CHUNK_ORDERS], lost[ABD_CHUNK_ORDERS];
	char *region;
	size_t region_next, region_out;
	uint8_t region_order[REGION_PAGES]; /* order + 1 where a run begins */
} state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void broken(const char *what, const void *run, unsigned order)
{
	fprintf(stderr, "test provider: %s: run %p, order %u\n", what, run, order);
	abort();
}

static bool refused(unsigned order)
{
	if ((state.mask >> order & 1) != 0)
		return true;
	if (state.script != NULL && *state.script != '\0')
		return *state.script++ == 'x';
	if (state.percent == 0 || order == 0)
		return false;
	state.random = state.random * 6364136223846793005u + 1442695040888963407u;
	return (state.random >> 33) % 100 < state.percent;
}

static void *region_alloc(unsigned order)
{
	size_t pages = (size_t)1 << order, page = state.region_next;

	if (state.region == NULL)
		state.region = mmap(NULL, REGION_PAGES * ABD_CHUNK_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (state.region == MAP_FAILED || page + pages > REGION_PAGES)
		return NULL;
	state.region_next += pages;
	state.region_out++;
	state.region_order[page] = (uint8_t)(order + 1);
	return state.region + page * ABD_CHUNK_SIZE;
}

static void region_free(char *run, unsigned order)
{
	size_t page = (size_t)(run - state.region) / ABD_CHUNK_SIZE;

	if (state.region_order[page] != order + 1)
		broken("freed with another order, or twice", run, order);
	state.region_order[page] = 0;
	if (--state.region_out == 0)
		state.region_next = 0;
}

static void *block_alloc(unsigned order)
{
	char *block = aligned_alloc(ABD_CHUNK_SIZE, ABD_CHUNK_SIZE + (ABD_CHUNK_SIZE << order));

	if (block == NULL)
		return NULL;
	*(struct run_header *)(void *)block = (struct run_header){MAGIC, order};
	abd_asan_poison(block, ABD_CHUNK_SIZE);
	return block + ABD_CHUNK_SIZE;
}

static void block_free(char *run, unsigned order)
{
	struct run_header *header = (struct run_header *)(void *)(run - ABD_CHUNK_SIZE);

	abd_asan_unpoison(header, ABD_CHUNK_SIZE);
	if (header->magic != MAGIC || header->order != order)
		broken("freed with another order, or twice", run, order);
	header->magic = 0;
	free(header);
}

static void *test_alloc(unsigned order)
{
	void *run = NULL;

	if (order >= ABD_CHUNK_ORDERS)
		broken("asked for an order that does not exist", NULL, order);
	pthread_mutex_lock(&lock);
	if (refused(order)) {
		state.refusals++;
	} else {
		run = state.adjacent ? region_alloc(order) : NULL;
		run = run != NULL ? run : block_alloc(order);
		state.out[order] += run != NULL;
	}
	pthread_mutex_unlock(&lock);
	return run;
}

static bool in_region(const char *run)
{
	return state.region != NULL && run >= state.region &&
	       run < state.region + REGION_PAGES * ABD_CHUNK_SIZE;
}

static void test_free(void *run, unsigned order)
{
	pthread_mutex_lock(&lock);
	if (in_region(run))
		region_free(run, order);
	else
		block_free(run, order);
	if (state.out[order]-- == 0)
		broken("more freed than taken", run, order);
	pthread_mutex_unlock(&lock);
}

static void test_reap(void)
{
}

static const struct abd_chunk_provider provider = {
	.name = "test",
	.alloc = test_alloc,
	.free = test_free,
	.reap = test_reap,
};

static void provider_add(void)
{
	if (abd_chunk_provider_add(&provider) != 0)
		broken("no place in the table", NULL, 0);
}

static void tunable(const char *name, const char *value)
{
	if (abd_tuning_set(name, value) != 0) {
		fprintf(stderr, "test support: %s can't be set to %s\n", name, value);
		abort();
	}
}

/*
 * Set a tunable to its value in a new process: from the environment, or the default. Gates use the
 * environment to force kernels and to switch reserves off.
 */
static void tunable_fresh(const char *name, const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	tunable(name, value != NULL ? value : otherwise);
}

void abd_test_tunables_restore(void)
{
	tunable("scatter_enabled", "1");
	tunable("scatter_min_size", "1536");
	tunable("max_order", "10");
	tunable("linear_page", "1");
	tunable_fresh("thread_cache_bytes", "ABD_THREAD_CACHE_BYTES", "8388608");
	tunable_fresh("compare", "ABD_COMPARE", "auto");
	tunable_fresh("copy", "ABD_COPY", "auto");
	tunable_fresh("zero", "ABD_ZERO", "auto");
	tunable_fresh("lz4", "ABD_LZ4", "auto");
	tunable_fresh("fletcher", "ABD_FLETCHER", "auto");
	tunable_fresh("crc32c", "ABD_CRC32C", "auto");
	tunable_fresh("xxh3", "ABD_XXH3", "auto");
	tunable_fresh("flush", "ABD_FLUSH", "auto");
	tunable_fresh("flush_auto", "ABD_FLUSH_AUTO", "auto");
	tunable_fresh("flush_shared", "ABD_FLUSH_SHARED", "auto");
	tunable_fresh("flush_exclusive", "ABD_FLUSH_EXCLUSIVE", "auto");
	tunable_fresh("flush_line", "ABD_FLUSH_LINE", "auto");
	tunable("chunk_provider", abd_chunk_malloc.heap == NULL ? "malloc" : "regions");
}

void abd_test_provider_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, provider_add);
	abd_test_refuse_nothing();
	abd_test_tunables_restore();
	tunable("thread_cache_bytes", "0");
	tunable("chunk_provider", "test");
	state.refusals = 0;
	abd_cache_reap_now();
	for (unsigned order = 0; order < ABD_CHUNK_ORDERS; order++)
		state.lost[order] = state.out[order];
	state.adjacent = false;
}

void abd_test_provider_end(void)
{
	abd_test_refuse_nothing();
	abd_test_tunables_restore();
	abd_cache_reap_now();
}

void abd_test_refuse_orders(uint32_t mask)
{
	state.mask |= mask;
}

void abd_test_refuse_script(const char *script)
{
	state.script = script;
}

void abd_test_refuse_random(uint64_t seed, unsigned percent)
{
	state.random = seed;
	state.percent = percent;
}

void abd_test_refuse_nothing(void)
{
	state.mask = 0;
	state.script = NULL;
	state.percent = 0;
}

void abd_test_runs_adjacent(bool adjacent)
{
	state.adjacent = adjacent;
}

size_t abd_test_runs_out(unsigned order)
{
	abd_cache_reap_now();
	return state.out[order] - state.lost[order];
}

size_t abd_test_runs_out_all(void)
{
	size_t all = 0;

	abd_cache_reap_now();
	for (unsigned order = 0; order < ABD_CHUNK_ORDERS; order++)
		all += state.out[order] - state.lost[order];
	return all;
}

uint64_t abd_test_refusals(void)
{
	return state.refusals;
}
