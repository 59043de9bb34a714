/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from one fixed region, huge-page advised: an engine that registers its memory (io_uring, RDMA) registers this region
 * once. Here fragmentation and refusal are real: what the region can't give is refused, and buffers fall back an order.
 *
 * The region is reserved when the pool is first chosen, pool_size bytes then, and stays for the life of the process. Its
 * memory is the system's until first touched. One lock; per-thread magazines are in front of it.
 */
#include "abd_buddy.h"
#include "abd_chunk.h"
#include "abd_contract.h"

#include <abd/pool.h>

#include <stdio.h>
#include <sys/mman.h>

#define ABD_POOL_HUGE ((size_t)2 << 20)
/* Pages are counted in 32 bits. */
#define ABD_POOL_SIZE_MAX \
	(((uint64_t)UINT32_MAX << ABD_CHUNK_SHIFT) & ~(uint64_t)(ABD_POOL_HUGE - 1))

static pthread_mutex_t abd_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_buddy abd_pool_buddy;
static char *abd_pool_base; /* NULL until reserved */
static size_t abd_pool_bytes;
static size_t abd_pool_size = (size_t)1 << 30; /* the tunable pool_size */

static void *abd_pool_map(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map != MAP_FAILED ? map : NULL;
}

/* The region at a huge page's boundary; what was mapped around it goes back. */
static char *abd_pool_map_aligned(size_t bytes)
{
	char *map = abd_pool_map(bytes + ABD_POOL_HUGE);

	if (map == NULL)
		return NULL;

	size_t before = -(uintptr_t)map & (ABD_POOL_HUGE - 1);

	if (before > 0)
		munmap(map, before);
	munmap(map + before + bytes, ABD_POOL_HUGE - before);
	madvise(map + before, bytes, MADV_HUGEPAGE); /* advice only */
	return map + before;
}

static void abd_pool_reserve(void)
{
	size_t bytes = abd_pool_size;
	uint32_t page_count = (uint32_t)(bytes >> ABD_CHUNK_SHIFT);
	struct abd_buddy_page *pages;
	char *base;

	if (abd_mem_refused())
		return;
	pages = abd_pool_map(page_count * sizeof(*pages));
	base = pages != NULL ? abd_pool_map_aligned(bytes) : NULL;
	if (base == NULL) {
		if (pages != NULL)
			munmap(pages, page_count * sizeof(*pages));
		return;
	}
	abd_buddy_init(&abd_pool_buddy, pages, page_count, ABD_CHUNK_ORDER_MAX);
	abd_pool_bytes = bytes;
	abd_pool_base = base;
}

/* Whether there is a region; the first question makes it. */
static bool abd_chunk_pool_supported(void)
{
	pthread_mutex_lock(&abd_pool_lock);
	if (abd_pool_base == NULL)
		abd_pool_reserve();

	bool there = abd_pool_base != NULL;

	pthread_mutex_unlock(&abd_pool_lock);
	return there;
}

static void *abd_chunk_pool_alloc(unsigned order)
{
	pthread_mutex_lock(&abd_pool_lock);
	uint32_t page = abd_buddy_alloc(&abd_pool_buddy, order);
	pthread_mutex_unlock(&abd_pool_lock);
	return page != ABD_BUDDY_NONE ? abd_pool_base + ((size_t)page << ABD_CHUNK_SHIFT) : NULL;
}

static void abd_chunk_pool_free(void *run, unsigned order)
{
	uint32_t page = (uint32_t)((size_t)((char *)run - abd_pool_base) >> ABD_CHUNK_SHIFT);

	pthread_mutex_lock(&abd_pool_lock);
	bool known = abd_buddy_free(&abd_pool_buddy, page, order);
	pthread_mutex_unlock(&abd_pool_lock);
	ABD_REQUIRE_IN("abd_free", known, "%p is no run of order %u of the pool", run, order);
}

/* Give the memory of free runs back, keeping the addresses. Whole huge pages only: splitting one costs more than it gives. */
static void abd_chunk_pool_reap(void)
{
	pthread_mutex_lock(&abd_pool_lock);
	for (unsigned order = 9; abd_pool_base != NULL && order <= ABD_CHUNK_ORDER_MAX; order++) {
		uint32_t page = abd_pool_buddy.free_first[order];

		for (; page != ABD_BUDDY_NONE; page = abd_pool_buddy.pages[page].next)
			madvise(abd_pool_base + ((size_t)page << ABD_CHUNK_SHIFT),
				ABD_CHUNK_SIZE << order, MADV_DONTNEED);
	}
	pthread_mutex_unlock(&abd_pool_lock);
}

const struct abd_chunk_provider abd_chunk_pool = {
	.name = "pool",
	.supported = abd_chunk_pool_supported,
	.alloc = abd_chunk_pool_alloc,
	.free = abd_chunk_pool_free,
	.reap = abd_chunk_pool_reap,
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

int abd_pool_region(void **base, size_t *size)
{
	ABD_REQUIRE(base != NULL && size != NULL, "where to put the answer is NULL");
	abd_chunk_tunables.start();
	if (!abd_chunk_pool_supported())
		return -ENOMEM;
	*base = abd_pool_base;
	*size = abd_pool_bytes;
	return 0;
}

int abd_pool_stats_get(struct abd_pool_stats *stats, size_t stats_size)
{
	struct abd_pool_stats all = {0};

	ABD_REQUIRE(stats != NULL, "record is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	pthread_mutex_lock(&abd_pool_lock);
	all.region_size = abd_pool_bytes;
	for (unsigned order = 0; order <= ABD_CHUNK_ORDER_MAX && abd_pool_base != NULL; order++) {
		size_t run_size = ABD_CHUNK_SIZE << order;

		all.free_runs[order] = abd_pool_buddy.free_runs[order];
		all.free_size += all.free_runs[order] * run_size;
		if (all.free_runs[order] > 0)
			all.largest_free_run = run_size;
	}
	pthread_mutex_unlock(&abd_pool_lock);
	abd_record_copy(stats, stats_size, &all, sizeof(all));
	return 0;
}
