/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache's beginning, end, size and counters.
 * OpenZFS: arc_init(), arc_fini(), arc_kstat_update() in module/zfs/arc.c.
 */
#include "abd_arc_impl.h"
#include "abd_chunk.h"
#include "abd_lz4_decode.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define ABD_ARC_HIT_BATCH 64
#define ABD_ARC_LZ4_GROUP (16 << 10)
#define ABD_ARC_FLAGS (ABD_ARC_CHECKSUM | ABD_ARC_SECOND_TIME | ABD_ARC_ALIGNED)
/*
 * A resize to a smaller capacity takes so many steps or more, each of which evicts about so many
 * records at most, and may wait for readers after each 16.
 */
#define ABD_ARC_RESIZE_STEPS 256
#define ABD_ARC_RESIZE_PIECE ((size_t)1024)
#define ABD_ARC_RESIZE_WAIT 16
/* Uses of a new record within this time are one use. OpenZFS: ARC_MINTIME, 62 ms. */
#define ABD_ARC_PERIOD_US 62000

/*
 * Random bytes, so that nobody can choose keys that collide. Only while the system has no random
 * bytes yet: the clock, which can be guessed.
 */
static uint64_t abd_arc_seed(const void *salt)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return abd_arc_mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uintptr_t)salt,
		0x9e3779b97f4a7c15u);
}

/*
 * Whether a cache may be so large. The pool can't hold more than its region, and puts would run out
 * of memory long before the cache is full. Returns 0, EINVAL or ENOSPC.
 */
static int abd_arc_capacity_check(size_t capacity)
{
	if (capacity < ABD_ARC_CAPACITY_MIN || capacity > PTRDIFF_MAX)
		return EINVAL;
	return capacity <= abd_chunk_bytes_max() ? 0 : ENOSPC;
}

/* Convert a config of any version to this one. Returns 0, EINVAL, ENOSPC or E2BIG. */
static int abd_arc_config_take(struct abd_arc_config *to, const struct abd_arc_config *from)
{
	const size_t least = offsetof(struct abd_arc_config, expected_entries);

	if (from->config_size < least || from->config_size % sizeof(size_t) != 0)
		return EINVAL;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, abd_min(from->config_size, sizeof(*to)));
	for (size_t i = sizeof(*to); i < from->config_size; i++)
		if (((const char *)from)[i] != 0)
			return E2BIG;
	if (to->hit_batch > ABD_ARC_HIT_BATCH_MAX || (to->flags & ~(unsigned)ABD_ARC_FLAGS) != 0)
		return EINVAL;
	if (to->hit_batch == 0)
		to->hit_batch = ABD_ARC_HIT_BATCH;
	if (to->lz4_index_group == 0)
		to->lz4_index_group = ABD_ARC_LZ4_GROUP;
	if (abd_lz4_index_size(0, to->lz4_index_group) == 0)
		return EINVAL;
	return abd_arc_capacity_check(to->capacity_bytes);
}

static void abd_arc_capacity_set(struct abd_arc *arc, size_t capacity)
{
	size_t seen_bytes = abd_arc_seen_bytes(&arc->seen);

	arc->capacity = capacity;
	abd_arc_policy_resize(&arc->policy, abd_arc_target(capacity) - seen_bytes);
	abd_arc_store_resize(&arc->store, capacity);
}

/* The table of keys that were put before, for this capacity. False: no memory. */
static bool abd_arc_seen_start(struct abd_arc *arc)
{
	if ((arc->flags & ABD_ARC_SECOND_TIME) == 0)
		return true;
	abd_arc_seen_init(&arc->seen, arc->capacity);
	abd_arc_capacity_set(arc, arc->capacity);
	return arc->seen.places > 0;
}

