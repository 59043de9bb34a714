/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from one fixed region, huge-page advised: an engine that registers its memory (io_uring,
 * RDMA) registers this region once. Here fragmentation and refusal are real: what the region can't
 * give is refused, and buffers fall back an order.
 *
 * The region is reserved when the pool is first chosen, as pool_size, pool_alignment and pool_node
 * are then, and stays for the life of the process. Its memory is the system's until first touched.
 * One lock; per-thread magazines are in front of it.
 */
#include "abd_buddy.h"
#include "abd_chunk_provider.h"
#include "abd_contract.h"

#include <abd/pool.h>

#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ABD_POOL_HUGE ((size_t)2 << 20)
#define ABD_POOL_ALIGNMENT_MAX ((uint64_t)1 << 30)
/* Pages are counted in 32 bits, and the region is mapped with room to align it. */
#define ABD_POOL_SIZE_MAX                                                        \
	((sizeof(size_t) == 8 ? (uint64_t)UINT32_MAX << ABD_CHUNK_SHIFT          \
			      : (uint64_t)UINT32_MAX - ABD_POOL_ALIGNMENT_MAX) & \
		~(uint64_t)(ABD_POOL_HUGE - 1))
#define ABD_POOL_NODES 1024 /* what Linux can be built for at most */
#define ABD_POOL_ANY_NODE ABD_POOL_NODES

static pthread_mutex_t abd_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_buddy abd_pool_buddy;
static char *abd_pool_base; /* NULL until reserved */
static size_t abd_pool_bytes;
static bool abd_pool_lent; /* its address was told: it may be registered somewhere */
/* The tunables, settled once the region is reserved. */
static size_t abd_pool_size = (size_t)1 << 30;
static size_t abd_pool_alignment = ABD_POOL_HUGE;
static size_t abd_pool_node = ABD_POOL_ANY_NODE;

static void *abd_pool_map(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map != MAP_FAILED ? map : NULL;
}

/*
 * Prefer a node for memory that is not there yet; where it has none left, others serve. By system
 * call: libnuma would be one more library for one call. False where the machine has no such node,
 * or Linux was built without nodes.
 */
static bool abd_pool_prefer(void *map, size_t bytes, unsigned node)
{
	unsigned long nodes[ABD_POOL_NODES / (8 * sizeof(unsigned long))] = {0};

	nodes[node / (8 * sizeof(*nodes))] = 1ul << node % (8 * sizeof(*nodes));
	return syscall(SYS_mbind, map, bytes, MPOL_PREFERRED, nodes,
		       (unsigned long)ABD_POOL_NODES + 1, 0u) == 0;
}

/* The region at its boundary; what was mapped around it goes back. */
static char *abd_pool_map_aligned(size_t bytes)
{
	size_t alignment = abd_pool_alignment;
	char *map = abd_pool_map(bytes + alignment);

	if (map == NULL)
		return NULL;

	size_t before = -(uintptr_t)map & (alignment - 1);

	if (before > 0)
		munmap(map, before);
	munmap(map + before + bytes, alignment - before); /* never nothing: before < alignment */
	madvise(map + before, bytes, MADV_HUGEPAGE);      /* advice only */
	if (abd_pool_node != ABD_POOL_ANY_NODE)
		/* it was there when it was chosen */
		abd_pool_prefer(map + before, bytes, (unsigned)abd_pool_node);
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

/*
 * Give the memory of free runs back, keeping the addresses. Whole huge pages only: splitting one
 * costs more than it gives. None once the region may be registered: the device would go on using
 * the pages that were, and we would have others.
 */
static void abd_chunk_pool_reap(void)
{
	pthread_mutex_lock(&abd_pool_lock);
	for (unsigned order = 9;
		abd_pool_base != NULL && !abd_pool_lent && order <= ABD_CHUNK_ORDER_MAX; order++) {
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

/* Before the region is reserved a tunable takes a value, after that none. */
static int abd_pool_settle(size_t *tunable, size_t value)
{
	int error = -EINVAL;

	pthread_mutex_lock(&abd_pool_lock);
	if (abd_pool_base == NULL) {
		*tunable = value;
		error = 0;
	}
	pthread_mutex_unlock(&abd_pool_lock);
	return error;
}

int abd_chunk_pool_size_set(const char *value)
{
	uint64_t bytes;

	if (!abd_tunable_parse(value, ABD_POOL_HUGE, ABD_POOL_SIZE_MAX, &bytes))
		return -EINVAL;
	return abd_pool_settle(&abd_pool_size, abd_round_up((size_t)bytes, ABD_POOL_HUGE));
}

int abd_chunk_pool_alignment_set(const char *value)
{
	uint64_t bytes;

	if (!abd_tunable_parse(value, ABD_POOL_HUGE, ABD_POOL_ALIGNMENT_MAX, &bytes) ||
		(bytes & (bytes - 1)) != 0)
		return -EINVAL;
	return abd_pool_settle(&abd_pool_alignment, (size_t)bytes);
}

/* A node that the machine has: tried on a page of its own. */
static bool abd_pool_has_node(unsigned node)
{
	void *page = abd_pool_map(ABD_CHUNK_SIZE);

	if (page == NULL)
		return false;

	bool has = abd_pool_prefer(page, ABD_CHUNK_SIZE, node);

	munmap(page, ABD_CHUNK_SIZE);
	return has;
}

int abd_chunk_pool_node_set(const char *value)
{
	uint64_t node;

	if (strcmp(value, "any") == 0)
		return abd_pool_settle(&abd_pool_node, ABD_POOL_ANY_NODE);
	if (!abd_tunable_parse(value, 0, ABD_POOL_NODES - 1, &node) ||
		!abd_pool_has_node((unsigned)node))
		return -EINVAL;
	return abd_pool_settle(&abd_pool_node, (size_t)node);
}

static const char *abd_pool_show(const size_t *tunable, char *text, size_t size)
{
	pthread_mutex_lock(&abd_pool_lock);
	snprintf(text, size, "%zu", *tunable);
	pthread_mutex_unlock(&abd_pool_lock);
	return text;
}

const char *abd_chunk_pool_size_get(char *text, size_t size)
{
	return abd_pool_show(&abd_pool_size, text, size);
}

const char *abd_chunk_pool_alignment_get(char *text, size_t size)
{
	return abd_pool_show(&abd_pool_alignment, text, size);
}

const char *abd_chunk_pool_node_get(char *text, size_t size)
{
	abd_pool_show(&abd_pool_node, text, size);
	return strtoul(text, NULL, 10) != ABD_POOL_ANY_NODE ? text : "any";
}

int abd_pool_region(void **base, size_t *size)
{
	ABD_REQUIRE(base != NULL && size != NULL, "where to put the answer is NULL");
	abd_chunk_tunables.start();
	if (!abd_chunk_pool_supported())
		return -ENOMEM;
	pthread_mutex_lock(&abd_pool_lock);
	abd_pool_lent = true;
	pthread_mutex_unlock(&abd_pool_lock);
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
