/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slow side of magazines: making, filling, emptying and limiting them.
 *
 * Invariant: a thread that has entered (abd_thread.h) takes no lock and calls nothing. It puts
 * magazines that it takes out on a list, and empties them after it has left.
 */
#include "abd_magazine.h"
#include "abd_age.h"
#include "abd_depot.h"
#include "abd_mem.h"
#include "abd_region.h"
#include "abd_slab.h"

#include <time.h>

/*
 * A magazine has room for half a MiB, but at least for one block and at most for two batches; and
 * never for more than the thread's share.
 */
#define ABD_MAGAZINE_BYTES ((size_t)512 << 10)
#define ABD_MAGAZINE_SLOTS ((size_t)2 * ABD_DEPOT_BATCH)

/* The tunable thread_cache_bytes. 8 MiB: sixteen sizes in use have a full magazine each. */
static atomic_size_t abd_magazine_limit = 8 << 20;

/* What the magazines of one thread may hold together. */
static size_t abd_magazine_share(void)
{
	unsigned threads = abd_thread_count();
	size_t share = abd_depot_reserve_bytes() / 2 / (threads > 0 ? threads : 1);

	return abd_min(share, atomic_load_explicit(&abd_magazine_limit, memory_order_relaxed));
}

static size_t abd_magazine_room(const struct abd_magazine *magazine)
{
	return magazine->capacity * magazine->size;
}

/* ---- taking magazines out ---- */

/* Which magazines to take, and those taken. */
struct abd_magazine_taking {
	bool (*wanted)(const struct abd_magazine *magazine, const struct abd_magazine_taking *t);
	const struct abd_source *source;
	unsigned group;
	uint64_t idle_since_ms;
	struct abd_magazine *taken;
};

static bool abd_magazine_any(
	const struct abd_magazine *magazine, const struct abd_magazine_taking *t)
{
	(void)magazine, (void)t;
	return true;
}

static bool abd_magazine_of_group(
	const struct abd_magazine *magazine, const struct abd_magazine_taking *t)
{
	return magazine->source == t->source && magazine->tag >> 8 == t->group;
}

static bool abd_magazine_unused(
	const struct abd_magazine *magazine, const struct abd_magazine_taking *t)
{
	(void)t;
	return magazine->count == magazine->last_count;
}

/* The owner has entered, or another thread visits it. */
static void abd_magazine_take_one(
	struct abd_thread *thread, unsigned index, struct abd_magazine_taking *t)
{
	struct abd_magazine *magazine = thread->magazine[index];

	thread->magazine[index] = &abd_thread_no_magazine;
	atomic_fetch_sub_explicit(
		&thread->reserved, abd_magazine_room(magazine), memory_order_relaxed);
	magazine->next = t->taken;
	t->taken = magazine;
}

static void abd_magazine_take(struct abd_thread *thread, void *arg)
{
	struct abd_magazine_taking *t = arg;

	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++) {
		struct abd_magazine *magazine = thread->magazine[i];

		if (magazine == &abd_thread_no_magazine)
			continue;
		if (t->wanted(magazine, t))
			abd_magazine_take_one(thread, i, t);
		else
			magazine->last_count = magazine->count;
	}
}

/*
 * Give the blocks of a magazine to the depot (to_depot, and if there is memory for batches), else
 * to their source.
 */
static void abd_magazine_empty(struct abd_magazine *magazine, bool to_depot)
{
	unsigned i = 0;

	while (to_depot && i < magazine->count) {
		struct abd_depot_batch *batch =
			abd_depot_batch_make(magazine->source, magazine->size, magazine->tag);

		if (batch == NULL)
			break;
		while (i < magazine->count && batch->count < ABD_DEPOT_BATCH)
			batch->slot[batch->count++] = magazine->slot[i++];
		abd_depot_put(magazine->index, batch);
	}
	if (i < magazine->count)
		magazine->source->free(
			magazine->slot + i, magazine->count - i, magazine->size, magazine->tag);
}

/* Empty and free the magazines taken. False: they had no blocks. */
static bool abd_magazine_end_taken(struct abd_magazine_taking *t, bool to_depot)
{
	bool any = false;

	while (t->taken != NULL) {
		struct abd_magazine *magazine = t->taken;

		t->taken = magazine->next;
		any |= magazine->count > 0;
		abd_magazine_empty(magazine, to_depot);
		abd_mem_free(magazine, sizeof(*magazine) + magazine->capacity * sizeof(void *), 64);
	}
	return any;
}

/*
 * Enter. If visits don't work and another thread asked this one to give its magazines back, do that
 * first.
 */
