/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each heap has one lock; per-thread magazines and the depot stand in front of it. The lock is
 * dropped while the system is called. Heaps whose regions stay keep it: an allocation that missed a
 * region off its list would be refused there, since no new region can take its place.
 */
#include "abd_region.h"
#include "abd_age.h"
#include "abd_contract.h"
#include "abd_depot.h"
#include "abd_mem.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#define ABD_MADV_DONTNEED_LOCKED 24 /* Linux 5.18; older C libraries do not name it */

#define ABD_REGION_HALF (ABD_REGION_PAGES / ABD_REGION_HALVES)
#define ABD_REGION_HALF_WORDS (ABD_REGION_WORDS / ABD_REGION_HALVES)
#define ABD_REGION_HALF_SIZE (ABD_REGION_SIZE / ABD_REGION_HALVES)
/* A huge page with fewer free pages to give back stays whole. */
#define ABD_REGION_SPLIT (ABD_REGION_HALF / 8)

/* ---- all heaps ---- */

/* Those that were used. None is ever taken out: no heap ends. */
static struct abd_region_heap *_Atomic abd_region_heaps;
/* A heap that is not listed is not locked, so that a fork() finds all that are. */
static pthread_mutex_t abd_region_heaps_lock = PTHREAD_MUTEX_INITIALIZER;

static inline struct abd_region_heap *abd_region_first(void)
{
	return atomic_load_explicit(&abd_region_heaps, memory_order_acquire);
}

static ABD_COLD void abd_region_register_slow(struct abd_region_heap *heap)
{
	pthread_mutex_lock(&abd_region_heaps_lock);
	if (!atomic_exchange(&heap->listed, true)) {
		heap->next = abd_region_first();
		atomic_store(&abd_region_heaps, heap);
	}
	pthread_mutex_unlock(&abd_region_heaps_lock);
}

static inline void abd_region_register(struct abd_region_heap *heap)
{
	if (ABD_UNLIKELY(!atomic_load_explicit(&heap->listed, memory_order_relaxed)))
		abd_region_register_slow(heap);
}

/* For a heap that may have no region yet: a fork() meanwhile must find it. */
static void abd_region_lock(struct abd_region_heap *heap)
{
	abd_region_register(heap);
	pthread_mutex_lock(&heap->lock);
}

void abd_region_reap_all(void)
{
	for (struct abd_region_heap *heap = abd_region_first(); heap != NULL; heap = heap->next)
		abd_region_reap(heap);
}

void abd_region_age_all(void)
{
	for (struct abd_region_heap *heap = abd_region_first(); heap != NULL; heap = heap->next)
		abd_region_age(heap);
}

void abd_region_fork_begin(void)
{
	pthread_mutex_lock(&abd_region_heaps_lock);
	for (struct abd_region_heap *heap = abd_region_first(); heap != NULL; heap = heap->next) {
		pthread_mutex_lock(&heap->purge_lock);
		pthread_mutex_lock(&heap->lock);
	}
}

void abd_region_fork_end(void)
{
	for (struct abd_region_heap *heap = abd_region_first(); heap != NULL; heap = heap->next) {
		pthread_mutex_unlock(&heap->lock);
		pthread_mutex_unlock(&heap->purge_lock);
	}
	pthread_mutex_unlock(&abd_region_heaps_lock);
}

/* ---- sets of pages ---- */

/*
 * Runs are powers of two and begin at multiples of their size, so a run of pages lies in one word
 * of a set, or fills words: the same mask fits each of its words.
 */
static uint64_t abd_region_mask(size_t page, size_t count)
{
	return count >= 64 ? UINT64_MAX : (((uint64_t)1 << count) - 1) << page % 64;
}

/* Returns how many of the pages were not in the set before. */
static size_t abd_region_set(uint64_t *set, size_t page, size_t count)
{
	uint64_t mask = abd_region_mask(page, count);
	size_t added = 0;

	for (size_t word = page / 64; word * 64 < page + count; word++) {
		uint64_t missing = mask & ~set[word];

		/* Mostly none is missing; without a target of its own, counting is a call. */
		if (missing != 0)
			added += (size_t)__builtin_popcountll(missing);
		set[word] |= missing;
	}
	return added;
}

static void abd_region_clear(uint64_t *set, size_t page, size_t count)
{
	uint64_t mask = abd_region_mask(page, count);

	for (size_t word = page / 64; word * 64 < page + count; word++)
		set[word] &= ~mask;
}