static void abd_arc_start(struct abd_arc *arc, const struct abd_arc_config *config)
{
	memset(arc, 0, sizeof(*arc));
	arc->seed = abd_arc_seed(arc);
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled just above */
	arc->flags = config->flags;
	arc->hit_batch = config->hit_batch;
	arc->block_index_min = config->lz4_index_min;
	arc->block_index_group = config->lz4_index_group;
	arc->capacity = arc->goal = config->capacity_bytes;
	arc->retired.next = arc->retired.prev = &arc->retired;
	arc->waiting.next = arc->waiting.prev = &arc->waiting;
	arc->pinned.next = arc->pinned.prev = &arc->pinned;
	arc->untold.next = arc->untold.prev = &arc->untold;
	arc->evicted_cb = config->evicted_cb;
	arc->evicted_arg = config->evicted_arg;
	pthread_mutex_init(&arc->lock, NULL);
	pthread_mutex_init(&arc->reclaim_lock, NULL);

	arc->index_cost = (uint32_t)abd_arc_index_cost();
	abd_arc_store_init(&arc->store, arc->capacity);
	abd_arc_policy_init(
		&arc->policy, abd_arc_target(arc->capacity), abd_arc_policy_ghost_cost());
	arc->policy.period_us = arc->hit_batch > 1 ? ABD_ARC_PERIOD_US : 0;
}

abd_arc_t *abd_arc_create(const struct abd_arc_config *config)
{
	struct abd_arc_config known;
	struct abd_arc *arc;

	ABD_REQUIRE(config != NULL, "config is NULL");
	abd_init();
	/*
	 * Choosing a kernel may take a lock and read files, which the first read must not do inside
	 * a section. It may also set errno.
	 */
	(void)abd_lz4_decoder_for(0);
	errno = abd_arc_config_take(&known, config);
	if (errno != 0)
		return NULL;
	arc = abd_mem_alloc(sizeof(*arc), 64);
	if (arc == NULL)
		goto no_memory;
	abd_arc_start(arc, &known);
	if (!abd_arc_seen_start(arc))
		goto no_table;
	/* Room ahead for at most as many entries as fit with records of 512 bytes. */
	arc->index =
		abd_arc_index_new(abd_min(known.expected_entries, arc->capacity / 512), arc->seed);
	if (arc->index == NULL)
		goto no_index;
	abd_arc_reader_open(arc);
	return arc;

no_index:
	abd_arc_seen_fini(&arc->seen);
no_table:
	abd_mem_free(arc, sizeof(*arc), 64);
no_memory:
	errno = ENOMEM;
	return NULL;
}

static void abd_arc_empty(struct abd_arc *arc)
{
	struct abd_arc_item *item;

	pthread_mutex_lock(&arc->lock);
	while ((item = abd_arc_policy_victim(&arc->policy, false)) != NULL)
		abd_arc_drop(arc, abd_arc_entry_of(item));
	pthread_mutex_unlock(&arc->lock);
	abd_arc_reclaim(arc);
}

void abd_arc_destroy(abd_arc_t *arc)
{
	if (arc == NULL)
		return;

	abd_arc_require_untelling(__func__, arc);
	pthread_mutex_lock(&arc->lock);
	size_t held = abd_arc_held_bytes(arc);
	const struct abd_arc_filling *filling = abd_arc_filling_any(arc);

	pthread_mutex_unlock(&arc->lock);
	if (ABD_UNLIKELY(filling != NULL))
		abd_contract_fail(__func__,
			"the fill of %llu:%llx:%llx:%llu was neither committed nor abandoned",
			(unsigned long long)filling->key.pool,
			(unsigned long long)filling->key.dva[0],
			(unsigned long long)filling->key.dva[1],
			(unsigned long long)filling->key.birth);
	ABD_REQUIRE(held == 0, "records of %zu bytes are held while their cache ends", held);

	abd_arc_reader_close(arc);
	abd_arc_empty(arc);
	assert(arc->store.bytes == 0 && arc->run_bytes == 0 && arc->evicted_bytes == 0);
	abd_arc_index_free(arc->index);
	abd_arc_policy_fini(&arc->policy);
	abd_arc_seen_fini(&arc->seen);
	abd_arc_readers_free(arc);
	abd_arc_fillings_free(arc);
	pthread_mutex_destroy(&arc->reclaim_lock);
	pthread_mutex_destroy(&arc->lock);
	abd_mem_free(arc, sizeof(*arc), 64);
}

