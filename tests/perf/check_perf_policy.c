/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated policies, against models that are as slow as they are plain: arrays that are
 * searched from end to end, in records, not bytes. Bounds, against a search through all that a
 * cache could do. Traces, from damaged files too.
 */
#include "abd_perf_clock.h"
#include "abd_perf_policy.h"

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
	size_t hand;
	double p;
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

/* A ring and a hand: what is new takes the place of what goes. */
static bool clock_ring(uint64_t key)
{
	struct item *ring = model.q[0].item;
	size_t at;

	if (find(0, key, &at)) {
		ring[at].uses = 1;
		return true;
	}
	if (count(0) < ROOM) {
		push(0, (struct item){key, 0});
		return false;
	}
	for (; ring[model.hand].uses > 0; model.hand = (model.hand + 1) % ROOM)
		ring[model.hand].uses = 0;
	ring[model.hand] = (struct item){key, 0};
	model.hand = (model.hand + 1) % ROOM;
	return false;
}

static bool sieve(uint64_t key)
{
	size_t at;

	if (find(0, key, &at)) {
		model.q[0].item[at].uses = 1;
		return true;
	}
	if (count(0) == ROOM) {
		for (; model.q[0].item[model.hand].uses > 0; model.hand = (model.hand + 1) % ROOM)
			model.q[0].item[model.hand].uses = 0;
		take(0, model.hand); /* the hand is at what came after it */
		if (model.hand == count(0))
			model.hand = 0;
	}
	push(0, (struct item){key, 0});
	return false;
}

