/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of providers, and which one is in use.
 */
#include "abd_chunk.h"
#include "abd_age.h"
#include "abd_region.h"

#include <abd/pool.h>
#include <assert.h>
#include <string.h>

static_assert(ABD_MEM_CACHE_CLASSES + ABD_CHUNK_PROVIDERS * ABD_CHUNK_ORDERS <= ABD_MAGAZINE_COUNT,
	"every provider and order has a magazine");

/* The first one is the default. Builds for checkers take blocks of the C library, because checkers
 * can't see into regions. */
#if ABD_CHUNK_SINGLE
#define ABD_CHUNK_FIRST &abd_chunk_malloc, &abd_chunk_regions
#else
#define ABD_CHUNK_FIRST &abd_chunk_regions, &abd_chunk_malloc
#endif

/* Providers added later fill the free places at the end. */
static const struct abd_chunk_provider *_Atomic abd_chunk_providers[ABD_CHUNK_PROVIDERS] = {
	ABD_CHUNK_FIRST,
	&abd_chunk_jemalloc,
	&abd_chunk_pool,
};
atomic_uint abd_chunk_provider_number = ABD_CHUNK_PROVIDERS;
static pthread_mutex_t abd_chunk_add_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct abd_chunk_provider *abd_chunk_provider(unsigned number)
{
	return atomic_load_explicit(&abd_chunk_providers[number], memory_order_acquire);
}

static size_t abd_chunk_source_alloc(void **runs, size_t count, size_t size, unsigned tag)
{
	const struct abd_chunk_provider *provider = abd_chunk_provider(tag >> 8);
	size_t had = 0;

	if (abd_mem_refused())
		return 0;
	if (provider->heap != NULL)
		return abd_region_alloc_many(provider->heap, runs, count, size >> ABD_CHUNK_SHIFT);
	while (had < count && (runs[had] = provider->alloc(tag & 0xff)) != NULL)
		had++;
	return had;
}

static void abd_chunk_source_free(void **runs, size_t count, size_t size, unsigned tag)
{
	const struct abd_chunk_provider *provider = abd_chunk_provider(tag >> 8);

	if (provider->heap != NULL) {
		abd_region_free_many(provider->heap, runs, count, size >> ABD_CHUNK_SHIFT);
		return;
	}
	for (size_t i = 0; i < count; i++)
		provider->free(runs[i], tag & 0xff);
}

const struct abd_source abd_chunk_source = {abd_chunk_source_alloc, abd_chunk_source_free};

void *abd_chunk_alloc_direct(unsigned provider, unsigned order)
{
	bool was = abd_age_defer(true);
	void *run = abd_source_alloc(
		&abd_chunk_source, ABD_CHUNK_SIZE << order, abd_chunk_tag(provider, order));

	(void)abd_age_defer(was);
	return run;
}

void abd_chunk_free_direct(unsigned provider, void *run, unsigned order)
{
	bool was = abd_age_defer(true);

	abd_chunk_source.free(&run, 1, ABD_CHUNK_SIZE << order, abd_chunk_tag(provider, order));
	(void)abd_age_defer(was);
}

void abd_chunk_settle(unsigned number)
{
	const struct abd_chunk_provider *provider = abd_chunk_provider(number);

	if (provider->heap != NULL)
		abd_region_settle(provider->heap);
	else
		abd_age_check(abd_age_now_ms());
}

int abd_chunk_provider_add(const struct abd_chunk_provider *provider)
{
	int error = -ENOSPC;

	pthread_mutex_lock(&abd_chunk_add_lock);
	for (unsigned i = 0; i < ABD_CHUNK_PROVIDERS; i++) {
		if (abd_chunk_provider(i) != NULL)
			continue;
		atomic_store_explicit(&abd_chunk_providers[i], provider, memory_order_release);
		error = 0;
		break;
	}
	pthread_mutex_unlock(&abd_chunk_add_lock);
	return error;
}