static size_t abd_region_count(const uint64_t *set, size_t words)
{
	size_t count = 0;

	for (size_t i = 0; i < words; i++)
		count += (size_t)__builtin_popcountll(set[i]);
	return count;
}

/* ---- lists ---- */

static void abd_region_unlist(struct abd_region *region)
{
	assert(region->link != NULL);
	*region->link = region->next;
	if (region->next != NULL)
		region->next->link = region->link;
	region->link = NULL;
}

/* The list that the region belongs to now. */
static unsigned abd_region_list(const struct abd_region *region)
{
	uint32_t orders = region->buddy.free_orders;

	return orders == 0 ? 0 : abd_log2(orders) + 1;
}

static void abd_region_enlist(struct abd_region *region)
{
	region->listed = abd_region_list(region);
	region->link = &region->heap->list[region->listed];
	region->next = *region->link;
	if (region->next != NULL)
		region->next->link = &region->next;
	*region->link = region;
}

/* A run was taken or freed: the region may belong to another list now. */
static void abd_region_relist(struct abd_region *region)
{
	if (region->link == NULL || abd_region_list(region) == region->listed)
		return;
	abd_region_unlist(region);
	abd_region_enlist(region);
}

/* Into the ring and its list, and the heap's counts. */
static void abd_region_join(struct abd_region *region)
{
	struct abd_region_heap *heap = region->heap;

	if (heap->hand == NULL)
		heap->hand = region->ring = region->ring_before = region;
	region->ring = heap->hand;
	region->ring_before = heap->hand->ring_before;
	region->ring_before->ring = region;
	heap->hand->ring_before = region;
	heap->region_count++;
	heap->dirty_pages += abd_region_count(region->dirty, ABD_REGION_WORDS);
	abd_region_enlist(region);
}

static void abd_region_leave_ring(struct abd_region *region)
{
	struct abd_region_heap *heap = region->heap;

	region->ring->ring_before = region->ring_before;
	region->ring_before->ring = region->ring;
	if (heap->hand == region) {
		assert(region->ring == region); /* abd_region_walk() has moved the hand on otherwise
						 */
		heap->hand = NULL;
	}
	heap->region_count--;
}

/* ---- the life of a region ---- */

void *abd_region_map(size_t size, size_t alignment, int advice)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* A map next to an aligned one is mostly aligned. If not, map more and cut off the rest. */
	if (((uintptr_t)map & (alignment - 1)) != 0) {
		munmap(map, size);
		map = mmap(NULL, size + alignment + ABD_CHUNK_SIZE, PROT_READ | PROT_WRITE, flags,
			-1, 0);
		if (map == MAP_FAILED)
			return NULL;

		/* One page more, so that there is something to unmap at both ends. */
		size_t before = alignment - ((uintptr_t)map & (alignment - 1));

		munmap(map, before);
		map += before;
		munmap(map + size, alignment + ABD_CHUNK_SIZE - before);
	}
	madvise(map, size, advice); /* the system may not know it */
	return map;
}

static atomic_ullong abd_region_refused;

uint64_t abd_region_refusals(void)
{
	return atomic_load_explicit(&abd_region_refused, memory_order_relaxed);
}

bool abd_region_forget(void *base, size_t size)
{
	/* Where the system's pages are larger than ours, the call would take what lies beside. */
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = (page - ((uintptr_t)base & (page - 1))) & (page - 1);
	size_t after = ((uintptr_t)base + size) & (page - 1);

	if (before + after >= size)
		return true;
	base = (char *)base + before;
	size -= before + after;
	if (madvise(base, size, MADV_DONTNEED) == 0 ||
		madvise(base, size, ABD_MADV_DONTNEED_LOCKED) == 0)
		return true;
	atomic_fetch_add_explicit(&abd_region_refused, 1, memory_order_relaxed);
	return false;
}

bool abd_region_unmap(void *base, size_t size)
{
	if (munmap(base, size) == 0)
		return true;
	atomic_fetch_add_explicit(&abd_region_refused, 1, memory_order_relaxed);
	return false;
}

/* Memory that nobody has touched is resident where the process locks all it maps (MCL_FUTURE). */
static bool abd_region_is_resident(void *page)
{
	unsigned char resident = 0;

	return mincore(page, ABD_CHUNK_SIZE, &resident) == 0 && (resident & 1) != 0;
}

static struct abd_region *abd_region_make(struct abd_region_heap *heap)
{
	struct abd_region *region = abd_mem_alloc(sizeof(*region), 64);
	size_t size = ABD_REGION_SIZE;

