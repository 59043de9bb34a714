/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from one fixed region, huge-page advised: an engine that registers its memory (io_uring,
 * RDMA) registers this region once. The region can be fragmented and can run out: the pool then
 * refuses an order, and the buffer takes runs of a lower one.
 *
 * The region is reserved when the pool is first chosen, with the pool_size of that moment, and
 * stays for the life of the process. The system gives a page of it memory only when the page is
 * first touched.
 * Regions of 4 MiB (abd_region.h) are cut from it as they are needed, so a large pool costs nothing
 * until it is used.
 */
#include "abd_contract.h"
#include "abd_mem.h"
#include "abd_region.h"

#include <abd/pool.h>

#include <stdio.h>
#include <sys/mman.h>

#define ABD_POOL_HUGE ((size_t)2 << 20)
/* Pages are counted in 32 bits, and the region is mapped with room to align it. */
#define ABD_POOL_SIZE_MAX \
	(sizeof(size_t) == 8 ? ((uint64_t)1 << 44) - ABD_POOL_HUGE : (uint64_t)3 << 30)

static pthread_mutex_t abd_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static char *abd_pool_base; /* NULL until reserved */
static size_t abd_pool_bytes;
static size_t abd_pool_cut;                    /* bytes at its end that are regions by now */
static unsigned abd_pool_holds;                /* held by callers that may have registered it */
static size_t abd_pool_size = (size_t)1 << 30; /* the tunable */

/* The pool's address must be aligned for regions, too. Regions are made as they come into use. */
static void abd_pool_reserve(void)
{
	size_t bytes = abd_pool_size;
	char *base;

	if (abd_mem_refused())
		return;
	base = abd_region_map(bytes, ABD_REGION_SIZE, MADV_HUGEPAGE);
	if (base == NULL)
		return;
	if (!abd_region_index_prepare(base, bytes)) {
		munmap(base, bytes);
		return;
	}
	abd_pool_bytes = bytes;
	abd_pool_base = base;
}

/* The next region, cut from the pool's end. The first one cut may be half as large. */
static void *abd_pool_cut_region(size_t *size)
{
	void *base = NULL;

	pthread_mutex_lock(&abd_pool_lock);
	size_t rest = abd_pool_bytes - abd_pool_cut;

	if (rest > 0) {
		*size = rest % ABD_REGION_SIZE > 0 ? rest % ABD_REGION_SIZE : ABD_REGION_SIZE;
		abd_pool_cut += *size;
		base = abd_pool_base + (rest - *size);
	}
	pthread_mutex_unlock(&abd_pool_lock);
	return base;
}

static struct abd_region_heap abd_pool_heap = ABD_REGION_HEAP(abd_pool_cut_region, NULL, true);

/* Whether the pool has its region; the first call reserves it. */
static bool abd_chunk_pool_supported(void)
{
	pthread_mutex_lock(&abd_pool_lock);
	if (abd_pool_base == NULL)
		abd_pool_reserve();

	bool there = abd_pool_base != NULL;

	pthread_mutex_unlock(&abd_pool_lock);
	return there;
}

const struct abd_chunk_provider abd_chunk_pool = {
	.name = "pool",
	.supported = abd_chunk_pool_supported,
	.heap = &abd_pool_heap,
};

int abd_chunk_pool_size_set(const char *value)
{
	uint64_t bytes;
	int error = -EINVAL;

	if (!abd_tunable_parse(value, ABD_POOL_HUGE, ABD_POOL_SIZE_MAX, &bytes))
		return -EINVAL;
	pthread_mutex_lock(&abd_pool_lock);
	if (abd_pool_base == NULL) {
		abd_pool_size = abd_round_up((size_t)bytes, ABD_POOL_HUGE);
		error = 0;
	}
	pthread_mutex_unlock(&abd_pool_lock);
	return error;
}

const char *abd_chunk_pool_size_get(char *text, size_t size)
{
	pthread_mutex_lock(&abd_pool_lock);
	snprintf(text, size, "%zu", abd_pool_size);
	pthread_mutex_unlock(&abd_pool_lock);
	return text;
}

bool abd_chunk_pool_hold(void **base, size_t *size)
{
	abd_chunk_tunables.start();
	if (!abd_chunk_pool_supported())
		return false;
	pthread_mutex_lock(&abd_pool_lock);
	abd_pool_holds++;
	abd_region_pin(&abd_pool_heap, true);
	pthread_mutex_unlock(&abd_pool_lock);
	*base = abd_pool_base;
	*size = abd_pool_bytes;
	return true;
}

/* Registering the pool, or trying to, makes all of it resident, also the part that is no region
 * yet. */
void abd_chunk_pool_release(void)
{
	ABD_KEEP_ERRNO;

	pthread_mutex_lock(&abd_pool_lock);
	if (--abd_pool_holds == 0) {
		abd_region_forget(abd_pool_base, abd_pool_bytes - abd_pool_cut);
		abd_region_unpin_resident(&abd_pool_heap);
	}
	pthread_mutex_unlock(&abd_pool_lock);
}

int abd_pool_region(void **base, size_t *size)
{
	ABD_REQUIRE(base != NULL, "base is NULL");
	ABD_REQUIRE(size != NULL, "size is NULL");
	return abd_chunk_pool_hold(base, size) ? 0 : -ENOMEM;
}

/* Free runs in the part of the pool that is no region yet. */
static void abd_pool_uncut_runs(uint64_t runs[ABD_CHUNK_ORDERS])
{
	size_t rest = abd_pool_bytes - abd_pool_cut;

	runs[ABD_CHUNK_ORDER_MAX] += rest >> ABD_REGION_SHIFT;
	for (unsigned order = 0; order < ABD_CHUNK_ORDER_MAX; order++)
		runs[order] += rest >> (ABD_CHUNK_SHIFT + order) & 1;
}

int abd_pool_stats_get(struct abd_pool_stats *stats, size_t stats_size)
{
	struct abd_pool_stats all = {0};

	ABD_REQUIRE(stats != NULL, "stats is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	abd_region_free_runs(&abd_pool_heap, all.free_runs);
	pthread_mutex_lock(&abd_pool_lock);
	all.region_size = abd_pool_bytes;
	abd_pool_uncut_runs(all.free_runs);
	pthread_mutex_unlock(&abd_pool_lock);
	for (unsigned order = 0; order <= ABD_CHUNK_ORDER_MAX; order++) {
		size_t run_size = ABD_CHUNK_SIZE << order;

		all.free_size += all.free_runs[order] * run_size;
		if (all.free_runs[order] > 0)
			all.largest_free_run = run_size;
	}
	abd_record_copy(stats, stats_size, &all, sizeof(all));
	return 0;
}
