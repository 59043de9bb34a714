/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and caches come and go independently. A thread finds its blocks by the cache's id, never
 * by its address, so a cache that ends need not tell threads. A cache keeps all blocks in a list,
 * and frees them all when it ends.
 * Invariant: a block is freed only when its cache ends.
 */
#include "abd_arc_impl.h"

#include <string.h>

struct abd_arc_seats {
	size_t count, room;
	struct abd_arc_seat seat[];
};

_Thread_local struct abd_arc_seat abd_arc_seat_last;
static _Thread_local struct abd_arc_seats *abd_arc_seats;

static pthread_mutex_t abd_arc_registry = PTHREAD_MUTEX_INITIALIZER;
static struct abd_arc *abd_arc_registry_list;
static uint64_t abd_arc_registry_ids;

static pthread_once_t abd_arc_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t abd_arc_key;
static bool abd_arc_key_made;

static struct abd_arc *abd_arc_registry_find(uint64_t id)
{
	struct abd_arc *arc = abd_arc_registry_list;

	while (arc != NULL && arc->id != id)
		arc = arc->registry_next;
	return arc;
}

/* Whole pairs of cache lines, which the CPU may fetch together: no two blocks share a pair. */
static size_t abd_arc_reader_room(const struct abd_arc *arc)
{
	return abd_round_up(
		sizeof(struct abd_arc_reader) + arc->hit_batch * sizeof(struct abd_arc_entry *),
		128);
}

void abd_arc_reader_open(struct abd_arc *first)
{
	abd_rcu_start();
	pthread_mutex_lock(&abd_arc_registry);
	abd_arc_registry_ids++;
	for (uint32_t i = 0; i < first->shards; i++) {
		first[i].id = abd_arc_registry_ids;
		first[i].reader_offset = i * abd_arc_reader_room(first);
	}
	first->registry_next = abd_arc_registry_list;
	abd_arc_registry_list = first;
	pthread_mutex_unlock(&abd_arc_registry);
}

void abd_arc_reader_close(struct abd_arc *first)
{
	struct abd_arc **link = &abd_arc_registry_list;

	pthread_mutex_lock(&abd_arc_registry);
	while (*link != first)
		link = &(*link)->registry_next;
	*link = first->registry_next;
	pthread_mutex_unlock(&abd_arc_registry);
}

static size_t abd_arc_seats_size(size_t room)
{
	return sizeof(struct abd_arc_seats) + room * sizeof(struct abd_arc_seat);
}

static void abd_arc_seats_free(struct abd_arc_seats *seats)
{
	abd_mem_free(seats, abd_arc_seats_size(seats->room), 16);
}

/* Report a thread's last hits to a shard, and pass on what it was filling there. */
static void abd_arc_reader_leave(struct abd_arc_reader *reader)
{
	pthread_mutex_lock(&reader->arc->lock);
	abd_arc_reader_tell(reader);
	pthread_mutex_unlock(&reader->arc->lock);
	abd_arc_filling_leave(reader);
}

/* A thread ends, and leaves its blocks for other threads. */
static void abd_arc_reader_end(void *seats_arg)
{
	struct abd_arc_seats *seats = seats_arg;

	abd_arc_seats = NULL;
	abd_arc_seat_last = (struct abd_arc_seat){0, NULL};
	pthread_mutex_lock(&abd_arc_registry);
	for (size_t i = 0; i < seats->count; i++) {
		struct abd_arc *first = abd_arc_registry_find(seats->seat[i].id);

		if (first == NULL)
			continue;
		for (uint32_t j = 0; j < first->shards; j++)
			abd_arc_reader_leave(abd_arc_reader_at(seats->seat[i].reader, &first[j]));
		pthread_mutex_lock(&first->lock);
		seats->seat[i].reader->idle = true;
		pthread_mutex_unlock(&first->lock);
	}
	pthread_mutex_unlock(&abd_arc_registry);
	abd_arc_seats_free(seats);
}

static void abd_arc_key_make(void)
{
	abd_arc_key_made = pthread_key_create(&abd_arc_key, abd_arc_reader_end) == 0;
}

