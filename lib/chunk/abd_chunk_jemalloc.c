/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs out of regions of 4 MiB, which come from a jemalloc arena of our own on huge pages. The
 * default.
 *
 * jemalloc is good at regions, and gives unused ones back to the system as they age. Asked for
 * single pages it keeps 128 bytes about each and takes 120 ns for one: a plain loop over 4,096
 * buffers of 32 pages took 7.7 us for each, and 0.8 us like this.
 *
 * Invariants: a region starts at a multiple of its size, so a run's region is found by its address;
 * a region is on the list of the largest order it can give. Fuller regions serve first, so that
 * others empty; two empty ones are kept.
 */
#include "abd_buddy.h"
#include "abd_chunk_provider.h"
#include "abd_contract.h"
#include "abd_jemalloc.h"

#include <sys/mman.h>

#define ABD_REGION_SHIFT (ABD_CHUNK_SHIFT + ABD_CHUNK_ORDER_MAX)
#define ABD_REGION_SIZE ((size_t)1 << ABD_REGION_SHIFT)
#define ABD_REGION_PAGES (1u << ABD_CHUNK_ORDER_MAX)
#define ABD_REGION_SPARE 2

/* User space ends at 2^47 on x86-64, at 2^48 on arm64, unless a program asks for more by name. */
#define ABD_ADDRESS_BITS (sizeof(void *) == 8 ? 48 : 32)
#define ABD_REGION_INDEXES ((size_t)1 << (ABD_ADDRESS_BITS - ABD_REGION_SHIFT))

struct abd_region {
	char *base;
	struct abd_region *next, **link; /* of the list it is on */
	struct abd_buddy buddy;
	struct abd_buddy_page pages[ABD_REGION_PAGES];
};

static pthread_mutex_t abd_region_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_region **abd_region_index; /* by address; mostly never touched, so never there */
static struct abd_region
	*abd_region_list[ABD_CHUNK_ORDERS + 1]; /* by largest order + 1; 0: full ones */
static size_t abd_region_spare;                 /* regions that are all free */

static void abd_region_index_make(void)
{
	void *map = mmap(NULL, ABD_REGION_INDEXES * sizeof(*abd_region_index),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map != MAP_FAILED)
		abd_region_index = map;
}

static bool abd_chunk_jemalloc_supported(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!abd_jemalloc_present())
		return false;
	pthread_once(&once, abd_region_index_make);
	return abd_region_index != NULL;
}

static struct abd_region **abd_region_of(const void *run)
{
	return &abd_region_index[(uintptr_t)run >> ABD_REGION_SHIFT];
}

static void abd_region_unlist(struct abd_region *region)
{
	*region->link = region->next;
	if (region->next != NULL)
		region->next->link = region->link;
}

/* Put the region on the list that it belongs to now. */
static void abd_region_enlist(struct abd_region *region)
{
	unsigned list = ABD_CHUNK_ORDERS;

	while (list > 0 && region->buddy.free_runs[list - 1] == 0)
		list--;
	region->link = &abd_region_list[list];
	region->next = *region->link;
	if (region->next != NULL)
		region->next->link = &region->next;
	*region->link = region;
}

static bool abd_region_is_free(const struct abd_region *region)
{
	return region->buddy.free_runs[ABD_CHUNK_ORDER_MAX] > 0;
}

static void abd_region_end(struct abd_region *region)
{
	abd_jemalloc_free(ABD_JEMALLOC_RUNS, region->base, ABD_REGION_SIZE, ABD_REGION_SIZE);
	abd_mem_free(region, sizeof(*region), 64);
}

static struct abd_region *abd_region_make(void)
{
	struct abd_region *region = abd_mem_alloc(sizeof(*region), 64);

	if (region == NULL)
		return NULL;
	region->base = abd_jemalloc_alloc(ABD_JEMALLOC_RUNS, ABD_REGION_SIZE, ABD_REGION_SIZE);
	if (region->base == NULL) {
		abd_mem_free(region, sizeof(*region), 64);
		return NULL;
	}
	if ((uintptr_t)region->base >> ABD_REGION_SHIFT >= ABD_REGION_INDEXES) {
		abd_region_end(region);
		return NULL;
	}
	abd_buddy_init(&region->buddy, region->pages, ABD_REGION_PAGES, ABD_CHUNK_ORDER_MAX);
	return region;
}

/* A run of the fullest region that has one; NULL: none has. Locked. */
static void *abd_region_take(unsigned order)
{
	unsigned list = order + 1;

	while (list <= ABD_CHUNK_ORDERS && abd_region_list[list] == NULL)
		list++;
	if (list > ABD_CHUNK_ORDERS)
		return NULL;

	struct abd_region *region = abd_region_list[list];

	abd_region_spare -= abd_region_is_free(region);
	uint32_t page = abd_buddy_alloc(&region->buddy, order);

	abd_region_unlist(region);
	abd_region_enlist(region);
	return region->base + ((size_t)page << ABD_CHUNK_SHIFT);
}

static void *abd_chunk_jemalloc_alloc(unsigned order)
{
	pthread_mutex_lock(&abd_region_lock);
	void *run = abd_region_take(order);

	if (run == NULL) {
		pthread_mutex_unlock(&abd_region_lock);
		struct abd_region *region = abd_region_make();

		if (region == NULL)
			return NULL;
		pthread_mutex_lock(&abd_region_lock);
		*abd_region_of(region->base) = region;
		abd_region_enlist(region);
		abd_region_spare++;
		run = abd_region_take(order);
	}
	pthread_mutex_unlock(&abd_region_lock);
	return run;
}

/* Take all-free regions out until keep are left, and end them outside the lock. */
static void abd_region_trim(size_t keep)
{
	pthread_mutex_lock(&abd_region_lock);
	while (abd_region_spare > keep) {
		struct abd_region *region = abd_region_list[ABD_CHUNK_ORDERS];

		abd_region_unlist(region);
		*abd_region_of(region->base) = NULL;
		abd_region_spare--;
		pthread_mutex_unlock(&abd_region_lock);
		abd_region_end(region);
		pthread_mutex_lock(&abd_region_lock);
	}
	pthread_mutex_unlock(&abd_region_lock);
}

/* False: no such run was taken. Locked. */
static bool abd_region_give(struct abd_region *region, const char *run, unsigned order)
{
	if (region == NULL ||
		!abd_buddy_free(&region->buddy,
			(uint32_t)((size_t)(run - region->base) >> ABD_CHUNK_SHIFT), order))
		return false;
	abd_region_unlist(region);
	abd_region_enlist(region);
	abd_region_spare += abd_region_is_free(region);
	return true;
}

static void abd_chunk_jemalloc_free(void *run, unsigned order)
{
	pthread_mutex_lock(&abd_region_lock);
	bool known = abd_region_give(*abd_region_of(run), run, order);
	bool trim = abd_region_spare > ABD_REGION_SPARE;
	pthread_mutex_unlock(&abd_region_lock);
	ABD_REQUIRE_IN("abd_free", known, "%p is no run of order %u", run, order);
	if (ABD_UNLIKELY(trim))
		abd_region_trim(ABD_REGION_SPARE);
}

static void abd_chunk_jemalloc_reap(void)
{
	abd_region_trim(0);
	abd_jemalloc_purge();
}

const struct abd_chunk_provider abd_chunk_jemalloc = {
	.name = "jemalloc",
	.supported = abd_chunk_jemalloc_supported,
	.alloc = abd_chunk_jemalloc_alloc,
	.free = abd_chunk_jemalloc_free,
	.reap = abd_chunk_jemalloc_reap,
};
