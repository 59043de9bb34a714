/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

enum { SIZE = 20000 };
static char record[SIZE], back[SIZE];

static void fill(unsigned key)
{
	for (size_t i = 0; i < SIZE; i++)
		record[i] = (char)(key + i / 100);
}

/* A read, and a put if it missed. */
static bool request(struct cache *cache, unsigned key)
{
	fill(key);
	bool hit = cache_read(cache, key, back);
	if (hit)
		must(memcmp(back, record, SIZE) == 0,
			"a record came out of the cache with other bytes than went in");
	else
		must(cache_put(cache, key, record, SIZE), "a record was not put");
	return hit;
}

static bool is_in(struct cache *cache, unsigned key, const char *list)
{
	return strcmp(cache_list(cache, key), list) == 0;
}

/* What is true of the lists after each request. */
static void lists_are_right(const struct cache *cache)
{
	size_t counted[B2 + 1] = {0}, records = cache->records;
	const size_t *n = cache->length;

	for (size_t i = 0; i < 2 * records; i++)
		counted[cache->entry[i].list]++;
	must(memcmp(counted, n, sizeof(counted)) == 0,
		"length[] is not how many entries each list has: NONE counts, too");
	must(cache->target <= records,
		"the target is no number from 0 to records: it grows no further, and shrinks no "
		"further");
	must(n[T1] + n[T2] <= records,
		"T1 and T2 together have more records than there is room for");
	must(n[T1] + n[B1] <= records, "T1 and B1 together have more names than there is room for");
}

int main(void)
{
	about("a cache that was just made");
	struct cache *cache = cache_make(3);
	lists_are_right(cache);
	must(cache->target == 0, "the target begins at 0");

	about("room for three; the requests 1 2 1");
	must(!request(cache, 1) && !request(cache, 2), "an empty cache has no records");
	must(mem_in_use() < 2 * SIZE, "these records pack well, and were stored as they are");
	must(request(cache, 1), "record 1 was put, and is not found");
	must(is_in(cache, 1, "T2"),
		"record 1 was used twice, and is not in T2: in T1 a scan pushes it out, as in "
		"any LRU list");
	must(is_in(cache, 2, "T1"), "record 2 was used once, and is not in T1");

	about("room for three; the requests 1 2 1 3 4");
	request(cache, 3);
	request(cache, 4);
	must(is_in(cache, 1, "T2"),
		"3 and 4 came, used once, and pushed out 1, which was used twice");
	must(is_in(cache, 2, "B1"), "2 was evicted from T1: its name should be in B1");
	must(!cache_read(cache, 2, back), "a ghost has a name and no bytes");

	about("room for three; the requests 1 2 1 3 4 5 2 4");
	request(cache, 5);
	must(is_in(cache, 3, "B1") && is_in(cache, 2, ""),
		"T1 and B1 together have three names at most: 2, the oldest, is forgotten");
	request(cache, 2);
	must(is_in(cache, 2, "T1") && cache->target == 0, "2 was forgotten, so it is new");
	request(cache, 4);
	must(cache->target == 1, "4 was in B1: T1 was too small, so its target grows by one");
	must(is_in(cache, 4, "T2"), "4 came back: it was used twice, and belongs into T2");
	must(is_in(cache, 5, "B1") && is_in(cache, 2, "T1") && is_in(cache, 1, "T2"),
		"5 made room for 4: T1 had more than its target");

	about("room for three; the requests 1 2 1 3 4 5 2 4 2 6 1");
	must(request(cache, 2) && is_in(cache, 2, "T2"), "2 is there, and used twice");
	request(cache, 6);
	must(is_in(cache, 1, "B2"),
		"T1 was empty, so the oldest of T2 makes room: 1, whose name goes to B2");
	request(cache, 1);
	must(cache->target == 0, "1 was in B2: T1 was too large, so its target shrinks by one");
	must(is_in(cache, 1, "T2") && is_in(cache, 6, "B1"),
		"1 came back into T2, and 6 made room for it");
	cache_end(cache);
	all_came_back();

	about("room for three; the requests 1 2 3 4, each used once");
	cache = cache_make(3);
	for (unsigned key = 1; key <= 4; key++)
		request(cache, key);
	must(is_in(cache, 1, "") && is_in(cache, 2, "T1") && is_in(cache, 4, "T1"),
		"T1 alone had all the places: its oldest record, 1, goes for 4, and leaves no ghost");
	cache_end(cache);
	all_came_back();

	about("room for two; the requests 1 1 2 2 3 3 1");
	cache = cache_make(2);
	for (unsigned i = 0; i < 7; i++)
		request(cache, (unsigned)"1122331"[i] - '0');
	must(is_in(cache, 1, "T2") && is_in(cache, 2, "B2"),
		"1 came back from B2 when T1 was empty and its target 0: 2, the oldest of T2, "
		"should make room for it");
	cache_end(cache);
	all_came_back();

	about("room for three; the requests 1 3 4 3 5 1 4 3");
	cache = cache_make(3);
	for (unsigned i = 0; i < 8; i++)
		request(cache, (unsigned)"13435143"[i] - '0');
	must(is_in(cache, 3, "T2") && is_in(cache, 5, "B1") && is_in(cache, 1, "T2"),
		"3 came back from B2 when T1 had exactly its target: the oldest of T1, 5, should "
		"make room for it");
	cache_end(cache);
	all_came_back();

	about("room for three; a thousand requests for nine records, drawn at random");
	cache = cache_make(3);
	for (unsigned i = 0, x = 1; i < 1000; i++) {
		x = x * 1664525u + 1013904223u;
		request(cache, (x >> 16) % 9);
		lists_are_right(cache);
	}
	cache_end(cache);
	all_came_back();

	about("a record that is put again, and memory that is refused");
	cache = cache_make(3);
	request(cache, 1);
	size_t before = mem_in_use();
	fill(2);
	must(cache_put(cache, 1, record, SIZE) && is_in(cache, 1, "T2"),
		"a record that was there was put again, and is not in T2");
	must(cache_read(cache, 1, back) && memcmp(back, record, SIZE) == 0,
		"a record was put again, and its old bytes came out");
	must(mem_in_use() == before, "a record was put again, and its old buffer was not freed");
	for (size_t i = 0; i < SIZE; i++)
		record[i] = (char)(i * i % 251); /* nothing repeats: it can't be packed */
	mem_runs_left = 0;
	must(!cache_put(cache, 1, record, SIZE) && is_in(cache, 1, "T2"),
		"no memory was left for a put: it should return false, and the old record stay");
	mem_runs_left = (size_t)-1;
	must(mem_in_use() == before, "a put was refused, and left memory behind");
	must(cache_put(cache, 3, record, SIZE) && cache_read(cache, 3, back) &&
			memcmp(back, record, SIZE) == 0,
		"a record that can't be packed came out with other bytes than went in");
	cache_end(cache);
	all_came_back();

	about("four records in use beside a long scan");
	cache = cache_make(8);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned key = 0; key < 4; key++)
			request(cache, key);
	for (unsigned key = 100; key < 200; key++)
		request(cache, key);
	for (unsigned key = 0; key < 4; key++)
		must(request(cache, key), "a scan of 100 records pushed out the four in use");
	cache_end(cache);
	all_came_back();
	return 0;
}