/* Remove the seats of caches that have ended. */
static void abd_arc_seats_tidy(struct abd_arc_seats *seats)
{
	size_t count = 0;

	pthread_mutex_lock(&abd_arc_registry);
	for (size_t i = 0; i < seats->count; i++)
		if (abd_arc_registry_find(seats->seat[i].id) != NULL)
			seats->seat[count++] = seats->seat[i];
	pthread_mutex_unlock(&abd_arc_registry);
	seats->count = count;
}

/* Room for one more seat; false: no memory. */
static bool abd_arc_seats_reserve(void)
{
	struct abd_arc_seats *seats = abd_arc_seats;

	if (seats != NULL && seats->count == seats->room)
		abd_arc_seats_tidy(seats);
	if (seats != NULL && seats->count < seats->room)
		return true;
	pthread_once(&abd_arc_key_once, abd_arc_key_make);
	if (!abd_arc_key_made)
		return false;

	size_t room = seats != NULL ? 2 * seats->room : 4;
	struct abd_arc_seats *more = abd_mem_alloc(abd_arc_seats_size(room), 16);

	if (more == NULL)
		return false;
	more->count = seats != NULL ? seats->count : 0;
	more->room = room;
	if (seats != NULL)
		memcpy(more->seat, seats->seat, seats->count * sizeof(seats->seat[0]));
	/* Seats that abd_arc_reader_end() does not get would never be freed. */
	if (pthread_setspecific(abd_arc_key, more) != 0) {
		abd_arc_seats_free(more);
		return false;
	}
	if (seats != NULL)
		abd_arc_seats_free(seats);
	abd_arc_seats = more;
	return true;
}

static void abd_arc_hold_block_init(struct abd_arc_hold_block *block, struct abd_arc_reader *reader,
	struct abd_arc_hold_block *next)
{
	block->reader = reader;
	block->link.next = NULL;
	for (unsigned i = 0; i < ABD_ARC_WAKERS; i++)
		atomic_init(&block->wake[i].is_woken, false);
	atomic_init(&block->next, next);
	block->held = 0;
	for (unsigned i = 0; i < ABD_ARC_HOLDS; i++) {
		atomic_init(&block->slot[i].entry, NULL);
		atomic_init(&block->slot[i].counted, NULL);
		block->slot[i].block = block;
	}
}

void abd_arc_hold_block_wake(struct abd_arc_hold_block *block, enum abd_arc_waker waker)
{
	struct abd_arc_hold_block *_Atomic *woken = &block->reader->arc->woken[waker];

	if (atomic_exchange(&block->wake[waker].is_woken, true))
		return;
	block->wake[waker].next = NULL; /* as if it were the first; else the next try knows */
	while (!atomic_compare_exchange_weak(woken, &block->wake[waker].next, block))
		continue;
}

/* The only block that is filled from now on. */
static void abd_arc_reader_fill(struct abd_arc_reader *reader, struct abd_arc_hold_block *block)
{
	atomic_store_explicit(&reader->cursor, block, memory_order_release);
	reader->last = &block->slot[0];
	abd_arc_hold_block_wake(block, ABD_ARC_WAKER_FILLS);
}

static void abd_arc_reader_start(struct abd_arc *arc, struct abd_arc_reader *reader)
{
	reader->arc = arc;
	reader->rcu = &abd_rcu_self;
	abd_arc_hold_block_init(&reader->holds, reader, NULL);
	abd_arc_reader_fill(reader, &reader->holds);

	pthread_mutex_lock(&arc->lock);
	reader->next = arc->readers;
	arc->readers = reader;
	pthread_mutex_unlock(&arc->lock);
}

/* What a thread has for a cache: a block for each shard. */
static size_t abd_arc_reader_size(const struct abd_arc *first)
{
	return first->shards * abd_arc_reader_room(first);
}

static struct abd_arc_reader *abd_arc_reader_make(struct abd_arc *first)
{
	struct abd_arc_reader *reader = abd_mem_alloc(abd_arc_reader_size(first), 128);

	if (reader == NULL)
		return NULL;
	memset(reader, 0, abd_arc_reader_size(first));
	for (uint32_t i = 0; i < first->shards; i++)
		abd_arc_reader_start(&first[i], abd_arc_reader_at(reader, &first[i]));
	return reader;
}