	if (region == NULL)
		return NULL;
	memset(region, 0, sizeof(*region));

	char *base = heap->map(&size);

	if (base == NULL || !abd_region_index_set(base, region)) {
		if (base != NULL)
			heap->unmap(base, size); /* can't be NULL: heaps whose regions stay have
						    their index made */
		abd_mem_free(region, sizeof(*region), 64);
		return NULL;
	}
	region->base = base;
	region->size = size;
	region->heap = heap;
	region->huge[0] = region->huge[1] = heap->huge;
	if (abd_region_is_resident(base + size - ABD_CHUNK_SIZE))
		abd_region_set(region->dirty, 0, size >> ABD_CHUNK_SHIFT);
	abd_buddy_init(&region->buddy, region->pages, (uint32_t)(size >> ABD_CHUNK_SHIFT),
		ABD_CHUNK_ORDER_MAX);
	return region;
}

/*
 * Give back a region that is wholly free. Where the system can't unmap it, because the process has
 * as many mappings as it may have, its pages go back, and it stays; the next walk tries again.
 * Locked; the lock is dropped meanwhile.
 */
static void abd_region_end(struct abd_region *region)
{
	struct abd_region_heap *heap = region->heap;

	abd_region_unlist(region);
	abd_region_leave_ring(region);
	abd_region_index_set(region->base, NULL); /* can't fail: its leaf exists */
	heap->dirty_pages -= abd_region_count(region->dirty, ABD_REGION_WORDS);
	pthread_mutex_unlock(&heap->lock);

	bool gone = heap->unmap(region->base, region->size);

	if (gone)
		abd_mem_free(region, sizeof(*region), 64);
	else if (abd_region_forget(region->base, region->size))
		memset(region->dirty, 0, sizeof(region->dirty));
	pthread_mutex_lock(&heap->lock);
	if (gone)
		return;
	abd_region_index_set(region->base, region);
	heap->refused = true;
	abd_region_join(region);
}

/* ---- giving memory back ---- */

/*
 * Give back the pages of set in one half; those that the system refuses leave the set. Needs no
 * lock: the region is on no list.
 */
static void abd_region_purge_half(struct abd_region *region, unsigned half, uint64_t *set)
{
	size_t first = half * ABD_REGION_HALF, end = first + ABD_REGION_HALF;

	for (size_t page = first; page < end;) {
		size_t word = page / 64;
		uint64_t rest = set[word] >> page % 64;

		if (rest == 0) {
			page = (word + 1) * 64;
			continue;
		}
		page += (size_t)__builtin_ctzll(rest);

		size_t from = page;

		while (page < end && (set[page / 64] >> page % 64 & 1) != 0)
			page++;
		if (!abd_region_forget(region->base + (from << ABD_CHUNK_SHIFT),
			    (page - from) << ABD_CHUNK_SHIFT))
			for (; from < page; from++)
				set[from / 64] &= ~((uint64_t)1 << from % 64);
	}
}

/* Choose the pages of a half to give back: none of a huge page that is nearly full. Returns how
 * many. Locked. */
static size_t abd_region_choose(
	const struct abd_region *region, unsigned half, bool only_old, uint64_t *set)
{
	size_t word = half * ABD_REGION_HALF_WORDS, end = word + ABD_REGION_HALF_WORDS;

	for (size_t i = word; i < end; i++)
		set[i] = region->dirty[i] & ~region->taken[i] &
			 (only_old ? region->old[i] : UINT64_MAX);

	size_t count = abd_region_count(set + word, ABD_REGION_HALF_WORDS);

	if (!region->huge[half] || count >= ABD_REGION_SPLIT || region->heap->splits)
		return count;
	memset(set + word, 0, ABD_REGION_HALF_WORDS * sizeof(*set));
	return 0;
}

/* Give back the chosen pages of a half, and withdraw or renew its huge-page advice. */
static void abd_region_purge_chosen(
	struct abd_region *region, unsigned half, bool empties, uint64_t *set)
{
	char *base = region->base + half * ABD_REGION_HALF_SIZE;

	if (region->huge[half] && !empties) {
		madvise(base, ABD_REGION_HALF_SIZE, MADV_NOHUGEPAGE);
		region->huge[half] = false;
	}
	abd_region_purge_half(region, half, set);
	if (region->heap->huge && !region->huge[half] && empties) {
		madvise(base, ABD_REGION_HALF_SIZE, MADV_HUGEPAGE);
		region->huge[half] = true;
	}
}

