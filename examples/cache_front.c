/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache in front of a slow store: a read takes its block from the cache; on a miss it fetches the
 * block from the store and caches it. The cache holds an eighth of the store. Four requests in five
 * are for one tenth of the blocks. Every so often the whole store is read once, as by a backup: the
 * cache keeps the blocks in demand.
 */
#include <abd/abd.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 8 << 10, BLOCKS = 4096, REQUESTS = 40000, SCAN_EVERY = 10000 };

struct store {
	abd_arc_t *cache;
	unsigned long fetched, wrong;
};

/* The slow store: here it only counts. Blocks are lines of text that name their block. */
static void store_fetch(struct store *store, uint64_t block, char *dst)
{
	size_t at = 0;

	store->fetched++;
	memset(dst, 0, BLOCK);
	for (unsigned line = 0; at < BLOCK - 40; line++)
		at += (size_t)snprintf(dst + at, BLOCK - at, "block %u line %u\n", (unsigned)block,
			line * (unsigned)block);
}

/* What an engine calls for each block it wants. */
static void store_read(struct store *store, uint64_t block, char *dst)
{
	abd_arc_key_t key = {.pool = 1, .dva = {block, 0}, .birth = 1};
	char name[32];

	if (abd_arc_read(store->cache, &key, dst, 0, BLOCK) != BLOCK) {
		store_fetch(store, block, dst);
		/* Being out of memory is no failure: the next reader fetches the block again. */
		(void)abd_arc_put(store->cache, &key, dst, BLOCK);
	}
	snprintf(name, sizeof(name), "block %u line 0\n", (unsigned)block);
	store->wrong += strncmp(dst, name, strlen(name)) != 0;
}

int main(void)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = (size_t)BLOCKS * BLOCK / 8};
	struct store store = {abd_arc_create(&config), 0, 0};
	uint64_t random = 1;
	char block[BLOCK];

	if (store.cache == NULL)
		return 1;
	for (unsigned i = 0; i < REQUESTS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint64_t where = random >> 33;
		int often = where % 5 != 0;

		store_read(&store, where / 5 % (often ? BLOCKS / 10 : BLOCKS), block);
		for (uint64_t n = 0; i % SCAN_EVERY == SCAN_EVERY - 1 && n < BLOCKS; n++)
			store_read(&store, n, block);
	}

	struct abd_arc_stats stats;

	abd_arc_stats_get(store.cache, &stats, sizeof(stats));
	double reads = (double)(stats.hits + stats.misses);

	printf("%.0f reads, %u of 10 from the cache, %lu wrong\n", reads,
		(unsigned)(10 * (double)stats.hits / reads), store.wrong);
	printf("compressed to a %s, within capacity: %s\n",
		stats.stored_bytes * 2 < stats.logical_bytes ? "half or less" : "little less",
		stats.used_bytes <= stats.capacity_bytes ? "yes" : "no");
	abd_arc_destroy(store.cache);
	return store.wrong != 0;
}