static bool two_q(uint64_t key)
{
	enum { IN, HOT, OUT };
	size_t at;
	bool ghost = false;

	if (find(HOT, key, &at)) {
		push(HOT, take(HOT, at));
		return true;
	}
	if (find(IN, key, &at))
		return true;
	if (find(OUT, key, &at)) {
		take(OUT, at);
		ghost = true;
	}
	if (count(IN) + count(HOT) == ROOM) {
		if (4 * count(IN) > ROOM || count(HOT) == 0) {
			push(OUT, take(IN, 0));
			if (2 * count(OUT) > ROOM)
				take(OUT, 0);
		} else {
			take(HOT, 0);
		}
	}
	push(ghost ? HOT : IN, (struct item){key, 0});
	return false;
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

enum { T1, T2, B1, B2 };

static void arc_replace(bool from_b2)
{
	double t1 = (double)count(T1);

	if (t1 > 0 && (t1 > model.p || (from_b2 && t1 == model.p)))
		push(B1, take(T1, 0));
	else
		push(B2, take(T2, 0));
}

/* Figure 4 of the paper, case by case. p moves by whole records in steps that are rounded down. */
static bool arc(uint64_t key)
{
	size_t at;
	double b1 = (double)count(B1), b2 = (double)count(B2);

	for (unsigned q = T1; q <= T2; q++) { /* case I */
		if (find(q, key, &at)) {
			push(T2, take(q, at));
			return true;
		}
	}
	if (find(B1, key, &at)) { /* case II */
		model.p = fmin(ROOM, model.p + floor(RECORD * fmax(1, b2 / b1)) / RECORD);
		take(B1, at);
		arc_replace(false);
		push(T2, (struct item){key, 0});
		return false;
	}
	if (find(B2, key, &at)) { /* case III */
		model.p = fmax(0, model.p - floor(RECORD * fmax(1, b1 / b2)) / RECORD);
		take(B2, at);
		arc_replace(true);
		push(T2, (struct item){key, 0});
		return false;
	}
	if (count(T1) + count(B1) == ROOM) { /* case IV */
		if (count(T1) < ROOM) {
			take(B1, 0);
			arc_replace(false);
		} else {
			take(T1, 0);
		}
	} else if (count(T1) + count(T2) + count(B1) + count(B2) >= ROOM) {
		if (count(T1) + count(T2) + count(B1) + count(B2) == 2 * ROOM)
			take(B2, 0);
		if (count(T1) + count(T2) == ROOM)
			arc_replace(false);
	}
	push(T1, (struct item){key, 0});
	return false;
}

/* A hundredth of ROOM is less than a record: one of the others is left for the queue. */
enum { STACK, QUEUE, LIR, GONE, LIRS = ROOM - 1 };

static void forget(unsigned q, uint64_t key)
{
	size_t at;

	if (find(q, key, &at))
		take(q, at);
}

static void lirs_prune(void)
{
	size_t at;

	while (count(STACK) > 0 && !find(LIR, model.q[STACK].item[0].key, &at))
		forget(GONE, take(STACK, 0).key);
}

static void lirs_use(uint64_t key, unsigned q)
{
	forget(STACK, key);
	push(STACK, (struct item){key, 0});
	push(q, (struct item){key, 0});
	lirs_prune();
	if (count(LIR) > LIRS) {
		struct item bottom = take(STACK, 0);

		forget(LIR, bottom.key);
		push(QUEUE, bottom);
		lirs_prune();
	}
}

static bool lirs(uint64_t key)
{
	size_t at, stacked;
	bool in_stack = find(STACK, key, &stacked), lir = find(LIR, key, &at);

	if (lir || find(QUEUE, key, &at)) {
		take(lir ? LIR : QUEUE, at);
		lirs_use(key, in_stack ? LIR : QUEUE);
		return true;
	}
	in_stack = find(GONE, key, &at);
	forget(GONE, key);
	if (count(QUEUE) + count(LIR) == ROOM) {
		struct item victim = take(QUEUE, 0);

		if (find(STACK, victim.key, &at))
			push(GONE, victim);
		if (count(GONE) > ROOM)
			forget(STACK, take(GONE, 0).key);
	}
	lirs_use(key, in_stack || count(LIR) < LIRS ? LIR : QUEUE);
	return false;
}

/* One record in the window, four fifths of the rest proven; counters of 4 rows, 10 adds each. */
enum { WINDOW, TRIAL, PROVEN, WIDTH = 64, MOST_PROVEN = (ROOM - 1) * 4 / 5 };

static unsigned counter[4][WIDTH], added;

static unsigned *count_of(uint64_t key, unsigned row)
{
	return &counter[row][abd_perf_policy_hash(key + row * 0x9e3779b97f4a7c15u) % WIDTH];
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

static const struct abd_perf_policy *policy_of(const char *name)
{
	for (unsigned i = 0; abd_perf_policies[i] != NULL; i++)
		if (strcmp(abd_perf_policies[i]->name, name) == 0)
			return abd_perf_policies[i];
	return NULL;
}

/* Skewed, with scans: what is drawn lies in the first keys more often. */
static uint64_t next_key(uint64_t *random, unsigned i)
{
	double part = (double)(abd_perf_random(random) >> 11) / 9007199254740992.0;

	if (i % 500 > 350)
		return KEYS / 2 + i % (KEYS / 2);
	return (uint64_t)(part * part * KEYS + i / 2000 * 7) % KEYS;
}

static void check_model(const char *name, bool (*step)(uint64_t key))
{
	const struct abd_perf_policy *policy = policy_of(name);
	unsigned wrong = 0, hits = 0;

	for (uint64_t seed = 0; seed < ROUNDS && policy != NULL; seed++) {
		struct abd_perf_cache cache;
		uint64_t random = seed;

		memset(&model, 0, sizeof(model));
		abd_perf_cache_begin(&cache, policy, ROOM * RECORD);
		for (unsigned i = 0; i < REQUESTS; i++) {
			struct abd_perf_request request = {
				next_key(&random, i), RECORD, ABD_PERF_NEVER};
			bool hit = abd_perf_cache_access(&cache, &request);

			hits += hit;
			wrong += hit != step(request.key) || cache.used > cache.capacity;
		}
		abd_perf_cache_end(&cache);
	}
	check(policy != NULL && wrong == 0 && hits > ROUNDS * REQUESTS / 10, name);
}

/* ---- what needs no model --------------------------------------------------------------------- */

static double hits_of(const struct abd_perf_policy *policy, const struct abd_perf_trace *trace,
	size_t capacity, bool by_bytes, double *held)
{
	struct abd_perf_cache cache;
	double hits = 0;

	abd_perf_cache_begin(&cache, policy, capacity);
	for (size_t i = 0; i < trace->count; i++)
		if (abd_perf_cache_access(&cache, &trace->request[i]))
			hits += by_bytes ? trace->request[i].size : 1;
	if (held != NULL)
		*held = cache.held;
	abd_perf_cache_end(&cache);
	return hits;
}

/* The ten requests of docs/arc-keep.md. */
static void check_arc_table(void)
{
	static const uint64_t requests[] = {1, 2, 1, 3, 4, 5, 2, 4, 2, 6};
	struct abd_perf_cache cache;
	unsigned hits = 0;

	abd_perf_cache_begin(&cache, policy_of("ARC, paper"), 3);
	for (unsigned i = 0; i < 10; i++)
		hits += abd_perf_cache_access(
			&cache, &(struct abd_perf_request){requests[i], 1, ABD_PERF_NEVER});
	check(hits == 2 && cache.target == 1 && abd_perf_node_oldest(&cache, 0)->key == 6 &&
			abd_perf_node_oldest(&cache, 1)->key == 4 &&
			abd_perf_node_oldest(&cache, 3)->key == 5 &&
			abd_perf_node_oldest(&cache, 4)->key == 1,
		"ARC's lists are those of the table in arc-keep.md");
	abd_perf_cache_end(&cache);
}

/* Every policy keeps within its capacity whatever the sizes, and has each record it says it has. */
static void check_sizes(void)
{
	uint64_t random = 7;
	bool right = true;

	for (unsigned n = 0; abd_perf_policies[n] != NULL; n++) {
		struct abd_perf_cache cache;

		if (abd_perf_policies[n]->access != NULL)
			continue; /* the library's own */

		abd_perf_cache_begin(&cache, abd_perf_policies[n], 5000);
		for (unsigned i = 0; i < 50000; i++) {
			uint64_t key = next_key(&random, i);
			size_t bytes = 0;

			abd_perf_cache_access(
				&cache, &(struct abd_perf_request){key,
						(uint32_t)(1 + abd_perf_policy_hash(key) % 6000 /
								       (1 + key % 50)),
						ABD_PERF_NEVER});
			for (unsigned list = 0; list < ABD_PERF_GHOSTS; list++)
				bytes += cache.list[list].bytes;
			right &= cache.used == bytes && bytes <= cache.capacity;
		}
		right &= abd_perf_cache_memory(&cache) >= cache.policy->record_bytes;
		abd_perf_cache_end(&cache);
	}
	check(right, "policies keep within the capacity, whatever sizes come");
}

/* The most hits, by a search through all that a cache could keep after each request. */
static double search(const struct abd_perf_trace *trace, size_t capacity, bool by_bytes)
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
				double worth =
					from & bit ? (by_bytes ? trace->request[i].size : 1) : 0;

				if (best[from] >= 0 && (to & ~(from | bit)) == 0)
					next[to] = fmax(next[to], best[from] + worth);
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
		struct abd_perf_trace trace = {0};
		size_t capacity = one_size ? 1 + round / 2 % 4 : 3 + round % 7;

		for (unsigned i = 0; i < 24; i++) {
			uint64_t key = abd_perf_random(&random) % 5;

			abd_perf_trace_add(&trace, key, one_size ? 1 : (uint32_t)(1 + 3 * key % 5));
		}
		abd_perf_trace_finish(&trace);
		for (unsigned by_bytes = 0; by_bytes < 2; by_bytes++) {
			double most = search(&trace, capacity, by_bytes);
			double farthest =
				hits_of(&abd_perf_policy_min, &trace, capacity, by_bytes, NULL);

			min &= !one_size || farthest == most;
			feasible &= farthest <= most;
			pfoo &= abd_perf_policy_pfoo(&trace, capacity, by_bytes) >= most - 1e-9;
		}
		abd_perf_trace_free(&trace);
	}
	check(min, "MIN has the most hits that a cache of records of one size can have");
	check(feasible, "farthest first has no more hits than can be had");
	check(pfoo, "PFOO-L is never below the most hits that can be had");
}

