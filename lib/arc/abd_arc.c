/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache's beginning, end, size and counters.
 * OpenZFS: arc_init(), arc_fini(), arc_kstat_update() in module/zfs/arc.c.
 */
#include "abd_arc_callback.h"
#include "abd_arc_filling.h"
#include "abd_arc_free.h"
#include "abd_arc_hold.h"
#include "abd_chunk.h"
#include "abd_depot.h"
#include "abd_lz4_decode.h"
#include "abd_process.h"

#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define ABD_ARC_HIT_BATCH 64
#define ABD_ARC_LZ4_GROUP (16 << 10)
#define ABD_ARC_FLAGS \
	(ABD_ARC_CHECKSUM | ABD_ARC_SECOND_TIME | ABD_ARC_NO_GHOSTS | ABD_ARC_DESTROY_EVICTS)
static_assert((ABD_ARC_FLAGS & 0xffff) == 0, "those bits are flags of a record");
/*
 * The smallest capacity of a shard, if the cache chooses how many there are: from here up a store
 * has slots of all sizes, and its slabs are the smallest part of the capacity.
 */
#define ABD_ARC_SHARD_PART ((size_t)256 << 20)
/*
 * A resize to a smaller capacity takes RESIZE_STEPS steps or more. Each evicts about RESIZE_PIECE
 * records at most, and after RESIZE_WAIT steps the resize may wait for readers. Meanwhile puts may
 * use an eighth of the difference: otherwise they would wait for the resize, and do its work.
 */
#define ABD_ARC_RESIZE_STEPS 256
#define ABD_ARC_RESIZE_PIECE ((size_t)1024)
#define ABD_ARC_RESIZE_WAIT 16
#define ABD_ARC_RESIZE_LEEWAY_PART 8
/* A table of ghosts that is larger than this part of the capacity is of a far larger cache. */
#define ABD_ARC_GHOSTS_PART 32
/* Uses of a new record within this time are one use. OpenZFS: ARC_MINTIME, 62 ms. */
#define ABD_ARC_PERIOD_US 62000

/*
 * Random bytes, so that nobody can choose keys that collide. Only while the system has no random
 * bytes yet: the clock, which can be guessed.
 */