static struct abd_arc_reader *abd_arc_reader_adopt(struct abd_arc *first)
{
	struct abd_arc_reader *reader;

	pthread_mutex_lock(&first->lock);
	for (reader = first->readers; reader != NULL && !reader->idle; reader = reader->next)
		continue;
	if (reader != NULL)
		reader->idle = false;
	pthread_mutex_unlock(&first->lock);
	for (uint32_t i = 0; reader != NULL && i < first->shards; i++)
		abd_arc_reader_at(reader, &first[i])->rcu = &abd_rcu_self;
	return reader;
}

struct abd_arc_reader *abd_arc_reader_get_slow(struct abd_arc *arc)
{
	struct abd_arc_seats *seats = abd_arc_seats;
	struct abd_arc *first = abd_arc_first(arc);
	struct abd_arc_seat seat = {arc->id, NULL};

	for (size_t i = 0; seats != NULL && i < seats->count; i++)
		if (seats->seat[i].id == arc->id)
			seat = seats->seat[i];
	if (seat.reader == NULL) {
		if (!abd_arc_seats_reserve())
			return NULL;
		seat.reader = abd_arc_reader_adopt(first);
		if (seat.reader == NULL)
			seat.reader = abd_arc_reader_make(first);
		if (seat.reader == NULL)
			return NULL;
		abd_arc_seats->seat[abd_arc_seats->count++] = seat;
	}
	abd_arc_seat_last = seat;
	return abd_arc_reader_at(seat.reader, arc);
}

static void abd_arc_hold_blocks_free(struct abd_arc_reader *reader)
{
	struct abd_arc_hold_block *block = atomic_load(&reader->holds.next), *more;

	for (; block != NULL; block = more) {
		more = atomic_load(&block->next);
		abd_mem_free(block, sizeof(*block), 64);
	}
}

void abd_arc_readers_free(struct abd_arc *first)
{
	struct abd_arc_reader *reader, *next;

	for (reader = first->readers; reader != NULL; reader = next) {
		next = reader->next;
		for (uint32_t i = 0; i < first->shards; i++)
			abd_arc_hold_blocks_free(abd_arc_reader_at(reader, &first[i]));
		abd_mem_free(reader, abd_arc_reader_size(first), 128);
	}
}

/* ---- hits ------------------------------------------------------------------------------------ */

void abd_arc_reader_tell(struct abd_arc_reader *reader)
{
	struct abd_arc *arc = reader->arc;
	uint32_t pending = reader->pending;

	/*
	 * A slab was freed meanwhile, and a noted entry may have been in it. That is
	 * rare, so all noted hits are forgotten.
	 */
	if (reader->slab_frees != atomic_load_explicit(&arc->store.frees, memory_order_relaxed))
		pending = 0;
	/* Their neighbours in the lists are rarely in the CPU's cache: fetch them all at once. */
	for (uint32_t i = 0; i < pending; i++) {
		if (abd_arc_item_list(&reader->ring[i]->item) == ABD_ARC_NONE)
			continue; /* it has left, and its link may be another thread's */
		__builtin_prefetch(reader->ring[i]->item.link.next, 1);
		__builtin_prefetch(reader->ring[i]->item.link.prev, 1);
	}
	for (uint32_t i = 0; i < pending; i++)
		abd_arc_policy_hit(&arc->policy, &reader->ring[i]->item,
			abd_arc_share_of_entry(arc, reader->ring[i]));
	arc->stats.hits_told += pending;
	reader->pending = 0;
	reader->patience = 0;
}

void abd_arc_reader_settle_slow(struct abd_arc_reader *reader)
{
	struct abd_arc *arc = reader->arc;

	if (arc->hit_batch == 1) {
		pthread_mutex_lock(&arc->lock);
	} else if (pthread_mutex_trylock(&arc->lock) != 0) {
		/* Otherwise all threads would write the lock's cache line at every hit. */
		reader->patience = arc->hit_batch;
		return;
	}
	abd_arc_reader_tell(reader);
	pthread_mutex_unlock(&arc->lock);
}

/* ---- holds ----------------------------------------------------------------------------------- */

