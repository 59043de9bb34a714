/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads put, read, hold, fill and remove the same keys, alone and in batches; a fill may be ended
 * by another thread than began it. Each call is recorded with its times, and the history of each
 * key must be linearisable: there is an order of the calls that agrees with their times, in which
 * each read finds the newest put, or nothing when a remove or eviction came later.
 *
 * Every put has a value of its own, so that is decided exactly, without a search: Gibbons and
 * Korach, "Testing Shared Memories" (SIAM J. Comput. 26:4, 1997). A put and the reads that found
 * its value are a cluster. Let f be the first end of one of its calls and s the last begin. If
 * f < s, the value was the key's from f to s at least: a forward zone. Otherwise one moment between
 * s and f is enough: a backward zone. The history is linearisable if and only if
 *   1. no read ends before its put begins;
 *   2. forward zones don't overlap;
 *   3. no forward zone contains a backward one.
 * A remove, and a call that found nothing, is a cluster of its own: the key has no record then,
 * whoever took it away, the cache included. A put that is only remembered is one whose record went
 * at once: after it no older one is found.
 * What a read or hold found must also be one put's bytes, and all of a hold's bytes until its end.
 */
#include "arc_data.h"

enum { THREADS = 4, CALLS = 60000, HOT = 6, KEYS = 3000, HELD = 8, MANY = 4 };
enum { SIZE_MIN = 256, SIZE_HOT = 6000, SIZE_READ = SIZE_MIN };

/* One call. value 0: it removed the record, or found none. */
struct call {
	uint32_t key;
	bool is_put;
	uint64_t value, begin, end;
};

/* ---- the checker ----------------------------------------------------------------------------- */

struct zone {
	uint64_t begin, end;
};

