/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map: a mapping of 16 bytes per block; what was never touched costs no memory.
 */
#include "map.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

static_assert(sizeof(struct map_entry) == 16, "documented: 16 bytes per block");

int map_init(struct map *map, uint64_t blocks)
{
	pthread_rwlockattr_t prefer_writers;

	map->blocks = blocks;
	map->entry = mmap(NULL, (size_t)blocks * sizeof(*map->entry), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map->entry == MAP_FAILED) {
		map->entry = NULL;
		return -ENOMEM;
	}
	/* Prefer writers: by default, a steady stream of readers would keep them out. */
	pthread_rwlockattr_init(&prefer_writers);
	pthread_rwlockattr_setkind_np(
		&prefer_writers, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	for (unsigned i = 0; i < MAP_LOCKS; i++)
		pthread_rwlock_init(&map->lock[i].lock, &prefer_writers);
	pthread_rwlockattr_destroy(&prefer_writers);
	return 0;
}

void map_fini(struct map *map)
{
	if (map->entry == NULL)
		return;
	munmap(map->entry, (size_t)map->blocks * sizeof(*map->entry));
	map->entry = NULL;
	for (unsigned i = 0; i < MAP_LOCKS; i++)
		pthread_rwlock_destroy(&map->lock[i].lock);
}