static struct abd_arc_hold_slot *abd_arc_hold_block_slot(struct abd_arc_hold_block *block)
{
	for (unsigned i = 0; i < ABD_ARC_HOLDS; i++)
		if (abd_arc_hold_slot_is_free(&block->slot[i]))
			return &block->slot[i];
	return NULL;
}

struct abd_arc_hold_slot *abd_arc_reader_slot_here(struct abd_arc_reader *reader)
{
	return abd_arc_hold_block_slot(atomic_load_explicit(&reader->cursor, memory_order_relaxed));
}

/*
 * Look at two blocks only: the one at the cursor, and the next, where the cursor then stays. A
 * thread with 1e5 holds must not look at all of them for each new one. So a block may be added
 * although others have free slots, but the cursor comes past all of them before there are twice as
 * many.
 */
struct abd_arc_hold_slot *abd_arc_reader_slot_slow(struct abd_arc_reader *reader)
{
	struct abd_arc_hold_block *block = atomic_load_explicit(
					  &reader->cursor, memory_order_relaxed),
				  *next;
	struct abd_arc_hold_slot *slot = abd_arc_hold_block_slot(block);

	if (ABD_LIKELY(slot != NULL))
		return reader->last = slot;
	next = atomic_load_explicit(&block->next, memory_order_relaxed);
	block = next != NULL ? next : &reader->holds;
	abd_arc_reader_fill(reader, block);
	slot = abd_arc_hold_block_slot(block);
	if (slot != NULL)
		return reader->last = slot;

	struct abd_arc_hold_block *added = abd_mem_alloc(sizeof(*added), 64);

	if (added == NULL)
		return NULL;
	abd_arc_hold_block_init(
		added, reader, atomic_load_explicit(&block->next, memory_order_relaxed));
	atomic_store_explicit(&block->next, added, memory_order_release);
	abd_arc_reader_fill(reader, added);
	return reader->last;
}

/* Visit every slot of every block. Threads may fill and clear slots meanwhile. Under lock. */
static void abd_arc_reader_each_slot(
	struct abd_arc *arc, void (*visit)(struct abd_arc_hold_slot *slot, void *arg), void *arg)
{
	for (struct abd_arc_reader *reader = arc->readers; reader != NULL; reader = reader->next) {
		struct abd_arc_hold_block *block = &reader->holds;

		for (; block != NULL; block = atomic_load(&block->next))
			for (unsigned i = 0; i < ABD_ARC_HOLDS; i++)
				visit(&block->slot[i], arg);
	}
}

static void abd_arc_reader_unmark(struct abd_arc_hold_slot *slot, void *arg)
{
	struct abd_arc_entry *entry = atomic_load_explicit(&slot->entry, memory_order_acquire);

	(void)arg;
	if (entry != NULL)
		abd_arc_item_mark(&entry->item, false);
}

struct abd_arc_reader_search {
	const struct abd_arc_entry *entry;
	bool found;
};

static void abd_arc_reader_compare(struct abd_arc_hold_slot *slot, void *arg)
{
	struct abd_arc_reader_search *search = arg;

	search->found |= atomic_load_explicit(&slot->entry, memory_order_relaxed) == search->entry;
}

bool abd_arc_reader_is_held(struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	struct abd_arc_reader_search search = {entry, false};

	abd_arc_reader_each_slot(arc, abd_arc_reader_compare, &search);
	return search.found;
}

struct abd_arc_reader_visit {
	void (*visit)(struct abd_arc_entry *entry, void *arg);
	void *arg;
};

static void abd_arc_reader_mark(struct abd_arc_hold_slot *slot, void *arg)
{
	struct abd_arc_entry *entry = atomic_load_explicit(&slot->entry, memory_order_acquire);
	const struct abd_arc_reader_visit *visit = arg;

	if (entry != NULL && !abd_arc_item_mark(&entry->item, true))
		visit->visit(entry, visit->arg);
}

void abd_arc_reader_holds(
	struct abd_arc *arc, void (*visit)(struct abd_arc_entry *entry, void *arg), void *arg)
{
	struct abd_arc_reader_visit once = {visit, arg};

	abd_arc_reader_each_slot(arc, abd_arc_reader_unmark, NULL);
	abd_arc_reader_each_slot(arc, abd_arc_reader_mark, &once);
}