static int abd_chunk_provider_set(const char *name)
{
	for (unsigned i = 0; i < ABD_CHUNK_PROVIDERS; i++) {
		const struct abd_chunk_provider *provider = abd_chunk_provider(i);

		if (provider == NULL || strcmp(provider->name, name) != 0)
			continue;
		if (provider->supported != NULL && !provider->supported())
			return -EINVAL;
		atomic_store(&abd_chunk_provider_number, i);
		return 0;
	}
	return -EINVAL;
}

static const char *abd_chunk_provider_get(char *text, size_t size)
{
	(void)text, (void)size;
	return abd_chunk_provider(abd_chunk_provider_now())->name;
}

/* The environment is applied in this order, and choosing the pool reserves it. */
static const struct abd_tunable abd_chunk_tunable_table[] = {
	{.name = "pool_size", .set = abd_chunk_pool_size_set, .get = abd_chunk_pool_size_get},
	{.name = "chunk_provider", .set = abd_chunk_provider_set, .get = abd_chunk_provider_get},
};

size_t abd_chunk_resident(const struct abd_chunk_provider *provider)
{
	return provider->heap != NULL ? abd_region_resident(provider->heap) : 0;
}

size_t abd_chunk_resident_small(void)
{
	return abd_mem_cache_heap != NULL ? abd_region_resident(abd_mem_cache_heap) : 0;
}

static void abd_chunk_start(void)
{
	abd_magazine_tunables.start();
	atomic_store(&abd_chunk_provider_number, 0);
	abd_tunable_from_environment(&abd_chunk_tunables);
}

static void abd_chunk_tunables_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_chunk_start);
}

const struct abd_tunables abd_chunk_tunables = {
	abd_chunk_tunable_table,
	sizeof(abd_chunk_tunable_table) / sizeof(abd_chunk_tunable_table[0]),
	abd_chunk_tunables_start,
};

unsigned abd_chunk_provider_now(void)
{
	unsigned number = atomic_load_explicit(&abd_chunk_provider_number, memory_order_acquire);

	if (ABD_UNLIKELY(number == ABD_CHUNK_PROVIDERS)) {
		abd_chunk_tunables_start();
		number = atomic_load(&abd_chunk_provider_number);
	}
	return number;
}

size_t abd_chunk_bytes_max(void)
{
	struct abd_pool_stats pool;

	if (abd_chunk_provider(abd_chunk_provider_now()) != &abd_chunk_pool)
		return SIZE_MAX;
	abd_pool_stats_get(&pool, sizeof(pool));
	return (size_t)pool.region_size;
}

void abd_chunk_reap(void)
{
	abd_magazine_reap();
	abd_region_reap_all();
	for (unsigned i = 0; i < ABD_CHUNK_PROVIDERS; i++) {
		const struct abd_chunk_provider *provider = abd_chunk_provider(i);

		if (provider != NULL && provider->reap != NULL)
			provider->reap();
	}
}

bool abd_chunk_relieve(unsigned provider)
{
	return abd_magazine_relieve(&abd_chunk_source, provider);
}

size_t abd_chunk_idle(unsigned number)
{
	const struct abd_chunk_provider *provider = abd_chunk_provider(number);
	size_t idle = abd_mem_cache_heap != NULL ? abd_region_idle(abd_mem_cache_heap) : 0;

	return idle + (provider->heap != NULL ? abd_region_idle(provider->heap) : 0);
}

void abd_chunk_trim(unsigned number, bool reserves, size_t bytes, size_t most)
{
	const struct abd_chunk_provider *provider = abd_chunk_provider(number);

	abd_age_check(abd_age_now_ms());
	if (provider->heap == NULL)
		return;
	if (reserves)
		abd_chunk_relieve(number);
	abd_region_trim(provider->heap, bytes, most);
	if (abd_mem_cache_heap != NULL) {
		size_t idle = abd_region_idle(provider->heap);

		abd_region_trim(abd_mem_cache_heap, idle < bytes ? bytes - idle : 0, most);
	}
}