/* The library's cache is the paper's ARC, but for what ghosts cost and what counts as a use. */
static void check_library(void)
{
	struct abd_perf_trace trace;
	double held, worst_held = 0, worst = 0;

	for (unsigned kind = 0; abd_perf_trace_names[kind] != NULL; kind += 2) {
		abd_perf_trace_make(&trace, kind, 4096, 40960, 5);
		double paper = hits_of(policy_of("ARC, paper"), &trace,
			(size_t)(trace.distinct_bytes / 8), false, NULL);
		double exact = hits_of(policy_of("ARC, exact"), &trace,
			(size_t)(trace.distinct_bytes / 8), false, &held);

		worst = fmax(worst, fabs(paper - exact) / (double)trace.count);
		worst_held = fmax(worst_held, fabs(held - 1));
		printf("%s: paper %.4f, library %.4f, held %.3f\n", abd_perf_trace_names[kind],
			paper / (double)trace.count, exact / (double)trace.count, held);
		abd_perf_trace_free(&trace);
	}
	check(worst < 0.02, "the library's exact ARC has the hits of the paper's, within 2 points");
	check(worst_held < 0.06, "it holds as many bytes as the others, within 6 %");
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool reads(
	const char *text, size_t length, bool binary, struct abd_perf_trace *trace, char error[80])
{
	FILE *file = tmpfile();
	bool right;

	if (file == NULL || fwrite(text, 1, length, file) != length)
		exit(1);
	rewind(file);
	error[0] = '\0';
	right = abd_perf_trace_read(trace, file, binary, error, 80);
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
	struct abd_perf_trace trace;
	char error[80], longest[400];

	check(reads(good, sizeof(good) - 1, false, &trace, error) && trace.count == 5 &&
			trace.distinct == 3 && trace.request[0].next == 2 &&
			trace.request[2].next == 4 && trace.request[4].next == ABD_PERF_NEVER &&
			trace.request[0].size == 12 && trace.distinct_bytes == 52 &&
			trace.bytes == 76 && !trace.one_size,
		"a text is read: pools are apart, a key has its last size");
	abd_perf_trace_free(&trace);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(!reads(bad[i].text, strlen(bad[i].text), false, &trace, error) &&
				strstr(error, bad[i].error) == error,
			bad[i].error);
		abd_perf_trace_free(&trace);
	}
	check(!reads("a 1\nb \0 1\n", 10, false, &trace, error) &&
			strstr(error, "line 2: a byte 0") == error,
		"a byte 0 is no text");
	abd_perf_trace_free(&trace);
	memset(longest, 'k', sizeof(longest));
	memcpy(longest + 255, " 1\n", 3);
	check(reads(longest, 258, false, &trace, error), "a key may have 255 bytes");
	abd_perf_trace_free(&trace);
	memcpy(longest + 255, "k 1\n", 4);
	check(!reads(longest, 259, false, &trace, error) &&
			strstr(error, "line 1: the key") == error,
		"and no more");
	abd_perf_trace_free(&trace);
}