static void abd_magazine_enter(struct abd_thread *thread)
{
	while (!abd_thread_enter_slow(thread)) {
		struct abd_magazine_taking t = {.wanted = abd_magazine_any};

		abd_magazine_take(thread, &t);
		abd_thread_leave(thread);
		abd_magazine_end_taken(&t, false);
	}
}

static bool abd_magazine_take_own(struct abd_magazine_taking *t, bool to_depot)
{
	struct abd_thread *thread = abd_thread_current;

	if (thread == NULL)
		return false;
	abd_magazine_enter(thread);
	abd_magazine_take(thread, t);
	abd_thread_leave(thread);
	return abd_magazine_end_taken(t, to_depot);
}

static void abd_magazine_thread_ends(struct abd_thread *thread)
{
	struct abd_magazine_taking t = {.wanted = abd_magazine_any};

	abd_magazine_enter(thread);
	abd_magazine_take(thread, &t);
	abd_thread_leave(thread);
	abd_magazine_end_taken(&t, true);
}

static bool abd_magazine_has_any(const struct abd_thread *thread, void *arg)
{
	(void)arg;
	return atomic_load_explicit(&thread->reserved, memory_order_relaxed) > 0;
}

void abd_magazine_reap(void)
{
	struct abd_magazine_taking t = {.wanted = abd_magazine_any};

	abd_magazine_take_own(&t, false);
	abd_thread_visit(abd_magazine_has_any, abd_magazine_take, &t);
	abd_magazine_end_taken(&t, false);
	abd_depot_drain(NULL, 0);
	abd_quarantine_empty();
}

static uint64_t abd_magazine_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool abd_magazine_relieve(const struct abd_source *source, unsigned group)
{
	static atomic_ullong visit_ns; /* when others may be visited again */
	struct abd_magazine_taking t = {abd_magazine_of_group, source, group, 0, NULL};
	bool any = abd_magazine_take_own(&t, false);

	any |= abd_depot_drain(source, group);
	if (any)
		return true;

	uint64_t begin = abd_magazine_now_ns();

	if (begin < atomic_load(&visit_ns))
		return false;
	abd_thread_visit(abd_magazine_has_any, abd_magazine_take, &t);
	any = abd_magazine_end_taken(&t, false);

	uint64_t end = abd_magazine_now_ns();

	/* At most 10 ms: the first visit registers the process with the system, which takes long
	 * once. */
	uint64_t pause = 20 * (end - begin);

	atomic_store(&visit_ns, end + (pause < 10000000 ? pause : 10000000));
	return any;
}

/* ---- time ---- */

/* Whether a thread has magazines and has not looked after them for so long that it must be idle. */
static bool abd_magazine_idles(const struct abd_thread *thread, void *arg)
{
	const struct abd_magazine_taking *t = arg;

	return abd_magazine_has_any(thread, NULL) &&
	       atomic_load_explicit(&thread->aged_ms, memory_order_relaxed) < t->idle_since_ms;
}

static void abd_magazine_age(void)
{
	uint64_t now = abd_age_now_ms(), idle = 2 * abd_age_period_ms();
	struct abd_magazine_taking t = {.wanted = abd_magazine_any};

	abd_depot_age();
	t.idle_since_ms = now > idle ? now - idle : 0;
	abd_thread_visit(abd_magazine_idles, abd_magazine_take, &t);
	abd_magazine_end_taken(&t, true);
	abd_region_age_all();
}

/* Look at the clock: magazines that this thread has not used for a period go to the depot. */
static void abd_magazine_look(struct abd_thread *thread)
{
	uint64_t now = abd_age_now_ms();

	if (now - atomic_load_explicit(&thread->aged_ms, memory_order_relaxed) >=
		abd_age_period_ms()) {
		struct abd_magazine_taking t = {.wanted = abd_magazine_unused};

		atomic_store_explicit(&thread->aged_ms, now, memory_order_relaxed);
		abd_magazine_take_own(&t, true);
	}
	abd_age_check(now);
}

/*
 * Set after how many frees this thread looks at the clock again: 8 if it frees rarely, up to 256 if
 * it frees often.
 */
static void abd_magazine_count_down(struct abd_thread *thread)
{
	uint64_t now = abd_age_now_ms(), elapsed = now - thread->looked_ms;

	if (elapsed > abd_age_period_ms() / 2)
		thread->puts = ABD_THREAD_PUTS_MIN;
	else if (elapsed < abd_age_period_ms() / 8 && thread->puts < ABD_THREAD_PUTS_MAX)
		thread->puts *= 2;
	thread->looked_ms = now;
	thread->puts_left = thread->puts;
}

/* ---- making and filling ---- */

static void abd_magazine_start(void);