/* Give back the free pages of a region; only_old: those that have been free for a period. Both
 * locks are held; heap->lock is dropped meanwhile if regions can be unmapped. */
static void abd_region_purge(struct abd_region *region, bool only_old)
{
	ABD_KEEP_ERRNO;
	struct abd_region_heap *heap = region->heap;
	uint64_t set[ABD_REGION_WORDS];
	size_t count[ABD_REGION_HALVES], all = 0;
	bool empties[ABD_REGION_HALVES] = {false};

	for (unsigned half = 0; half < ABD_REGION_HALVES; half++) {
		size_t word = half * ABD_REGION_HALF_WORDS;

		count[half] = abd_region_choose(region, half, only_old, set);
		all += count[half];
		empties[half] = count[half] ==
				abd_region_count(region->dirty + word, ABD_REGION_HALF_WORDS);
	}
	if (heap->unmap != NULL && region->taken_pages == 0 && empties[0] && empties[1]) {
		abd_region_end(region);
		return;
	}
	if (all == 0)
		return;
	abd_region_unlist(region);
	if (heap->unmap != NULL)
		pthread_mutex_unlock(&heap->lock);
	for (unsigned half = 0; half < ABD_REGION_HALVES; half++)
		if (count[half] > 0)
			abd_region_purge_chosen(region, half, empties[half], set);
	if (heap->unmap != NULL)
		pthread_mutex_lock(&heap->lock);
	for (size_t i = 0; i < ABD_REGION_WORDS; i++)
		region->dirty[i] &= ~set[i];
	heap->dirty_pages -= abd_region_count(set, ABD_REGION_WORDS);
	heap->refused |= abd_region_count(set, ABD_REGION_WORDS) < all;
	abd_region_enlist(region);
}

static size_t abd_region_free_dirty(const struct abd_region_heap *heap)
{
	return heap->dirty_pages - heap->taken_pages;
}

static size_t abd_region_floor(void)
{
	return abd_depot_reserve_bytes() / 4 >> ABD_CHUNK_SHIFT;
}

/*
 * Walk the regions once, while more than limit pages are free and dirty. Purge each region that has
 * at least half the average of such pages; if limit is 0, every region. Both locks are held.
 */
static void abd_region_walk(
	struct abd_region_heap *heap, size_t limit, bool only_old, const struct abd_region *except)
{
	for (size_t left = heap->region_count; left > 0; left--) {
		struct abd_region *region = heap->hand; /* one ends at most each time */
		size_t free_dirty = abd_region_free_dirty(heap);

		heap->hand = region->ring;
		if (free_dirty < limit || (free_dirty == limit && limit > 0))
			return;
		if (region != except &&
			2 * heap->region_count *
					(abd_region_count(region->dirty, ABD_REGION_WORDS) -
						region->taken_pages) >=
				(limit > 0 ? free_dirty : 0))
			abd_region_purge(region, only_old);
	}
}

static size_t abd_region_limit(const struct abd_region_heap *heap)
{
	size_t part = heap->taken_pages / 16;

	return part > abd_region_floor() ? part : abd_region_floor();
}