static int by_key_and_value(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static int by_begin(const void *left, const void *right)
{
	const struct zone *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* The zone of the calls, which have one value; false: rule 1 is broken, or nobody put the value. */
static bool cluster(const struct call *call, size_t count, struct zone *zone)
{
	const struct call *put = NULL;
	uint64_t read_end = UINT64_MAX;

	*zone = (struct zone){UINT64_MAX, 0};
	for (size_t i = 0; i < count; i++) {
		zone->begin = call[i].end < zone->begin ? call[i].end : zone->begin;
		zone->end = call[i].begin > zone->end ? call[i].begin : zone->end;
		if (call[i].is_put)
			put = &call[i];
		else if (call[i].end < read_end)
			read_end = call[i].end;
	}
	return call->value == 0 || (put != NULL && read_end >= put->begin);
}

/* zones sorted by begin, no two overlap: whether one contains [begin, end]. */
static bool contained(const struct zone *zone, size_t count, uint64_t begin, uint64_t end)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (zone[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && zone[low - 1].end > end;
}

/* NULL: the calls of one key, sorted by value, are linearisable. Otherwise what is wrong. */
static const char *check_key(const struct call *call, size_t count, struct zone *forward)
{
	size_t forwards = 0, backwards = 0, n;
	struct zone zone;

	for (size_t i = 0; i < count; i += n) {
		for (n = 1;
			call[i].value != 0 && i + n < count && call[i + n].value == call[i].value;)
			n++;
		if (!cluster(&call[i], n, &zone))
			return "a value was read before anybody put it";
		if (zone.begin < zone.end)
			forward[forwards++] = zone;
		else /* from the other end of the same memory */
			forward[count - ++backwards] = (struct zone){zone.end, zone.begin};
	}
	qsort(forward, forwards, sizeof(*forward), by_begin);
	for (size_t i = 1; i < forwards; i++)
		if (forward[i - 1].end > forward[i].begin)
			return "an older value was read after a newer one was there";
	for (size_t i = count - backwards; i < count; i++)
		if (contained(forward, forwards, forward[i].begin, forward[i].end))
			return "a value was read after another put or a remove had ended";
	return NULL;
}

/* Sorts the calls. */
static const char *check(struct call *call, size_t count)
{
	struct zone *zone = calloc(count, sizeof(*zone));
	const char *wrong = NULL;
	size_t n;

	cr_assert(zone != NULL);
	qsort(call, count, sizeof(*call), by_key_and_value);
	for (size_t i = 0; wrong == NULL && i < count; i += n) {
		for (n = 1; i + n < count && call[i + n].key == call[i].key;)
			n++;
		wrong = check_key(&call[i], n, zone);
	}
	free(zone);
	return wrong;
}

#define CHECK(...)                          \
	check((struct call[]){__VA_ARGS__}, \
		sizeof((struct call[]){__VA_ARGS__}) / sizeof(struct call))
#define PUT(value, begin, end)             \
	{                                  \
		1, true, value, begin, end \
	}
#define READ(value, begin, end)             \
	{                                   \
		1, false, value, begin, end \
	}
#define NONE(begin, end)                \
	{                               \
		1, false, 0, begin, end \
	}

Test(arc_history, the_checker_accepts_what_may_be)
{
	/* calls that overlap may come in either order */
	cr_assert_null(CHECK(PUT(1, 0, 9), READ(1, 2, 3)));
	cr_assert_null(CHECK(PUT(1, 0, 2), PUT(2, 3, 9), READ(1, 4, 5), READ(2, 6, 7)));
	cr_assert_null(CHECK(PUT(1, 0, 5), PUT(2, 0, 5), READ(2, 6, 7)));
	cr_assert_null(CHECK(PUT(1, 0, 1), NONE(2, 6), READ(1, 3, 4), NONE(7, 8)));
	cr_assert_null(CHECK(PUT(1, 0, 1), NONE(2, 3), PUT(2, 4, 5), READ(2, 6, 7)));
	/* keys have nothing to do with each other */
	cr_assert_null(CHECK(PUT(1, 0, 1), {2, true, 2, 2, 3}, READ(1, 4, 5)));
}

Test(arc_history, the_checker_refuses_what_may_not_be)
{
	cr_assert_not_null(CHECK(READ(1, 2, 3)));
	cr_assert_not_null(CHECK(READ(1, 0, 1), PUT(1, 2, 3)));
	/* a stale read */
	cr_assert_not_null(CHECK(PUT(1, 0, 1), PUT(2, 2, 3), READ(1, 4, 5)));
	/* two readers see two puts in different orders */
	cr_assert_not_null(
		CHECK(PUT(1, 0, 9), PUT(2, 0, 9), READ(1, 1, 2), READ(2, 3, 4), READ(1, 5, 6)));
	/* a lost remove, and what one reader no longer found, another did */
	cr_assert_not_null(CHECK(PUT(1, 0, 1), NONE(2, 3), READ(1, 4, 5)));
	cr_assert_not_null(CHECK(PUT(1, 0, 9), READ(1, 1, 2), NONE(3, 4), READ(1, 5, 6)));
}

/* ---- records --------------------------------------------------------------------------------- */

/* Word 0 is the value, the others follow from it. They don't compress. */
static uint64_t word(uint64_t value, size_t i)
{
	uint64_t state = value + i * 0x9e3779b97f4a7c15;

	return i == 0 ? value : abd_test_random(&state);
}

static size_t value_size(uint32_t key, uint64_t value)
{
	return SIZE_MIN + (key < HOT ? word(value, 1) % (SIZE_HOT - SIZE_MIN) / 8 * 8 : 0);
}

static bool is_value(const uint64_t *words, size_t size)
{
	for (size_t i = 1; i < size / 8; i++)
		if (words[i] != word(words[0], i))
			return false;
	return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct held {
	abd_arc_hold_t hold;
	uint64_t value;
	uint32_t key;
};

struct worker {
	abd_arc_t *arc;
	uint64_t number, random;
	size_t calls;
	struct call *call;
	struct held held[HELD];
	const char *wrong;
	uint64_t words[SIZE_HOT / 8];
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t worker_put(struct worker *worker, uint32_t key, const abd_arc_key_t *arc_key)
{
	uint64_t value = worker->number << 32 | (worker->calls + 1);
	size_t size = value_size(key, value);

	for (size_t i = 0; i < size / 8; i++)
		worker->words[i] = word(value, i);
	abd_t *abd = worker->calls % 4 == 0 ? abd_alloc(size, false) : NULL;

	if (abd != NULL)
		abd_copy_from_buf(abd, worker->words, size);
	worker->call[worker->calls].begin = now();
	if ((abd != NULL ? abd_arc_put_abd(worker->arc, arc_key, abd, size, ABD_ARC_PLAIN)
			 : abd_arc_put(worker->arc, arc_key, worker->words, size)) != 0)
		worker->wrong = "a put failed";
	return value;
}

static uint64_t worker_read(struct worker *worker, const abd_arc_key_t *arc_key)
{
	ssize_t size;
	abd_t gang;

	/* Into memory, or now and then into two runs, of which the second begins in a word. */
	if (worker->calls % 4 != 0) {
		size = abd_arc_read(worker->arc, arc_key, worker->words, 0, SIZE_READ);
	} else {
		char *words = (char *)worker->words;

		abd_alloc_gang_struct(&gang);
		(void)abd_gang_add(&gang, abd_get_from_buf(words, 13), true);
		(void)abd_gang_add(&gang, abd_get_from_buf(words + 13, SIZE_READ - 13), true);
		size = abd_arc_read_abd(worker->arc, arc_key, &gang, 0, 0, SIZE_READ);
		abd_free(&gang);
	}
	if (size < 0)
		return 0;
	if (!is_value(worker->words, SIZE_READ))
		worker->wrong = "a read found a mix";
	return worker->words[0];
}

static void worker_release(struct worker *worker, struct held *held)
{
	size_t size = held->hold.logical_size;

	if (held->hold.abd == NULL)
		return;
	abd_copy_to_buf(worker->words, held->hold.abd, size);
	if (worker->words[0] != held->value || !is_value(worker->words, size) ||
		size != value_size(held->key, held->value))
		worker->wrong = "what was held is not what it was";
	abd_arc_release(&held->hold);
}

static uint64_t worker_hold(struct worker *worker, uint32_t key, const abd_arc_key_t *arc_key)
{
	struct held *held = &worker->held[worker->calls % HELD];

	worker_release(worker, held);
	worker->call[worker->calls].begin = now();
	if (abd_arc_hold(worker->arc, arc_key, &held->hold) != 0)
		return 0;
	abd_copy_to_buf_off(&held->value, held->hold.abd, 0, sizeof(held->value));
	held->key = key;
	return held->value;
}

/* How many threads are filling each key. */
static atomic_int filling[KEYS];

/* What was noted for ready(), and was called. */
static atomic_uint noted, called;

static void ready(void *arg)
{
	atomic_fetch_add(&called, 1);
}

/* A fill that belongs to no thread, on its way to the one that ends it. */
struct parcel {
	abd_arc_fill_t fill;
	uint32_t key;
};

static struct parcel *_Atomic parcel;

static uint64_t worker_value(const struct worker *worker, const struct call *call)
{
	return worker->number << 32 | (uint64_t)(call - worker->call + 1);
}

/*
 * End a fill, which is a put of a new value; but one that was overtaken or abandoned never was:
 * then it is no call of this key.
 */
static void worker_ends(struct worker *worker, struct call *call, abd_arc_fill_t *fill)
{
	uint64_t value = worker_value(worker, call), found = value;
	size_t size = value_size(call->key, value);
	const abd_arc_record_t record = {
		.off = fill->size - size, .stored_size = size, .logical_size = size};
	abd_arc_hold_t hold, *holds = value % 2 == 0 ? &hold : NULL;

	for (size_t i = 0; i < size / 8; i++)
		worker->words[i] = word(value, i);
	abd_copy_from_buf_off(fill->abd, worker->words, record.off, size);
	atomic_fetch_sub(&filling[call->key], 1);
	call->begin = now();
	int error = value % 8 == 0 ? (abd_arc_fill_abandon(fill), -ESTALE)
				   : abd_arc_fill_commit_record(fill, &record, holds);

	call->is_put = error == 0;
	call->value = error == 0 ? value : 0;
	if (error == 0 && holds != NULL) {
		abd_copy_to_buf_off(&found, hold.abd, 0, sizeof(found));
		abd_arc_release(&hold);
	}
	if (error != 0)
		call->key = KEYS;
	/* -ENOSPC: all of a small shard is held, so that there is nothing to evict. */
	if ((error != 0 && error != -ESTALE && error != -ENOSPC) || found != value)
		worker->wrong = "a commit failed, or holds another value";
}

/* What asking for the key of a call has led to. */
static void worker_asked(struct worker *worker, struct call *call, int result, abd_arc_hold_t *hold,
	abd_arc_fill_t *fill)
{
	if (result == 1) {
		if (atomic_fetch_add(&filling[call->key], 1) != 0)
			worker->wrong = "two fill a key";
		worker_ends(worker, call, fill);
	} else if (result == 0) {
		abd_copy_to_buf_off(&call->value, hold->abd, 0, sizeof(call->value));
		abd_arc_release(hold);
	} else {
		call->key = KEYS;
		if (result != -ENOSPC && result != -EINPROGRESS && result != -EAGAIN &&
			result != -ETIMEDOUT)
			worker->wrong = "a fill failed";
	}
}

/*
 * Another thread ends this thread's fill, and this one that of another, if there is one. So none
 * may sleep for ever for a fill.
 */
static void worker_async(struct worker *worker, struct call *call, const abd_arc_key_t *name)
{
	struct parcel *mine = malloc(sizeof(*mine));
	abd_arc_hold_t hold;
	int result = abd_arc_hold_or_fill_async(
		worker->arc, name, SIZE_HOT + 8, 0, &hold, &mine->fill, ready, NULL);

	atomic_fetch_add(&noted, result == -EINPROGRESS);
	if (result != 1) {
		worker_asked(worker, call, result, &hold, NULL);
		free(mine);
		return;
	}
	if (atomic_fetch_add(&filling[call->key], 1) != 0)
		worker->wrong = "two fill a key";
	mine->key = call->key;
	mine = atomic_exchange(&parcel, mine);
	call->key = mine != NULL ? mine->key : KEYS;
	if (mine != NULL)
		worker_ends(worker, call, &mine->fill);
	free(mine);
}

/* A batch of this key and others, each of which is a call. */
static void worker_many(struct worker *worker, struct call *call)
{
	abd_arc_key_t keys[MANY];
	abd_arc_hold_t hold[MANY];
	abd_arc_fill_t fill[MANY];
	size_t sizes[MANY];
	int result[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		call[i] = (struct call){call->key, false, 0, call->begin, 0};
		if (i > 0)
			call[i].key = (uint32_t)(abd_test_random(&worker->random) % (2 * HOT));
		keys[i] = arc_key(call[i].key);
		sizes[i] = SIZE_HOT;
	}
	abd_arc_hold_or_fill_many(worker->arc, keys, sizes, 0, hold, fill, result, MANY);
	for (unsigned i = 0; i < MANY; i++)
		call[i].end = now();
	for (unsigned i = 0; i < MANY; i++) {
		worker_asked(worker, &call[i], result[i], &hold[i], &fill[i]);
		if (result[i] == 1)
			call[i].end = now();
	}
	worker->calls += MANY - 1;
}

/* Hold, or fetch what is missing, which is a put of a new value. */
static void worker_asks(struct worker *worker, const abd_arc_key_t *name, unsigned how)
{
	struct call *call = &worker->call[worker->calls];
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	if (how == 1)
		worker_async(worker, call, name);
	else if (how == 2 && worker->calls + MANY <= CALLS)
		worker_many(worker, call);
	else
		worker_asked(worker, call,
			abd_arc_hold_or_fill_timed(worker->arc, name,
				value_size(call->key, worker_value(worker, call)), 0,
				worker->calls % 3 == 0 ? 20000 : 5000000, &hold, &fill),
			&hold, &fill);
}

static void *worker_runs(void *arg)
{
	struct worker *worker = arg;

	for (; worker->calls < CALLS && worker->wrong == NULL; worker->calls++) {
		uint64_t random = abd_test_random(&worker->random);
		uint32_t key = (uint32_t)(random % 2 == 0 ? random / 2 % HOT : random / 2 % KEYS);
		abd_arc_key_t name = arc_key(key);
		struct call *call = &worker->call[worker->calls];
		unsigned what = (unsigned)(random >> 40) % 16;

		*call = (struct call){key, what < 5, 0, now(), 0};
		if (what < 5)
			call->value = worker_put(worker, key, &name);
		else if (what < 6 && (random >> 44) % 256 == 0)
			abd_arc_remove_pool(worker->arc, name.pool);
		else if (what < 6)
			abd_arc_remove(worker->arc, &name);
		else if (what < 11)
			call->value = worker_read(worker, &name);
		else if (what < 12)
			worker_asks(worker, &name, (unsigned)(random >> 44) % 3);
		else
			call->value = worker_hold(worker, key, &name);
		if (call->end == 0)
			call->end = now();
	}
	for (size_t i = 0; i < HELD; i++)
		worker_release(worker, &worker->held[i]);
	return NULL;
}

/* Everything is removed: then nothing costs anything, and ghosts cost what they say. */
static void expect_accounts(abd_arc_t *arc)
{
	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_leq(stats.ghost_recent_bytes, 2 * stats.target_bytes);
	cr_assert_leq(stats.ghost_frequent_bytes, 2 * stats.target_bytes);
	for (uint32_t key = 0; key < KEYS; key++)
		abd_arc_remove(arc, arc_at(key));
	stats = arc_stats(arc);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.stored_bytes, 0);
	cr_assert_eq(stats.recent_bytes + stats.frequent_bytes, 0);
	cr_assert_eq(stats.held_bytes, 0);
}

static void histories(size_t capacity, uint32_t flags)
{
	struct call *call = calloc((size_t)THREADS * CALLS, sizeof(*call));
	struct worker *worker = calloc(THREADS, sizeof(*worker));
	abd_arc_t *arc = arc_make(capacity, 0, flags);
	pthread_t thread[THREADS];
	size_t calls = 0;

	cr_assert(call != NULL && worker != NULL && arc != NULL);
	for (size_t i = 0; i < THREADS; i++) {
		worker[i].arc = arc;
		worker[i].number = i + 1;
		worker[i].random = i;
		worker[i].call = &call[i * CALLS];
		cr_assert(pthread_create(&thread[i], NULL, worker_runs, &worker[i]) == 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		cr_assert_null(worker[i].wrong, "%s", worker[i].wrong);
		calls += worker[i].calls;
	}
	struct parcel *last = atomic_exchange(&parcel, NULL);

	if (last != NULL)
		abd_arc_fill_abandon(&last->fill);
	free(last);
	cr_assert_eq(noted, called, "%u noted, %u called", noted, called);
	memset(filling, 0, sizeof(filling));

	const char *wrong = check(call, calls);

	cr_assert_null(wrong, "%s", wrong);
	expect_accounts(arc);
	abd_arc_destroy(arc);
	free(worker);
	free(call);
}

Test(arc_history, of_every_key_are_linearisable)
{
	histories(16 << 20, 0);
}

Test(arc_history, of_every_key_are_linearisable_while_records_are_evicted)
{
	histories(300 << 10, 0);
}

/* A table with a place for every sixth key. */
Test(arc_history, of_every_key_are_linearisable_while_first_puts_are_only_remembered)
{
	histories(300 << 10, ABD_ARC_SECOND_TIME);
}
