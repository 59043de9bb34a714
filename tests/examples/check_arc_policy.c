/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * examples/arc-policy: the simulated policies, against models that are as slow as they are plain:
 * arrays that are searched from end to end, in records, not bytes. Bounds, against a search through
 * all that a cache could do. Traces, from damaged files too.
 */
#include "policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 64, ROOM = 40, KEYS = 150, REQUESTS = 6000, ROUNDS = 20 };

static unsigned failures;

static void check(bool condition, const char *claim)
{
	printf("%s: %s\n", condition ? "ok" : "FAILED", claim);
	failures += !condition;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Oldest first. */
struct queue {
	struct item {
		uint64_t key;
		unsigned uses;
	} item[4 * KEYS];
	size_t count;
};

static struct {
	struct queue q[4];
} model;

static bool find(unsigned q, uint64_t key, size_t *at)
{
	for (*at = 0; *at < model.q[q].count; ++*at)
		if (model.q[q].item[*at].key == key)
			return true;
	return false;
}

static struct item take(unsigned q, size_t at)
{
	struct item item = model.q[q].item[at];

	memmove(&model.q[q].item[at], &model.q[q].item[at + 1],
		(--model.q[q].count - at) * sizeof(item));
	return item;
}

static void push(unsigned q, struct item item)
{
	model.q[q].item[model.q[q].count++] = item;
}

static size_t count(unsigned q)
{
	return model.q[q].count;
}

static bool lru(uint64_t key)
{
	size_t at;
	bool hit = find(0, key, &at);

	if (hit)
		take(0, at);
	push(0, (struct item){key, 0});
	/* The list has all keys ever seen: a hit was among the last so many. */
	return hit && at + ROOM >= count(0);
}

enum { SMALL, MAIN, GHOST };

static void s3_fifo_main(void)
{
	struct item item = take(MAIN, 0);

	for (; item.uses > 0; item = take(MAIN, 0)) {
		item.uses--;
		push(MAIN, item);
	}
}

static void s3_fifo_small(void)
{
	bool evicted = false;

	while (!evicted && count(SMALL) > 0) {
		struct item item = take(SMALL, 0);

		evicted = item.uses <= 1;
		push(evicted ? GHOST : MAIN, (struct item){item.key, 0});
		if (10 * count(MAIN) > 9 * ROOM)
			s3_fifo_main();
		if (10 * count(GHOST) > 9 * ROOM)
			take(GHOST, 0);
	}
}

static bool s3_fifo(uint64_t key)
{
	size_t at;
	bool ghost = false;

	for (unsigned q = SMALL; q <= MAIN; q++) {
		if (find(q, key, &at)) {
			model.q[q].item[at].uses += model.q[q].item[at].uses < 3;
			return true;
		}
	}
	if (find(GHOST, key, &at)) {
		take(GHOST, at);
		ghost = true;
	}
	while (count(SMALL) + count(MAIN) == ROOM) {
		if (10 * count(SMALL) >= ROOM)
			s3_fifo_small();
		else
			s3_fifo_main();
	}
	push(ghost ? MAIN : SMALL, (struct item){key, 0});
	return false;
}

/* One record in the window, four fifths of the rest proven; counters of 4 rows, 10 adds each. */
enum { WINDOW, TRIAL, PROVEN, WIDTH = 64, MOST_PROVEN = (ROOM - 1) * 4 / 5 };

static unsigned counter[4][WIDTH], added;

static unsigned *count_of(uint64_t key, unsigned row)
{
	return &counter[row][hash_of(key + row * 0x9e3779b97f4a7c15u) % WIDTH];
}

static unsigned estimate(uint64_t key)
{
	unsigned least = 15;

	for (unsigned row = 0; row < 4; row++)
		least = *count_of(key, row) < least ? *count_of(key, row) : least;
	return least;
}

static void count_use(uint64_t key)
{
	unsigned least = estimate(key);

	for (unsigned row = 0; row < 4; row++)
		*count_of(key, row) += least < 15 && *count_of(key, row) == least;
	if (++added < 10 * WIDTH)
		return;
	for (unsigned i = 0; i < 4 * WIDTH; i++)
		counter[i / WIDTH][i % WIDTH] /= 2;
	added /= 2;
}

static bool w_tinylfu(uint64_t key)
{
	size_t at;

	if (count(WINDOW) == 0) { /* the first request */
		memset(counter, 0, sizeof(counter));
		added = 0;
	}
	count_use(key);
	if (find(WINDOW, key, &at))
		return true;
	for (unsigned q = TRIAL; q <= PROVEN; q++) {
		if (find(q, key, &at)) {
			push(PROVEN, take(q, at));
			if (count(PROVEN) > MOST_PROVEN)
				push(TRIAL, take(PROVEN, 0));
			return true;
		}
	}
	push(WINDOW, (struct item){key, 0});
	if (count(WINDOW) > 1) {
		struct item next = take(WINDOW, 0);
		unsigned q = count(TRIAL) > 0 ? TRIAL : PROVEN;

		if (count(TRIAL) + count(PROVEN) < ROOM - 1) {
			push(TRIAL, next);
		} else if (estimate(next.key) > estimate(model.q[q].item[0].key)) {
			take(q, 0);
			push(TRIAL, next);
		}
	}
	return false;
}

static const struct policy *policy_of(const char *name)
{
	for (unsigned i = 0; i < POLICIES; i++)
		if (strcmp(policies[i].name, name) == 0)
			return &policies[i];
	return NULL;
}

static uint64_t random_of(uint64_t *state)
{
	return hash_of((*state)++);
}

/* Skewed, with scans: what is drawn lies in the first keys more often. */
static uint64_t next_key(uint64_t *random, unsigned i)
{
	double part = (double)(random_of(random) >> 11) / 9007199254740992.0;

	if (i % 500 > 350)
		return KEYS / 2 + i % (KEYS / 2);
	return (uint64_t)(part * part * KEYS + i / 2000 * 7) % KEYS;
}

static void check_model(const char *name, bool (*step)(uint64_t key))
{
	const struct policy *policy = policy_of(name);
	unsigned wrong = 0, hits = 0;

	for (uint64_t seed = 0; seed < ROUNDS && policy != NULL; seed++) {
		struct cache cache;
		uint64_t random = seed;

		memset(&model, 0, sizeof(model));
		cache_begin(&cache, policy, ROOM * RECORD, KEYS);
		for (unsigned i = 0; i < REQUESTS; i++) {
			struct request request = {next_key(&random, i), RECORD, NEVER};
			bool hit = cache_access(&cache, &request);

			hits += hit;
			wrong += hit != step(request.key) || cache.used > cache.capacity;
		}
		cache_end(&cache);
	}
	check(policy != NULL && wrong == 0 && hits > ROUNDS * REQUESTS / 10, name);
}

/* ---- what needs no model --------------------------------------------------------------------- */

/* Every policy keeps within its capacity whatever the sizes, and has each record it says it has. */
static void check_sizes(void)
{
	uint64_t random = 7;
	bool right = true;

	for (unsigned n = 0; n < POLICIES; n++) {
		struct cache cache;

		if (policies[n].is_library)
			continue;
		cache_begin(&cache, &policies[n], 5000, KEYS);
		for (unsigned i = 0; i < 50000; i++) {
			uint64_t key = next_key(&random, i);
			struct request request = {
				key, (uint32_t)(1 + hash_of(key) % 6000 / (1 + key % 50)), NEVER};
			size_t bytes = 0;

			cache_access(&cache, &request);
			for (unsigned list = 0; list < GHOSTS; list++)
				bytes += cache.bytes[list];
			right &= cache.used == bytes && bytes <= cache.capacity;
		}
		cache_end(&cache);
	}
	check(right, "policies keep within the capacity, whatever sizes come");
}

/* The most hits, by a search through all that a cache could keep after each request. */
static double search(const struct trace *trace, size_t capacity)
{
	enum { SETS = 32 };
	double best[SETS] = {0}, next[SETS], most = 0;
	uint32_t size[5] = {0};

	for (size_t i = 0; i < trace->count; i++)
		size[trace->request[i].key] = trace->request[i].size;
	for (unsigned set = 1; set < SETS; set++)
		best[set] = -1;
	for (size_t i = 0; i < trace->count; i++) {
		unsigned bit = 1u << trace->request[i].key;

		for (unsigned to = 0; to < SETS; to++) {
			size_t bytes = 0;

			next[to] = -1;
			for (unsigned key = 0; key < 5; key++)
				bytes += to >> key & 1 ? size[key] : 0;
			for (unsigned from = 0; from < SETS && bytes <= capacity; from++) {
				if (best[from] >= 0 && (to & ~(from | bit)) == 0)
					next[to] = fmax(next[to], best[from] + ((from & bit) != 0));
			}
		}
		memcpy(best, next, sizeof(best));
	}
	for (unsigned set = 0; set < SETS; set++)
		most = fmax(most, best[set]);
	return most;
}

static void check_bounds(void)
{
	uint64_t random = 11;
	bool min = true, pfoo = true, feasible = true;

	for (unsigned round = 0; round < 2000; round++) {
		bool one_size = round % 2 == 0;
		struct trace trace = {0};
		size_t capacity = one_size ? 1 + round / 2 % 4 : 3 + round % 7;

		for (unsigned i = 0; i < 24; i++) {
			uint64_t key = random_of(&random) % 5;

			trace_add(&trace, key, one_size ? 1 : (uint32_t)(1 + 3 * key % 5));
		}
		trace_finish(&trace);
		double most = search(&trace, capacity), farthest = roof_min(&trace, capacity);

		min &= !one_size || farthest == most;
		feasible &= farthest <= most;
		pfoo &= roof_pfoo(&trace, capacity) >= most - 1e-9;
		free(trace.request);
	}
	check(min, "MIN has the most hits that a cache of records of one size can have");
	check(feasible, "farthest first has no more hits than can be had");
	check(pfoo, "PFOO-L is never below the most hits that can be had");
}

/* The library holds as many bytes of records as simulated policies may, whatever their sizes. */
static void check_library(void)
{
	double worst = 0;

	for (unsigned round = 0; round < 4; round++) {
		struct trace trace = {0};
		struct cache cache;
		uint64_t random = round, hits = 0;

		for (unsigned i = 0; i < 60000; i++) {
			uint64_t key = next_key(&random, i) * 40 + i % 40;

			trace_add(&trace, key,
				round % 2 == 0 ? 4096 : 64 + (uint32_t)(hash_of(key) % 9000));
		}
		trace_finish(&trace);
		cache_begin(&cache, policy_of("ARC, exact"), (size_t)trace.distinct_bytes / 8,
			trace.distinct);
		for (size_t i = 0; i < trace.count; i++)
			hits += cache_access(&cache, &trace.request[i]);
		printf("hits %.4f, LRU %.4f, held %.3f\n", (double)hits / (double)trace.count,
			cache_run(policy_of("LRU"), &trace, (size_t)trace.distinct_bytes / 8) /
				(double)trace.count,
			cache.held);
		worst = fmax(worst, fabs(cache.held - 1));
		cache_end(&cache);
		free(trace.request);
	}
	check(worst < 0.06, "the library holds as many bytes as the others, within 6 %");
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool reads(const char *text, size_t length, bool binary, struct trace *trace, char error[80])
{
	FILE *file = tmpfile();
	bool right;

	if (file == NULL || fwrite(text, 1, length, file) != length)
		exit(1);
	rewind(file);
	error[0] = '\0';
	right = trace_read(trace, file, binary, error, 80);
	fclose(file);
	return right;
}

static void check_text(void)
{
	static const char good[] = "# a comment\n\na 10\nb 20 7\n a\t30\r\nb 20 8\na 12";
	static const struct {
		const char *text, *error;
	} bad[] = {{"", "no request"}, {"# x\n", "no request"}, {"a 1\nb\n", "line 2: no size"},
		{"a 0", "line 1: no size"}, {"a -1", "line 1: no size"},
		{"a 1x", "line 1: no size"}, {"a 1073741825", "line 1: no size"},
		{"a 99999999999999999999999", "line 1: no size"}, {"a 1 b", "line 1: the pool"},
		{"a 1 2 3", "line 1: something after"}};
	struct trace trace;
	char error[80], longest[400];

	check(reads(good, sizeof(good) - 1, false, &trace, error) && trace.count == 5 &&
			trace.distinct == 3 && trace.request[0].next == 2 &&
			trace.request[2].next == 4 && trace.request[4].next == NEVER &&
			trace.request[0].size == 12 && trace.distinct_bytes == 52,
		"a text is read: pools are apart, a key has its last size");
	free(trace.request);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(!reads(bad[i].text, strlen(bad[i].text), false, &trace, error) &&
				strstr(error, bad[i].error) == error,
			bad[i].error);
		free(trace.request);
	}
	check(!reads("a 1\nb \0 1\n", 10, false, &trace, error) &&
			strstr(error, "line 2: a byte 0") == error,
		"a byte 0 is no text");
	free(trace.request);
	memset(longest, 'k', sizeof(longest));
	memcpy(longest + 255, " 1\n", 3);
	check(reads(longest, 258, false, &trace, error), "a key may have 255 bytes");
	free(trace.request);
	memcpy(longest + 255, "k 1\n", 4);
	check(!reads(longest, 259, false, &trace, error) &&
			strstr(error, "line 1: the key") == error,
		"and no more");
	free(trace.request);
}

static void check_oracle_general(void)
{
	/* time, key, size, next */
	char bytes[72] = {1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
		/* of size 0 */
		2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 3,
		0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
	struct trace trace;
	char error[80];

	check(reads(bytes, 72, true, &trace, error) && trace.count == 2 && trace.distinct == 1 &&
			trace.request[0].key == trace.request[1].key &&
			trace.request[0].size == 512 && trace.request[0].next == 1,
		"oracleGeneral is read; requests of size 0 are left out");
	free(trace.request);
	check(!reads(bytes, 71, true, &trace, error) && strstr(error, "byte 71: it ends") == error,
		"where it is cut off is said");
	free(trace.request);
	bytes[48 + 15] = 127;
	check(!reads(bytes, 72, true, &trace, error) && strstr(error, "byte 60: a record") == error,
		"where a size is impossible is said");
	free(trace.request);
}

/* What is read has sizes and an order that can be followed; what is not, says where. */
static void check_damage(void)
{
	static const char letters[] = "a1 0\t\n\r#-7\0z9";
	uint64_t random = 3;
	unsigned taken = 0, refused = 0;
	bool right = true;

	for (unsigned round = 0; round < 4000; round++) {
		char bytes[240], error[80];
		size_t length = random_of(&random) % sizeof(bytes);
		struct trace trace;

		for (size_t i = 0; i < length; i++)
			bytes[i] = round % 4 == 0
					   ? (char)random_of(&random)
					   : letters[random_of(&random) % (sizeof(letters) - 1)];
		if (reads(bytes, length, round % 2 == 0, &trace, error)) {
			taken++;
			for (size_t i = 0; i < trace.count; i++)
				right &= trace.request[i].size > 0 &&
					 trace.request[i].size <= SIZE_MOST &&
					 (trace.request[i].next == NEVER ||
						 (trace.request[i].next > i &&
							 trace.request[i].next < trace.count));
		} else {
			refused++;
			right &= strncmp(error, "line ", 5) == 0 ||
				 strncmp(error, "byte ", 5) == 0 ||
				 strcmp(error, "no request in it") == 0;
		}
		free(trace.request);
	}
	check(right && taken > 0 && refused > 0, "whatever bytes come, they are read or refused");
}

int main(void)
{
	check_model("LRU", lru);
	check_model("S3-FIFO", s3_fifo);
	check_model("W-TinyLFU", w_tinylfu);
	check_sizes();
	check_bounds();
	check_text();
	check_oracle_general();
	check_damage();
	check_library();
	return failures != 0;
}