/* Take other magazines out until size bytes fit into the share. The owner has entered. */
static void abd_magazine_make_room(
	struct abd_thread *thread, size_t size, size_t share, struct abd_magazine_taking *t)
{
	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++) {
		unsigned index = thread->evict_next;

		if (atomic_load_explicit(&thread->reserved, memory_order_relaxed) + size <= share)
			return;
		thread->evict_next = (index + 1) % ABD_MAGAZINE_COUNT;
		if (thread->magazine[index] != &abd_thread_no_magazine)
			abd_magazine_take_one(thread, index, t);
	}
}

/*
 * Make a magazine for this index, which has none. False: the share is too small for one block, or
 * there is no memory.
 */
static bool abd_magazine_make(struct abd_thread *thread, unsigned index,
	const struct abd_source *source, size_t size, unsigned tag)
{
	abd_magazine_start();

	size_t share = abd_magazine_share();
	size_t capacity = abd_min(ABD_MAGAZINE_BYTES / size, ABD_MAGAZINE_SLOTS);

	capacity = abd_min(capacity > 0 ? capacity : 1, share / size);
	if (capacity == 0)
		return false;

	struct abd_magazine *magazine =
		abd_mem_alloc(sizeof(*magazine) + capacity * sizeof(void *), 64);
	struct abd_magazine_taking t = {.wanted = abd_magazine_any};

	if (magazine == NULL)
		return false;
	*magazine = (struct abd_magazine){.capacity = (uint32_t)capacity,
		.index = index,
		.source = source,
		.size = size,
		.tag = tag};
	abd_magazine_enter(thread);
	abd_magazine_make_room(thread, capacity * size, share, &t);
	thread->magazine[index] = magazine;
	atomic_fetch_add_explicit(&thread->reserved, capacity * size, memory_order_relaxed);
	abd_thread_leave(thread);
	abd_magazine_end_taken(&t, true);
	return true;
}

/*
 * Move the older half of a full magazine to an empty batch. The blocks freed last stay, because
 * they are in the CPU's cache. The owner has entered.
 */
static void abd_magazine_halve(struct abd_magazine *magazine, struct abd_depot_batch *batch)
{
	unsigned half = (magazine->count + 1) / 2;

	memcpy(batch->slot, magazine->slot, half * sizeof(void *));
	batch->count = half;
	magazine->count -= half;
	memmove(magazine->slot, magazine->slot + half, magazine->count * sizeof(void *));
}

/*
 * Enter, with a magazine for this index. False: none can be made, and the thread has not entered.
 */
static bool abd_magazine_open(struct abd_thread *thread, unsigned index,
	const struct abd_source *source, size_t size, unsigned tag)
{
	for (;;) {
		abd_magazine_enter(thread);
		if (thread->magazine[index] != &abd_thread_no_magazine)
			return true;
		abd_thread_leave(thread);
		if (!abd_magazine_make(thread, index, source, size, tag))
			return false;
	}
}

/* False: the magazine is full, and there is no batch to take half of it. The owner has entered. */
static bool abd_magazine_push(
	struct abd_magazine *magazine, void *block, struct abd_depot_batch *batch)
{
	if (magazine->count == magazine->capacity) {
		if (batch == NULL)
			return false;
		abd_magazine_halve(magazine, batch);
	}
	magazine->slot[magazine->count++] = block;
	return true;
}

/* False: the block is still the caller's. */
static bool abd_magazine_store(struct abd_thread *thread, unsigned index,
	const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	struct abd_depot_batch *batch = NULL;
	bool stored = false, possible = true;

	while (!stored && possible && abd_magazine_open(thread, index, source, size, tag)) {
		stored = abd_magazine_push(thread->magazine[index], block, batch);
		abd_thread_leave(thread);
		if (!stored) {
			batch = abd_depot_batch_make(source, size, tag);
			possible = batch != NULL;
		}
	}
	if (batch != NULL && batch->count > 0)
		abd_depot_put(index, batch);
	else if (batch != NULL)
		abd_depot_batch_end(batch);
	return stored;
}

void abd_magazine_put_slow(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	struct abd_thread *thread;

	if (ABD_CHECKED) {
		abd_quarantine_put(source, block, size, tag);
		return;
	}
	thread = abd_thread_self();
	if (thread != NULL) {
		/* A thread without a slot always comes here, and counts here. */
		bool look = abd_thread_mine() == thread || --thread->puts_left == 0;

		if (thread->puts_left == 0)
			abd_magazine_count_down(thread);
		if (look)
			abd_magazine_look(thread);
	}
	if (thread == NULL || !abd_magazine_store(thread, index, source, block, size, tag))
		source->free(&block, 1, size, tag);
}

/*
 * Put as many of blocks[0, count) into this thread's magazine as it has room for. Returns how many
 * are left.
 */