static void check_oracle_general(void)
{
	/* time, key, size, next */
	char bytes[72] = {1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
		/* of size 0 */
		2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 3,
		0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
	struct abd_perf_trace trace;
	char error[80];

	check(reads(bytes, 72, true, &trace, error) && trace.count == 2 && trace.distinct == 1 &&
			trace.request[0].key == trace.request[1].key &&
			trace.request[0].size == 512 && trace.request[0].next == 1,
		"oracleGeneral is read; requests of size 0 are left out");
	abd_perf_trace_free(&trace);
	check(!reads(bytes, 71, true, &trace, error) && strstr(error, "byte 71: it ends") == error,
		"where it is cut off is said");
	abd_perf_trace_free(&trace);
	bytes[48 + 15] = 127;
	check(!reads(bytes, 72, true, &trace, error) && strstr(error, "byte 60: a record") == error,
		"where a size is impossible is said");
	abd_perf_trace_free(&trace);
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
		size_t length = abd_perf_random_below(&random, sizeof(bytes));
		struct abd_perf_trace trace;

		for (size_t i = 0; i < length; i++)
			bytes[i] = round % 4 == 0 ? (char)abd_perf_random(&random)
						  : letters[abd_perf_random_below(
							    &random, sizeof(letters) - 1)];
		if (reads(bytes, length, round % 2 == 0, &trace, error)) {
			taken++;
			for (size_t i = 0; i < trace.count; i++)
				right &= trace.request[i].size > 0 &&
					 trace.request[i].size <= ABD_PERF_TRACE_SIZE_MAX &&
					 (trace.request[i].next == ABD_PERF_NEVER ||
						 (trace.request[i].next > i &&
							 trace.request[i].next < trace.count));
		} else {
			refused++;
			right &= strncmp(error, "line ", 5) == 0 ||
				 strncmp(error, "byte ", 5) == 0 ||
				 strcmp(error, "no request in it") == 0;
		}
		abd_perf_trace_free(&trace);
	}
	check(right && taken > 0 && refused > 0, "whatever bytes come, they are read or refused");
}

/* Zipf's law: the first rank's share is 1 / H, and every rank comes. */
static void check_made(void)
{
	struct abd_perf_trace trace, again;
	double sum = 0, asked[1000] = {0}, first = 0;

	for (unsigned i = 1; i <= 1000; i++)
		sum += 1.0 / i;
	abd_perf_trace_make(&trace, 2, 1000, 200000, 3);
	abd_perf_trace_make(&again, 2, 1000, 200000, 3);
	for (size_t i = 0; i < trace.count; i++)
		first = fmax(first, ++asked[trace.request[i].key % 1000]);
	check(fabs(first / 200000 - 1 / sum) < 0.003 && trace.distinct == 1000,
		"ranks come by Zipf's law, and none is left out");
	check(memcmp(trace.request, again.request, trace.count * sizeof(*trace.request)) == 0,
		"the same seed makes the same trace");
	abd_perf_trace_free(&trace);
	abd_perf_trace_free(&again);
}

int main(void)
{
	check_model("LRU", lru);
	check_model("CLOCK", clock_ring);
	check_model("SIEVE", sieve);
	check_model("2Q", two_q);
	check_model("S3-FIFO", s3_fifo);
	check_model("ARC, paper", arc);
	check_model("LIRS", lirs);
	check_model("W-TinyLFU", w_tinylfu);
	check_arc_table();
	check_sizes();
	check_bounds();
	check_text();
	check_oracle_general();
	check_damage();
	check_made();
	check_library();
	return failures != 0;
}