/*
 * Give back some of the memory that the index no longer needs. One thread at a time; a second one
 * waits, and then joins the lines that the first one still needed. False: no lines were joined.
 */
static bool abd_arc_resize_index(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->reclaim_lock);
	abd_arc_reclaim_finish(arc); /* lines are joined again only when readers have been waited
					for */
	pthread_mutex_lock(&arc->lock);
	size_t before = abd_arc_index_bytes(arc->index);
	bool shrunk = abd_arc_index_shrink(arc->index, abd_arc_indexed(arc));

	pthread_mutex_unlock(&arc->lock);
	if (shrunk) {
		abd_rcu_synchronize();
		pthread_mutex_lock(&arc->lock);
		abd_arc_index_shrink_end(arc->index);
		shrunk = abd_arc_index_bytes(arc->index) < before;
		pthread_mutex_unlock(&arc->lock);
	}
	abd_arc_reclaim_unlock(arc);
	return shrunk;
}

/* Give back some of the memory that the ghosts no longer need. False: there is none. */
static bool abd_arc_resize_ghosts(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	bool any = abd_arc_policy_tidy(&arc->policy);

	pthread_mutex_unlock(&arc->lock);
	return any;
}

/*
 * Come nearer to a smaller capacity by one step, in which the records of a whole cache would not be
 * evicted at once: the lock is not held for long. False: the goal is reached.
 */
static bool abd_arc_resize_step(struct abd_arc *arc, size_t step)
{
	pthread_mutex_lock(&arc->lock);
	size_t used = abd_min(arc->capacity, abd_arc_used(arc));
	bool more = abd_arc_evict_for(arc, ABD_ARC_NONE, 0, false);

	if (!more && arc->capacity > arc->goal) {
		abd_arc_capacity_set(arc, used > arc->goal + step ? used - step : arc->goal);
		more = true;
	}
	pthread_mutex_unlock(&arc->lock);
	return more;
}

/* What a record costs on average; 4 KiB if there is none. Under lock. */
static size_t abd_arc_record_mean(const struct abd_arc *arc)
{
	size_t count = abd_arc_entries(arc);

	return count > 0 ? (arc->policy.recent.bytes + arc->policy.frequent.bytes) / count : 4096;
}

/*
 * A table of keys for this capacity, if it needs another one than the cache has. It is large, so it
 * is made without the lock.
 */
static struct abd_arc_seen abd_arc_resize_seen(struct abd_arc *arc, size_t capacity)
{
	struct abd_arc_seen seen = {NULL, 0};

	pthread_mutex_lock(&arc->lock);
	bool is_other = (arc->flags & ABD_ARC_SECOND_TIME) != 0 &&
			arc->seen.places != abd_arc_seen_places(capacity);

	pthread_mutex_unlock(&arc->lock);
	if (is_other)
		abd_arc_seen_init(&seen, capacity);
	return seen;
}