uint64_t abd_arc_seed(const void *salt)
{
	ABD_NO_CANCEL;
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
static int abd_arc_capacity_check(size_t capacity, size_t shards)
{
	if (capacity / shards < ABD_ARC_CAPACITY_MIN || capacity > PTRDIFF_MAX)
		return EINVAL;
	return capacity <= abd_chunk_bytes_max() ? 0 : ENOSPC;
}

/*
 * A shard's part of a number for the whole cache. All parts are equal, but the first shard has the
 * remainder.
 */
static size_t abd_arc_part(const struct abd_arc *arc, size_t whole)
{
	return whole / arc->shards + (arc->number == 0 ? whole % arc->shards : 0);
}

/*
 * How many shards suit a cache: with twice as many as processors, two of them rarely want the same
 * one.
 */
static size_t abd_arc_shards_for(const struct abd_arc_config *config)
{
	size_t most = abd_min(config->capacity_bytes / ABD_ARC_SHARD_PART, ABD_ARC_SHARDS_MAX);
	size_t processors = abd_process_processors(), shards = 1;

	while (2 * shards <= most && shards / 2 < processors)
		shards *= 2;
	return shards;
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
	if (to->shards == 0)
		to->shards = abd_arc_shards_for(to);
	if (to->lz4_effort > 12 || (to->lz4_effort > 0 && to->lz4_effort < 3))
		return EINVAL;
	if (abd_lz4_index_size(0, to->lz4_index_group) == 0 || to->shards > ABD_ARC_SHARDS_MAX ||
		(to->shards & (to->shards - 1)) != 0)
		return EINVAL;
	if (to->metadata_max_bytes == 0)
		to->metadata_max_bytes = SIZE_MAX;
	if (to->metadata_min_bytes > abd_min(to->metadata_max_bytes, to->capacity_bytes / 2))
		return EINVAL;
	return abd_arc_capacity_check(to->capacity_bytes, to->shards);
}

static void abd_arc_capacity_set(struct abd_arc *arc, size_t capacity)
{
	arc->capacity = capacity;
	abd_arc_target_follow(arc);
	abd_arc_store_resize(&arc->store, capacity);
}

/* The table of keys that were put before, for this capacity. False: no memory. */
static bool abd_arc_admission_start(struct abd_arc *arc)
{
	if ((arc->flags & ABD_ARC_SECOND_TIME) == 0)
		return true;
	abd_arc_admission_init(&arc->admission, arc->capacity);
	return arc->admission.places > 0;
}

/* What metadata has of a shard: an equal part of what it has of the cache. */
static void abd_arc_metadata_start(struct abd_arc *arc, const struct abd_arc_config *config)
{
	struct abd_arc_policy *policy = &arc->policy;

	policy->metadata_min = config->metadata_min_bytes / arc->shards;
	if (config->metadata_max_bytes < SIZE_MAX)
		policy->metadata_max = config->metadata_max_bytes / arc->shards;
	if (policy->metadata_min > 0 || policy->metadata_max < SIZE_MAX)
		policy->quotas = ABD_ARC_QUOTAS;
}

/* Begin a shard, which is all zero. False: no memory; abd_arc_end() ends what there is. */
static bool abd_arc_start(struct abd_arc *arc, const struct abd_arc_config *config)
{
	arc->flags = config->flags;
	arc->hit_batch = config->hit_batch;
	arc->block_index_min = config->lz4_index_min;
	arc->block_index_group = config->lz4_index_group;
	arc->effort = (uint32_t)config->lz4_effort;
	arc->capacity = arc->goal = abd_arc_part(arc, config->capacity_bytes);
	arc->retired.next = arc->retired.prev = &arc->retired;
	arc->waiting.next = arc->waiting.prev = &arc->waiting;
	arc->pinned.next = arc->pinned.prev = &arc->pinned;
	arc->pending.next = arc->pending.prev = &arc->pending;
	arc->evicted_cb = config->evicted_cb;
	arc->evicted_arg = config->evicted_arg;
	pthread_mutex_init(&arc->lock, NULL);
	pthread_mutex_init(&arc->reclaim_lock, NULL);
	pthread_mutex_init(&arc->whole_lock, NULL);

	abd_arc_store_init(&arc->store, arc->capacity);
	abd_arc_policy_init(&arc->policy, abd_arc_target(arc->capacity), ABD_ARC_GHOST_COST);
	arc->policy.forgets = (arc->flags & ABD_ARC_NO_GHOSTS) != 0;
	arc->policy.period_us = arc->hit_batch > 1 ? ABD_ARC_PERIOD_US : 0;
	abd_arc_metadata_start(arc, config);
	/* Room ahead for at most as many entries as fit with records of 512 bytes. */
	arc->index = abd_arc_index_new(
		abd_min(abd_arc_part(arc, config->expected_entries), arc->capacity / 512),
		arc->seed);
	if (arc->index == NULL || !abd_arc_admission_start(arc))
		return false;
	abd_arc_target_follow(arc);
	return true;
}

static void abd_arc_end(struct abd_arc *arc)
{
	if (arc->index != NULL)
		abd_arc_index_free(arc->index);
	abd_arc_policy_fini(&arc->policy);
	abd_arc_admission_fini(&arc->admission);
	abd_arc_fillings_free(arc);
	pthread_mutex_destroy(&arc->whole_lock);
	pthread_mutex_destroy(&arc->reclaim_lock);
	pthread_mutex_destroy(&arc->lock);
}

/* End the shards that were begun. Their memory goes back to the system as other buffers' does. */
static void abd_arc_free(struct abd_arc *arc, uint32_t begun, size_t shards)
{
	unsigned provider = arc->store.provider;

	while (begun > 0)
		abd_arc_end(&arc[--begun]);
	abd_mem_free(arc, shards * sizeof(*arc), 64);
	abd_chunk_trim(provider, false, abd_depot_reserve_bytes() / 4, SIZE_MAX);
}

abd_arc_t *abd_arc_create(const struct abd_arc_config *config)
{
	struct abd_arc_config known;
	struct abd_arc *arc;
	uint32_t started = 0;
	bool any = true;

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
	arc = abd_mem_alloc(known.shards * sizeof(*arc), 64);
	if (arc == NULL)
		goto no_memory;
	memset(arc, 0, known.shards * sizeof(*arc));
	for (uint64_t seed = abd_arc_seed(arc); any && started < known.shards; started++) {
		arc[started].seed = seed;
		arc[started].shards = (uint32_t)known.shards;
		arc[started].number = started;
		any = abd_arc_start(&arc[started], &known);
	}
	if (!any)
		goto no_shard;
	abd_arc_thread_open(arc);
	return arc;

no_shard:
	abd_arc_free(arc, started, known.shards);
no_memory:
	errno = ENOMEM;
	return NULL;
}

static void abd_arc_empty(struct abd_arc *arc)
{
	bool evicts = (arc->flags & ABD_ARC_DESTROY_EVICTS) != 0 && arc->evicted_cb != NULL;
	struct abd_arc_item *item;

	pthread_mutex_lock(&arc->lock);
	arc->policy.forgets = true;
	arc->is_ending = true;
	while ((item = abd_arc_policy_victim(&arc->policy, false)) != NULL)
		(evicts ? abd_arc_evict : abd_arc_drop)(arc, abd_arc_entry_of(item));
	pthread_mutex_unlock(&arc->lock);
	/* Nothing is held now, but a look may have seen a hold that has been released since. */
	do
		abd_arc_reclaim(arc);
	while (arc->waiting.next != &arc->waiting);
}

/* Nothing of a shard is being filled. Returns how many bytes are held. */
static size_t abd_arc_destroy_check(struct abd_arc *arc)
{
	size_t held = abd_arc_held_bytes(arc);

	pthread_mutex_lock(&arc->lock);
	const struct abd_arc_filling *filling = abd_arc_filling_any(arc);

	pthread_mutex_unlock(&arc->lock);
	if (ABD_UNLIKELY(filling != NULL))
		abd_contract_fail("abd_arc_destroy",
			"the fill of %llu:%llx:%llx:%llu was neither committed nor abandoned",
			(unsigned long long)filling->key.pool,
			(unsigned long long)filling->key.dva[0],
			(unsigned long long)filling->key.dva[1],
			(unsigned long long)filling->key.birth);
	return held;
}

void abd_arc_destroy(abd_arc_t *arc)
{
	size_t held = 0;

	if (arc == NULL)
		return;

	abd_arc_require_no_callback(__func__, arc);
	abd_arc_rcu_require_outside(__func__);
	abd_arc_thread_end_reads(arc);
	for (uint32_t i = 0; i < arc->shards; i++)
		held += abd_arc_destroy_check(&arc[i]);
	ABD_REQUIRE(held == 0, "the cache is destroyed while records of %zu bytes are held", held);

	abd_arc_thread_close(arc);
	for (uint32_t i = 0; i < arc->shards; i++) {
		abd_arc_empty(&arc[i]);
		assert(arc[i].store.bytes == 0 && arc[i].run_bytes == 0 &&
			arc[i].evicted_bytes == 0);
	}
	abd_arc_free(arc, arc->shards, arc->shards);
}

/*
 * Give back some of the memory that the index no longer needs. One thread at a time; a second one
 * waits, and then joins the lines that the first one still needed. False: no lines were joined.
 */
static bool abd_arc_resize_index(struct abd_arc *arc)
{
	size_t all = SIZE_MAX;

	pthread_mutex_lock(&arc->reclaim_lock);
	pthread_mutex_lock(&arc->lock);
	size_t before = abd_arc_index_bytes(arc->index);
	bool shrunk = abd_arc_index_shrink(arc->index, abd_arc_indexed(arc));

	pthread_mutex_unlock(&arc->lock);
	if (shrunk) {
		abd_arc_rcu_synchronize();
		pthread_mutex_lock(&arc->lock);
		arc->stats.waits++;
		abd_arc_index_shrink_end(arc->index);
		shrunk = abd_arc_index_bytes(arc->index) < before;
		pthread_mutex_unlock(&arc->lock);
	}
	abd_arc_reclaim_unlock(arc, &all);
	return shrunk;
}

/*
 * One step towards a smaller capacity. It evicts only some records, so that it does not hold the
 * lock for long. False: the goal is reached.
 */
static bool abd_arc_resize_step(struct abd_arc *arc, size_t step)
{
	pthread_mutex_lock(&arc->lock);
	size_t used = abd_min(arc->capacity, abd_arc_used(arc));
	bool more = abd_arc_evict_for(arc, ABD_ARC_NONE, 0, false);

	abd_arc_ceiling_follow(arc);
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
static struct abd_arc_admission abd_arc_resize_admission(struct abd_arc *arc, size_t capacity)
{
	struct abd_arc_admission filter = {NULL, 0};

	pthread_mutex_lock(&arc->lock);
	bool is_other = (arc->flags & ABD_ARC_SECOND_TIME) != 0 &&
			arc->admission.places != abd_arc_admission_places(capacity);

	pthread_mutex_unlock(&arc->lock);
	if (is_other)
		abd_arc_admission_init(&filter, capacity);
	return filter;
}

/*
 * Take the ghosts, if they are of a far larger cache than this: their table does not shrink. Under
 * lock.
 */
static struct abd_arc_ghosts abd_arc_resize_ghosts(struct abd_arc *arc, size_t capacity)
{
	struct abd_arc_ghosts *now = &arc->policy.ghosts, old = {.page = NULL};

	if (abd_arc_ghosts_bytes(now) > capacity / ABD_ARC_GHOSTS_PART + 2 * ABD_CHUNK_SIZE) {
		old = *now;
		*now = (struct abd_arc_ghosts){.provider = old.provider};
	}
	return old;
}

/* Set a shard's goal; it grows at once. Under whole_lock. */
static void abd_arc_resize_begin(struct abd_arc *arc, size_t capacity)
{
	struct abd_arc_admission filter = abd_arc_resize_admission(arc, capacity);

	pthread_mutex_lock(&arc->lock);
	size_t less = arc->capacity - abd_min(arc->capacity, capacity);

	arc->goal = capacity;
	arc->leeway = less / ABD_ARC_RESIZE_LEEWAY_PART + abd_arc_reserve(arc->capacity);
	arc->ceiling = abd_arc_used(arc) > arc->capacity ? abd_arc_used(arc) : arc->capacity;
	abd_arc_admission_resize(&arc->admission, &filter, capacity);
	struct abd_arc_ghosts ghosts = abd_arc_resize_ghosts(arc, capacity);

	abd_arc_capacity_set(arc, capacity > arc->capacity ? capacity : arc->capacity);
	abd_arc_ceiling_follow(arc);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_admission_fini(&filter); /* the tables that it no longer needs */
	abd_arc_ghosts_fini(&ghosts);
}

/* Make room, and give that memory back to the system at once, so that puts do not have to. */
static void abd_arc_resize_room(struct abd_arc *arc)
{
	size_t all = SIZE_MAX;

	pthread_mutex_lock(&arc->lock);
	bool is_needed = abd_arc_excess(arc, -1) > 0;

	pthread_mutex_unlock(&arc->lock);
	/* An index that is too large must not cost records. */
	while (is_needed && abd_arc_resize_index(arc))
		continue;
	abd_arc_make_room(arc, -1, &all);
	pthread_mutex_lock(&arc->lock);
	size_t reserve = abd_arc_reserve(arc->capacity * arc->shards);

	pthread_mutex_unlock(&arc->lock);
	abd_chunk_trim(arc->store.provider, true, reserve, SIZE_MAX);
}

/* Bring a shard to its goal. */
static void abd_arc_resize_end(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	bool smaller = arc->goal < arc->capacity;
	size_t step = abd_min((arc->capacity - arc->goal) / ABD_ARC_RESIZE_STEPS + 1,
		ABD_ARC_RESIZE_PIECE * abd_arc_record_mean(arc));

	pthread_mutex_unlock(&arc->lock);
	for (unsigned i = 1; abd_arc_resize_step(arc, step); i++) {
		if (i % ABD_ARC_RESIZE_WAIT == 0)
			abd_arc_resize_room(arc);
		/*
		 * If the CPU serves others too, let it turn to them now: while a step is
		 * interrupted, puts wait for its lock.
		 */
		sched_yield();
	}

	/* When the cache grows, the index keeps the room that it got for expected_entries. */
	while (smaller && abd_arc_resize_index(arc))
		continue;
	abd_arc_reclaim(arc);
	abd_arc_resize_room(arc);
	pthread_mutex_lock(&arc->lock);
	arc->ceiling = 0;
	pthread_mutex_unlock(&arc->lock);
}

int abd_arc_resize(abd_arc_t *arc, size_t capacity_bytes)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	abd_arc_require_no_callback(__func__, arc);
	abd_arc_rcu_require_outside(__func__);

	int error = abd_arc_capacity_check(capacity_bytes, arc->shards);

	if (error != 0)
		return -error;
	if (arc->policy.metadata_min > capacity_bytes / arc->shards / 2)
		return -ENOSPC;
	/* Of two calls at a time, the later one sets the goals of all. */
	pthread_mutex_lock(&arc->whole_lock);
	for (uint32_t i = 0; i < arc->shards; i++)
		abd_arc_resize_begin(&arc[i], abd_arc_part(&arc[i], capacity_bytes));
	pthread_mutex_unlock(&arc->whole_lock);
	for (uint32_t i = 0; i < arc->shards; i++)
		abd_arc_resize_end(&arc[i]);
	return 0;
}

static void abd_arc_stats_fill(struct abd_arc *arc, struct abd_arc_stats *stats)
{
	const struct abd_arc_policy *policy = &arc->policy;
	size_t held = abd_arc_held_bytes(arc);
	int64_t count[ABD_ARC_COUNTS];

	abd_arc_thread_counts(arc, count);
	pthread_mutex_lock(&arc->lock);
	*stats = arc->stats;
	stats->hits = (uint64_t)count[ABD_ARC_COUNT_HITS];
	stats->misses = (uint64_t)count[ABD_ARC_COUNT_MISSES];
	stats->decodes = (uint64_t)count[ABD_ARC_COUNT_DECODES];
	stats->hits_dropped = (uint64_t)count[ABD_ARC_COUNT_DROPPED];
	stats->capacity_bytes = arc->capacity;
	stats->used_bytes = abd_arc_used(arc);
	stats->entries = abd_arc_entries(arc);
	stats->recent_bytes = policy->recent.bytes;
	stats->frequent_bytes = policy->frequent.bytes;
	stats->ghost_recent_bytes = policy->ghosts.list[ABD_ARC_RECENT].bytes;
	stats->ghost_frequent_bytes = policy->ghosts.list[ABD_ARC_FREQUENT].bytes;
	stats->ghosts = abd_arc_ghosts_count(&policy->ghosts);
	stats->target_bytes = policy->capacity;
	stats->target_recent_bytes = policy->target_recent;
	stats->evicted_bytes = arc->evicted_bytes;
	stats->held_bytes = held;
	stats->resident_bytes = stats->used_bytes + sizeof(*arc);
	stats->index_bytes += stats->entries * abd_arc_entry_size(arc, 0, 0) +
			      abd_arc_ghosts_bytes(&policy->ghosts) +
			      abd_arc_index_bytes(arc->index) +
			      abd_arc_admission_bytes(&arc->admission);
	stats->metadata_bytes = policy->quota[ABD_ARC_QUOTA_METADATA].bytes;
	pthread_mutex_unlock(&arc->lock);
}

#define ABD_ARC_STATS (sizeof(struct abd_arc_stats) / sizeof(uint64_t))

static_assert(
	ABD_ARC_STATS == 38 && sizeof(struct abd_arc_stats) % sizeof(uint64_t) == 0, "no padding");

/* Every statistic of a cache is the sum of its shards'. */
static void abd_arc_stats_add(struct abd_arc_stats *sum, const struct abd_arc_stats *one)
{
	uint64_t word[2][ABD_ARC_STATS];

	memcpy(word[0], sum, sizeof(*sum));
	memcpy(word[1], one, sizeof(*one));
	for (size_t i = 0; i < ABD_ARC_STATS; i++)
		word[0][i] += word[1][i];
	memcpy(sum, word[0], sizeof(*sum));
}

int abd_arc_stats_get(abd_arc_t *arc, struct abd_arc_stats *stats, size_t stats_size)
{
	struct abd_arc_stats now = {.resident_bytes = 0}, one;

	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(stats != NULL, "stats is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	for (uint32_t i = 0; i < arc->shards; i++) {
		abd_arc_stats_fill(&arc[i], &one);
		abd_arc_stats_add(&now, &one);
	}
	now.thread_bytes = abd_arc_thread_bytes();
	now.resident_bytes += abd_chunk_idle(arc->store.provider) + now.thread_bytes;

	size_t known = abd_min(stats_size, sizeof(now));

	memcpy(stats, &now, known);
	memset((char *)stats + known, 0, stats_size - known);
	return 0;
}
