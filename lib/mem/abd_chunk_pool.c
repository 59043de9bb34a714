/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from one fixed region, huge-page advised: an engine that registers its memory (io_uring,
 * RDMA) registers this region once. The region can be fragmented and can run out: the pool then
 * refuses an order, and the buffer takes runs of a lower one.
 *
 * The region is reserved when the pool is first chosen, with the pool_size, pool_alignment and
 * pool_node of that moment, and stays for the life of the process. The system gives a page of it
 * memory only when the page is first touched.
 * Regions of 4 MiB (abd_region.h) are cut from it as they are needed, so a large pool costs nothing
 * until it is used.
 */
#include "abd_contract.h"
#include "abd_mem.h"
#include "abd_region.h"

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
#define ABD_POOL_NODES 1024 /* the most that Linux can be built for */
#define ABD_POOL_ANY_NODE ABD_POOL_NODES

static pthread_mutex_t abd_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static char *abd_pool_base; /* NULL until reserved */
static size_t abd_pool_bytes;
static size_t abd_pool_cut;     /* bytes at its end that are regions by now */
static unsigned abd_pool_holds; /* held by callers that may have registered it */
/* The tunables; they can't change once the region is reserved. */
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
 * Prefer a node for memory that is not resident yet; when the node has none left, others serve.
 * This is a system call of ours, because libnuma would be one more library for one call. False: the
 * machine has no such node, or Linux was built without nodes.
 */
static bool abd_pool_prefer(void *map, size_t bytes, unsigned node)
{
	unsigned long nodes[ABD_POOL_NODES / (8 * sizeof(unsigned long))] = {0};

	nodes[node / (8 * sizeof(*nodes))] = 1ul << node % (8 * sizeof(*nodes));
	return syscall(SYS_mbind, map, bytes, MPOL_PREFERRED, nodes,
		       (unsigned long)ABD_POOL_NODES + 1, 0u) == 0;
}

/* The pool's address must be aligned for regions, too. Regions are made as they come into use. */
static void abd_pool_reserve(void)
{
	size_t bytes = abd_pool_size;
	char *base;

	if (abd_mem_refused())
		return;
	base = abd_region_map(bytes,
		abd_pool_alignment > ABD_REGION_SIZE ? abd_pool_alignment : ABD_REGION_SIZE,
		MADV_HUGEPAGE);
	if (base == NULL)
		return;
	if (!abd_region_index_prepare(base, bytes)) {
		munmap(base, bytes);
		return;
	}
	if (abd_pool_node != ABD_POOL_ANY_NODE) /* the node existed when it was chosen */
		abd_pool_prefer(base, bytes, (unsigned)abd_pool_node);
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

/* Set a tunable; refused once the region is reserved. */
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

/* Whether the machine has a node, tried on a page mapped for the test. */
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
