/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's cache, as it is installed: a request holds its record, and fills it in if it is not
 * there. Simulated policies count bytes of records alone, and this cache counts all its memory. So
 * that policies are compared, not ways to store, it gets so much capacity that it holds as many
 * bytes of records as the others may.
 */
#include "policy.h"

#include <err.h>

/* Requests between two looks at how much it holds, and the least change of the capacity. */
enum { LOOK = 2048, STEP = 256 };

void library_begin(struct cache *cache)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.hit_batch = cache->policy->hit_batch,
		.flags = cache->policy->flags};

	cache->arc_capacity = cache->capacity + cache->capacity / 16 + ABD_ARC_CAPACITY_MIN;
	config.capacity_bytes = cache->arc_capacity;
	cache->arc = abd_arc_create(&config);
	if (cache->arc == NULL)
		errx(1, "no memory for a cache");
}

/* Change the capacity if it is full of less, or of more, than the others may hold. */
static void library_look(struct cache *cache)
{
	struct abd_arc_stats stats;
	double now = (double)cache->arc_capacity, full, wanted;

	abd_arc_stats_get(cache->arc, &stats, sizeof(stats));
	full = (double)stats.stored_bytes / (double)cache->capacity;
	if (stats.stored_bytes == 0 || (stats.evictions == cache->evictions && full <= 1))
		return;
	cache->evictions = stats.evictions;
	cache->held += (full - cache->held) / (double)++cache->looks;
	wanted = now * (double)cache->capacity / (double)stats.stored_bytes;
	wanted = wanted > 2 * now ? 2 * now : wanted;
	wanted = wanted < ABD_ARC_CAPACITY_MIN ? ABD_ARC_CAPACITY_MIN : wanted;
	if (wanted > now * (1 - 1.0 / STEP) && wanted < now * (1 + 1.0 / STEP))
		return;
	cache->arc_capacity = (size_t)wanted;
	if (abd_arc_resize(cache->arc, cache->arc_capacity) != 0)
		errx(1, "a cache can't be resized");
}

bool library_access(struct cache *cache, const struct request *request)
{
	abd_arc_key_t key = {.pool = 1, .dva = {request->key, 0}, .birth = 1};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	int answer;

	if (++cache->requests % LOOK == 0)
		library_look(cache);
	answer = abd_arc_hold_or_fill(cache->arc, &key, request->size, 0, &hold, &fill);
	if (answer == 0)
		abd_arc_release(&hold);
	else if (answer == 1) /* else it is too large, or there is no memory: not cached */
		(void)abd_arc_fill_commit(&fill, request->size, request->size, ABD_ARC_PLAIN, NULL);
	return answer == 0;
}