int abd_arc_resize(abd_arc_t *arc, size_t capacity_bytes)
{
	ABD_REQUIRE(arc != NULL, "cache is NULL");
	abd_arc_require_untelling(__func__, arc);

	int error = abd_arc_capacity_check(capacity_bytes);

	if (error != 0)
		return -error;
	struct abd_arc_seen seen = abd_arc_resize_seen(arc, capacity_bytes);

	pthread_mutex_lock(&arc->lock);
	arc->goal = capacity_bytes;
	abd_arc_seen_resize(&arc->seen, &seen, capacity_bytes);
	abd_arc_capacity_set(arc, capacity_bytes > arc->capacity ? capacity_bytes : arc->capacity);

	bool smaller = capacity_bytes < arc->capacity;
	size_t step = abd_min((arc->capacity - capacity_bytes) / ABD_ARC_RESIZE_STEPS + 1,
		ABD_ARC_RESIZE_PIECE * abd_arc_record_mean(arc));

	pthread_mutex_unlock(&arc->lock);
	abd_arc_seen_fini(&seen);
	for (unsigned i = 1; abd_arc_resize_step(arc, step); i++)
		if (i % ABD_ARC_RESIZE_WAIT == 0)
			abd_arc_make_room(arc, -1);

	/* When the cache grows, the index keeps the room that it got for expected_entries. */
	while (smaller && abd_arc_resize_index(arc))
		continue;
	while (abd_arc_resize_ghosts(arc))
		continue;
	abd_arc_reclaim(arc);
	abd_arc_make_room(arc, -1);
	return 0;
}

static void abd_arc_stats_sum(struct abd_arc *arc, uint64_t count[ABD_ARC_COUNTS])
{
	struct abd_arc_reader *reader;

	for (unsigned i = 0; i < ABD_ARC_COUNTS; i++)
		count[i] = atomic_load_explicit(&arc->orphan_count[i], memory_order_relaxed);
	for (reader = arc->readers; reader != NULL; reader = reader->next)
		for (unsigned i = 0; i < ABD_ARC_COUNTS; i++)
			count[i] += atomic_load_explicit(&reader->count[i], memory_order_relaxed);
}

/* Under lock. */
static void abd_arc_stats_fill(struct abd_arc *arc, struct abd_arc_stats *stats)
{
	const struct abd_arc_policy *policy = &arc->policy;
	uint64_t count[ABD_ARC_COUNTS];

	abd_arc_stats_sum(arc, count);
	*stats = arc->stats;
	stats->hits = count[ABD_ARC_COUNT_HITS];
	stats->misses = count[ABD_ARC_COUNT_MISSES];
	stats->decodes = count[ABD_ARC_COUNT_DECODES];
	stats->hits_dropped = count[ABD_ARC_COUNT_DROPPED];
	stats->capacity_bytes = arc->capacity;
	stats->used_bytes = abd_arc_used(arc);
	stats->entries = abd_arc_entries(arc);
	stats->recent_bytes = policy->recent.bytes;
	stats->frequent_bytes = policy->frequent.bytes;
	stats->ghost_recent_bytes = policy->ghost_recent.bytes;
	stats->ghost_frequent_bytes = policy->ghost_frequent.bytes;
	stats->ghosts = policy->ghost_recent.count + policy->ghost_frequent.count;
	stats->target_bytes = policy->capacity;
	stats->target_recent_bytes = policy->target_recent;
	stats->evicted_bytes = arc->evicted_bytes;
	stats->held_bytes = abd_arc_held_bytes(arc);
	stats->resident_bytes = stats->used_bytes + abd_chunk_idle(arc->store.provider);
	stats->index_bytes += stats->entries * abd_arc_entry_size(arc, 0) +
			      abd_arc_policy_ghost_bytes(policy) + abd_arc_index_bytes(arc->index) +
			      abd_arc_seen_bytes(&arc->seen);
}

static_assert(sizeof(struct abd_arc_stats) == 36 * sizeof(uint64_t), "no padding");

int abd_arc_stats_get(abd_arc_t *arc, struct abd_arc_stats *stats, size_t stats_size)
{
	struct abd_arc_stats now;

	ABD_REQUIRE(arc != NULL && stats != NULL, "cache or record is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	pthread_mutex_lock(&arc->lock);
	abd_arc_stats_fill(arc, &now);
	pthread_mutex_unlock(&arc->lock);

	size_t known = abd_min(stats_size, sizeof(now));

	memcpy(stats, &now, known);
	memset((char *)stats + known, 0, stats_size - known);
	return 0;
}
