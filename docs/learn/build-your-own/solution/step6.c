/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 6: the ARC of Megiddo and Modha, for records of one price. A list is a letter in each entry,
 * its order the time of last use: slow, and easy to see through.
 */
#include "mini.h"

#include <string.h>

struct cache *cache_make(size_t records)
{
	struct cache *cache = mem_get(sizeof(*cache));

	if (cache != NULL) {
		memset(cache, 0, sizeof(*cache));
		cache->records = records;
		cache->length[NONE] = 2 * records;
	}
	return cache;
}

static void move(struct cache *cache, struct entry *e, enum list list)
{
	cache->length[e->list]--;
	cache->length[list]++;
	e->list = list;
	e->used = ++cache->now;
	if (list != T1 && list != T2 && e->stored != NULL) {
		mini_free(e->stored);
		e->stored = NULL;
	}
}

/* Room for one record: the list that has more than its share gives one up, and remembers its name.
 */
static void evict(struct cache *cache, bool asked_from_b2)
{
	size_t recent = cache->length[T1];

	if (recent > 0 && (recent > cache->target || (asked_from_b2 && recent == cache->target)))
		move(cache, cache_oldest(cache, T1), B1);
	else
		move(cache, cache_oldest(cache, T2), B2);
}

bool cache_read(struct cache *cache, unsigned key, void *to)
{
	struct entry *e = cache_find(cache, key);

	if (e == NULL || e->stored == NULL)
		return false;
	if (e->packed == 0) {
		mini_copy_out(to, e->stored, 0, e->size);
	} else {
		void *lent = mini_borrow_copy(e->stored);
		if (lent == NULL)
			return false;
		unpack(to, e->size, lent, e->packed);
		mini_return(e->stored, lent);
	}
	move(cache, e, T2);
	return true;
}

static size_t at_least_one(size_t a, size_t b)
{
	return a > b ? a / b : 1;
}

/* An entry for the record, with room made for it. */
static struct entry *place(struct cache *cache, struct entry *e)
{
	size_t *n = cache->length;

	if (e != NULL && e->list == B1) {
		size_t more = cache->target + at_least_one(n[B2], n[B1]);

		cache->target = more < cache->records ? more : cache->records;
		evict(cache, false);
	} else if (e != NULL && e->list == B2) {
		size_t less = at_least_one(n[B1], n[B2]);

		cache->target -= less < cache->target ? less : cache->target;
		evict(cache, true);
	} else if (e == NULL) {
		if (n[T1] == cache->records) {
			move(cache, cache_oldest(cache, T1), NONE);
		} else if (n[T1] + n[T2] + n[B1] + n[B2] >= cache->records) {
			if (n[T1] + n[B1] == cache->records)
				move(cache, cache_oldest(cache, B1), NONE);
			else if (n[NONE] == 0)
				move(cache, cache_oldest(cache, B2), NONE);
			if (n[T1] + n[T2] == cache->records)
				evict(cache, false);
		}
		e = cache_oldest(cache, NONE);
	}
	return e;
}

bool cache_put(struct cache *cache, unsigned key, const void *from, size_t size)
{
	char *small = mem_get(size);

	if (small == NULL)
		return false;
	size_t packed = pack(small, from, size);
	struct mini *stored = mini_alloc(packed > 0 ? packed : size);
	if (stored != NULL) {
		struct entry *known = cache_find(cache, key), *e = place(cache, known);

		mini_copy_in(stored, packed > 0 ? small : from, 0, stored->size);
		if (e->stored != NULL)
			mini_free(e->stored);
		e->key = key;
		e->size = size;
		e->packed = packed;
		e->stored = stored;
		move(cache, e, known != NULL ? T2 : T1);
	}
	mem_put(small, size);
	return stored != NULL;
}

const char *cache_list(struct cache *cache, unsigned key)
{
	static const char *const name[] = {"", "T1", "T2", "B1", "B2"};
	struct entry *e = cache_find(cache, key);

	return name[e != NULL ? e->list : NONE];
}

void cache_end(struct cache *cache)
{
	for (struct entry *e = cache->entry; e < cache->entry + 2 * cache->records; e++)
		if (e->stored != NULL)
			mini_free(e->stored);
	mem_put(cache, sizeof(*cache));
}