static unsigned abd_magazine_fill(struct abd_thread *thread, unsigned index, void **blocks,
	unsigned count, const struct abd_source *source, size_t size, unsigned tag)
{
	if (!abd_magazine_open(thread, index, source, size, tag))
		return count;

	struct abd_magazine *magazine = thread->magazine[index];
	uint32_t n = magazine->capacity - magazine->count;

	n = count < n ? count : n;
	memcpy(magazine->slot + magazine->count, blocks + (count - n), n * sizeof(void *));
	magazine->count += n;
	abd_thread_leave(thread);
	return count - n;
}

/* What abd_magazine_get() does, for a thread without a slot. NULL: the magazine is empty. */
static void *abd_magazine_pop(struct abd_thread *thread, unsigned index)
{
	void *block = NULL;

	abd_magazine_enter(thread);
	if (thread->magazine[index]->count > 0)
		block = thread->magazine[index]->slot[--thread->magazine[index]->count];
	abd_thread_leave(thread);
	return block;
}

/*
 * Several blocks from the source, whose lock is taken once for them, for a thread that has a
 * magazine: as many as half fills it. Else one: nobody knows yet whether more are wanted.
 */
static void *abd_magazine_refill(struct abd_thread *thread, unsigned index,
	const struct abd_source *source, size_t size, unsigned tag)
{
	void *blocks[ABD_DEPOT_BATCH];

	abd_magazine_enter(thread);

	size_t half = thread->magazine[index]->capacity / 2;

	abd_thread_leave(thread);

	unsigned count = (unsigned)source->alloc(blocks, half > 0 ? half : 1, size, tag);

	if (count == 0)
		return NULL;

	void *block = blocks[--count];

	if (count > 0)
		count = abd_magazine_fill(thread, index, blocks, count, source, size, tag);
	if (count > 0)
		source->free(blocks, count, size, tag);
	return block;
}

void *abd_magazine_get_slow(
	unsigned index, const struct abd_source *source, size_t size, unsigned tag)
{
	struct abd_thread *thread;

	if (ABD_CHECKED)
		return abd_source_alloc(source, size, tag);
	abd_magazine_start();
	thread = abd_thread_self();
	if (thread == NULL)
		return abd_source_alloc(source, size, tag);

	void *own = abd_thread_mine() == thread ? NULL : abd_magazine_pop(thread, index);

	if (own != NULL)
		return own;
	abd_magazine_look(thread);

	struct abd_depot_batch *batch = abd_depot_get_any(index);

	if (batch == NULL)
		return abd_magazine_refill(thread, index, source, size, tag);

	void *block = batch->slot[--batch->count];

	if (batch->count > 0)
		batch->count = abd_magazine_fill(
			thread, index, batch->slot, batch->count, source, size, tag);
	abd_depot_batch_end(batch);
	return block;
}

/* ---- tunables ---- */

static const struct abd_tunable abd_magazine_tunable_table[] = {
	{.name = "thread_cache_bytes",
		ABD_TUNABLE_NUMBER(abd_magazine_limit),
		.high = SIZE_MAX,
		.changed = abd_magazine_reap},
	{.name = "reserve_bytes",
		ABD_TUNABLE_NUMBER(abd_depot_reserve),
		.high = SIZE_MAX,
		.changed = abd_magazine_reap},
	{.name = "reserve_ms",
		ABD_TUNABLE_NUMBER(abd_age_ms),
		.low = ABD_AGE_STAGES,
		.high = (uint64_t)1 << 40,
		.changed = abd_age_restart},
};

static void abd_magazine_fork_begin(void)
{
	abd_depot_fork_begin();
	abd_slab_fork_begin();
	abd_region_fork_begin();
}

static void abd_magazine_fork_end(void)
{
	abd_region_fork_end();
	abd_slab_fork_end();
	abd_depot_fork_end();
}

static void abd_magazine_fork_child(void)
{
	abd_magazine_fork_end();
	abd_age_fork_child();
}

static void abd_magazine_tunables_apply(void)
{
	static const struct abd_thread_layer layer = {.ending = abd_magazine_thread_ends,
		.fork_begin = abd_magazine_fork_begin,
		.fork_end = abd_magazine_fork_end,
		.fork_child = abd_magazine_fork_child};

	abd_thread_layer_add(ABD_THREAD_MEM, &layer);
	abd_age_start(abd_magazine_age);
	abd_tunable_from_environment(&abd_magazine_tunables);
}

static void abd_magazine_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_magazine_tunables_apply);
}

const struct abd_tunables abd_magazine_tunables = {
	abd_magazine_tunable_table,
	sizeof(abd_magazine_tunable_table) / sizeof(abd_magazine_tunable_table[0]),
	abd_magazine_start,
};
