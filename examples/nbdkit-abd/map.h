/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map: which content each block of the device holds, and whether the backing file has it yet.
 *
 * A lock serves groups of MAP_GROUP neighbouring blocks, so that one log record can zero a group
 * under one lock. A thread that appends a record for a block holds the block's lock for writing
 * until the map says the same: log and map never disagree about order.
 * Invariant: dirty != 0 exactly when the newest record of the block lies in the log segment of that
 * epoch.
 */
#ifndef MAP_H
#define MAP_H

#include "content.h"

#define MAP_GROUP ((uint64_t)64)
#define MAP_LOCKS 256

struct map_entry {
	/*
	 * NULL: not known yet, what the backing file holds. From that to what it is, whoever has
	 * the lock for reading may change it; all other changes need the lock for writing.
	 */
	_Atomic(struct content *) content;
	uint32_t dirty; /* epoch of its newest record; 0: clean, the backing file has it */
	bool written;   /* dirty, and written to the backing file, which was not synced yet */
};

struct map_lock {
	pthread_rwlock_t lock;
} __attribute__((aligned(64)));

struct map {
	struct map_entry *entry;
	uint64_t blocks;
	struct map_lock lock[MAP_LOCKS];
};

/** Returns 0 or -ENOMEM. */
int map_init(struct map *map, uint64_t blocks);

void map_fini(struct map *map);

static inline pthread_rwlock_t *map_lock_of(struct map *map, uint64_t block)
{
	return &map->lock[block / MAP_GROUP % MAP_LOCKS].lock;
}

#endif
