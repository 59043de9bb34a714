/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's cache, as it is installed: a request holds its record, and fills it in if it is not
 * there. Nothing is written into the record, and from 4 KiB up nothing is copied.
 *
 * Simulated policies count bytes of records alone, and this cache counts all its memory. So that
 * policies are compared, not ways to store, it gets more capacity: so much that it holds as many
 * bytes of records as the others may. What that takes is memory().
 */
#include "abd_perf_policy.h"
#include "abd_perf_say.h"

#include <abd/arc.h>

#include <stdlib.h>
#include <string.h>

/* Requests between two looks at how much it holds, and the least change of the capacity. */
#define ABD_PERF_LIBRARY_LOOK 2048
#define ABD_PERF_LIBRARY_STEP 256

struct abd_perf_library {
	abd_arc_t *arc;
	size_t capacity;                     /* of arc */
	uint64_t requests, evictions, looks; /* looks: while it was full */
};

static void abd_perf_library_begin(struct abd_perf_cache *cache)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.hit_batch = cache->policy->hit_batch,
		.flags = cache->policy->flags};
	struct abd_perf_library *own = abd_perf_policy_alloc(sizeof(*own));

	own->capacity = cache->capacity + cache->capacity / 16 + ABD_ARC_CAPACITY_MIN;
	config.capacity_bytes = own->capacity;
	own->arc = abd_arc_create(&config);
	if (own->arc == NULL)
		abd_perf_say_die(1, "no memory for a cache");
	cache->own = own;
}

static void abd_perf_library_end(struct abd_perf_cache *cache)
{
	struct abd_perf_library *own = cache->own;

	abd_arc_destroy(own->arc);
	free(own);
}

/* Change the capacity if it is full of less, or of more, than the others may hold. */
static void abd_perf_library_look(struct abd_perf_cache *cache, struct abd_perf_library *own)
{
	struct abd_arc_stats stats;
	double wanted;

	abd_arc_stats_get(own->arc, &stats, sizeof(stats));
	cache->used = stats.stored_bytes;
	if (stats.stored_bytes == 0 ||
		(stats.evictions == own->evictions && stats.stored_bytes <= cache->capacity))
		return;
	own->evictions = stats.evictions;
	cache->held += ((double)stats.stored_bytes / (double)cache->capacity - cache->held) /
		       (double)++own->looks;
	wanted = (double)own->capacity * (double)cache->capacity / (double)stats.stored_bytes;
	if (wanted > 2 * (double)own->capacity)
		wanted = 2 * (double)own->capacity;
	if (wanted < ABD_ARC_CAPACITY_MIN)
		wanted = ABD_ARC_CAPACITY_MIN;
	if (wanted > (double)own->capacity * (1 - 1.0 / ABD_PERF_LIBRARY_STEP) &&
		wanted < (double)own->capacity * (1 + 1.0 / ABD_PERF_LIBRARY_STEP))
		return;
	own->capacity = (size_t)wanted;
	if (abd_arc_resize(own->arc, own->capacity) != 0)
		abd_perf_say_die(1, "a cache can't be resized");
}

static bool abd_perf_library_access(
	struct abd_perf_cache *cache, const struct abd_perf_request *request)
{
	struct abd_perf_library *own = cache->own;
	abd_arc_key_t key = {.pool = 1, .dva = {request->key, 0}, .birth = 1};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	if (++own->requests % ABD_PERF_LIBRARY_LOOK == 0)
		abd_perf_library_look(cache, own);
	switch (abd_arc_hold_or_fill(own->arc, &key, request->size, 0, &hold, &fill)) {
	case 0:
		abd_arc_release(&hold);
		return true;
	case 1:
		(void)abd_arc_fill_commit(&fill, request->size, request->size, ABD_ARC_PLAIN, NULL);
		return false;
	default: /* too large for it, or no memory: not cached */
		return false;
	}
}

/* Everything beside the records' bytes: entries, index, ghosts, what is not used of its memory. */
static double abd_perf_library_memory(struct abd_perf_cache *cache)
{
	struct abd_perf_library *own = cache->own;
	struct abd_arc_stats stats;

	abd_arc_stats_get(own->arc, &stats, sizeof(stats));
	return stats.entries > 0
		       ? (double)(stats.used_bytes - stats.stored_bytes) / (double)stats.entries
		       : 0;
}

#define LIBRARY(says, ...)                                                                        \
	{                                                                                         \
		.name = says, .begin = abd_perf_library_begin, .end = abd_perf_library_end,       \
		.access = abd_perf_library_access, .memory = abd_perf_library_memory, __VA_ARGS__ \
	}

const struct abd_perf_policy abd_perf_policy_library = LIBRARY("ARC", .hit_batch = 0);
const struct abd_perf_policy abd_perf_policy_library_exact = LIBRARY("ARC, exact", .hit_batch = 1);
/* A fill that ends without a hold is a put, and the first one of a key is only remembered. */
const struct abd_perf_policy abd_perf_policy_library_second =
	LIBRARY("ARC, 2nd put", .flags = ABD_ARC_SECOND_TIME);