ABD_COLD void abd_region_shed(struct abd_region_heap *heap, const struct abd_region *except)
{
	if (pthread_mutex_trylock(&heap->purge_lock) != 0)
		return;
	pthread_mutex_lock(&heap->lock);
	if (!heap->pinned && !heap->refused)
		abd_region_walk(heap, abd_region_limit(heap), false, except);
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

void abd_region_reap(struct abd_region_heap *heap)
{
	pthread_mutex_lock(&heap->purge_lock);
	pthread_mutex_lock(&heap->lock);
	if (!heap->pinned)
		abd_region_walk(heap, 0, false, NULL);
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

void abd_region_trim(struct abd_region_heap *heap, size_t bytes, size_t most)
{
	size_t idle = abd_region_idle(heap);

	if (idle <= bytes || pthread_mutex_trylock(&heap->purge_lock) != 0)
		return;
	if (idle - bytes > most)
		bytes = idle - most;
	pthread_mutex_lock(&heap->lock);
	for (unsigned i = 0; i < 2 && !heap->pinned; i++) {
		heap->splits = i > 0;
		abd_region_walk(heap, bytes >> ABD_CHUNK_SHIFT, false, NULL);
	}
	heap->splits = false;
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

size_t abd_region_idle(struct abd_region_heap *heap)
{
	abd_region_lock(heap);
	size_t pages = abd_region_free_dirty(heap);

	pthread_mutex_unlock(&heap->lock);
	return pages << ABD_CHUNK_SHIFT;
}

void abd_region_age(struct abd_region_heap *heap)
{
	if (pthread_mutex_trylock(&heap->purge_lock) != 0)
		return;
	pthread_mutex_lock(&heap->lock);
	heap->refused = false; /* try again */
	if (!heap->pinned)
		abd_region_walk(heap, 0, true, NULL);

	struct abd_region *region = heap->hand;

	for (size_t left = heap->region_count; left > 0; left--, region = region->ring)
		for (size_t i = 0; i < ABD_REGION_WORDS; i++)
			region->old[i] = region->dirty[i] & ~region->taken[i];
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

/* ---- runs ---- */

/* Mark pages as taken, and as dirty with the whole huge page they lie on. Returns how many were not
 * dirty before. Locked. */
static size_t abd_region_mark(struct abd_region *region, size_t page, size_t count)
{
	size_t half = page / ABD_REGION_HALF;

	abd_region_set(region->taken, page, count);
	abd_region_clear(region->old, page, count);
	region->taken_pages += count;
	if (count < ABD_REGION_HALF && region->huge[half]) {
		/* Such a huge page is dirty as a whole, or not at all. */
		if ((region->dirty[page / 64] >> page % 64 & 1) != 0)
			return 0;
		page = half * ABD_REGION_HALF;
		count = ABD_REGION_HALF;
	}
	return abd_region_set(region->dirty, page, count);
}

/* A run from the fullest region that has one; NULL: none has. *grown: more pages became dirty.
 * Locked. */
static void *abd_region_take(
	struct abd_region_heap *heap, size_t page_count, struct abd_region **from, size_t *grown)
{
	unsigned order = page_count > 1 ? abd_log2(page_count - 1) + 1 : 0, list = order + 1;
	size_t marked = 0;

	while (list <= ABD_CHUNK_ORDERS && heap->list[list] == NULL)
		list++;
	if (list > ABD_CHUNK_ORDERS)
		return NULL;

	struct abd_region *region = heap->list[list];
	uint32_t page = abd_buddy_alloc(&region->buddy, order), at = page;

	if (page_count < (size_t)1 << order)
		abd_buddy_trim(&region->buddy, page, order, (uint32_t)page_count);
	for (size_t left = page_count; left > 0; left -= (size_t)1 << order, at += 1u << order) {
		order = abd_log2(left);
		marked += abd_region_mark(region, at, (size_t)1 << order);
	}
	*from = region;
	*grown += marked;
	heap->taken_pages += page_count;
	heap->dirty_pages += marked;
	abd_region_relist(region);
	return region->base + ((size_t)page << ABD_CHUNK_SHIFT);
}

static bool abd_region_is_much(const struct abd_region_heap *heap)
{
	return abd_region_free_dirty(heap) > abd_region_limit(heap) && !heap->pinned &&
	       !heap->refused;
}

/* This heap takes more from the system, so the others give back what they keep beyond their limit.
 */
static void abd_region_shed_beside(const struct abd_region_heap *heap)
{
	for (struct abd_region_heap *other = abd_region_first(); other != NULL; other = other->next)
		if (other != heap)
			abd_region_shed(other, NULL);
}

/* One more region. False: none can be had. Locked; the lock is dropped meanwhile. */
static bool abd_region_grow(struct abd_region_heap *heap)
{
	pthread_mutex_unlock(&heap->lock);

	struct abd_region *region = abd_region_make(heap);

	pthread_mutex_lock(&heap->lock);
	if (region == NULL)
		return false;
	abd_region_join(region);
	return true;
}

/* It has grown: what is too much goes back. */
static void abd_region_settle_all(
	struct abd_region_heap *heap, bool sheds, bool others, const struct abd_region *except)
{
	if (ABD_UNLIKELY(sheds))
		abd_region_shed(heap, except);
	if (ABD_UNLIKELY(others))
		abd_region_shed_beside(heap);
	abd_age_check(abd_age_now_ms());
}

/* Whether others give back. Locked. */
static bool abd_region_has_grown(struct abd_region_heap *heap)
{
	if (heap->grown_pages < ABD_REGION_PAGES || abd_age_deferred)
		return false;
	heap->grown_pages = 0;
	return true;
}

void abd_region_settle(struct abd_region_heap *heap)
{
	abd_region_lock(heap);
	bool sheds = abd_region_is_much(heap), others = abd_region_has_grown(heap);

	pthread_mutex_unlock(&heap->lock);
	abd_region_settle_all(heap, sheds, others, NULL);
}

size_t abd_region_alloc_many(
	struct abd_region_heap *heap, void **runs, size_t count, size_t page_count)
{
	struct abd_region *from = NULL;
	size_t grown = 0, had = 0;

	abd_region_register(heap);
	pthread_mutex_lock(&heap->lock);
	while (had < count) {
		runs[had] = abd_region_take(heap, page_count, &from, &grown);
		if (runs[had] != NULL)
			had++;
		else if (had > 0 || !abd_region_grow(heap))
			break; /* a region is made for the first run only */
	}

	bool sheds = grown > 0 && !abd_age_deferred && abd_region_is_much(heap), others;

	heap->grown_pages += grown;
	others = abd_region_has_grown(heap);
	pthread_mutex_unlock(&heap->lock);
	abd_region_settle_all(heap, sheds, others, from);
	return had;
}

/* False: no such taken run begins there. Locked. */
static bool abd_region_give(const struct abd_region_heap *heap, struct abd_region *region,
	const char *run, size_t page_count)
{
	if (region == NULL || region->heap != heap)
		return false;

	size_t page = (size_t)(run - region->base) >> ABD_CHUNK_SHIFT;

	for (size_t left = page_count, count; left > 0; left -= count, page += count) {
		unsigned order = abd_log2(left);

		count = (size_t)1 << order;
		if (!abd_buddy_free(&region->buddy, (uint32_t)page, order))
			return false;
		abd_region_clear(region->taken, page, count);
	}
	region->taken_pages -= page_count;
	abd_region_relist(region);
	return true;
}

void abd_region_free_many(
	struct abd_region_heap *heap, void **runs, size_t count, size_t page_count)
{
	size_t known = 0;

	pthread_mutex_lock(&heap->lock);
	while (known < count &&
		abd_region_give(heap, abd_region_index_get(runs[known]), runs[known], page_count))
		known++;
	heap->taken_pages -= known * page_count;
	pthread_mutex_unlock(&heap->lock);
	ABD_REQUIRE_IN("abd_free", known == count, "%p is no run of %zu pages of its provider",
		runs[known], page_count);
	abd_age_check(abd_age_now_ms());
}

/* ---- questions ---- */

size_t abd_region_resident(struct abd_region_heap *heap)
{
	unsigned char pages[ABD_REGION_PAGES];
	size_t resident = 0;

	abd_region_lock(heap);
	struct abd_region *region = heap->hand;

	for (size_t left = heap->region_count; left > 0; left--, region = region->ring) {
		if (mincore(region->base, region->size, pages) != 0)
			continue;
		for (size_t i = 0; i < region->size >> ABD_CHUNK_SHIFT; i++)
			resident += pages[i] & 1;
	}
	pthread_mutex_unlock(&heap->lock);
	return resident << ABD_CHUNK_SHIFT;
}

void abd_region_pin(struct abd_region_heap *heap, bool pinned)
{
	abd_region_register(heap);
	/* Wait until a purge has ended. */
	pthread_mutex_lock(&heap->purge_lock);
	pthread_mutex_lock(&heap->lock);
	heap->pinned = pinned;
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

void abd_region_unpin_resident(struct abd_region_heap *heap)
{
	abd_region_register(heap);
	pthread_mutex_lock(&heap->purge_lock);
	pthread_mutex_lock(&heap->lock);
	heap->pinned = false;
	for (size_t left = heap->region_count; left > 0; left--) {
		struct abd_region *region = heap->hand;

		heap->dirty_pages +=
			abd_region_set(region->dirty, 0, region->size >> ABD_CHUNK_SHIFT);
		heap->hand = region->ring;
	}
	abd_region_walk(heap, 0, false, NULL);
	pthread_mutex_unlock(&heap->lock);
	pthread_mutex_unlock(&heap->purge_lock);
}

void abd_region_free_runs(struct abd_region_heap *heap, uint64_t runs[ABD_CHUNK_ORDERS])
{
	abd_region_lock(heap);
	struct abd_region *region = heap->hand;

	for (size_t left = heap->region_count; left > 0; left--, region = region->ring)
		for (unsigned order = 0; order < ABD_CHUNK_ORDERS; order++)
			runs[order] += region->buddy.free_runs[order];
	pthread_mutex_unlock(&heap->lock);
}
