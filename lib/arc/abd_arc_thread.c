/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry: all threads' blocks, and all caches. Threads and caches come and go independently.
 * Invariant: a seat is of a shard that exists, because a cache that ends clears its seats first.
 * A block is freed only when its thread has ended and no slot holds anything.
 */

#include "abd_allocator.h"
#include "abd_arc_filling.h"
#include "abd_arc_thread.h"
#include <signal.h>
#include <string.h>

_Thread_local struct abd_arc_thread *abd_arc_thread_self;
/* This thread ends: no block is made for it again. */
static _Thread_local bool abd_arc_thread_has_ended;

static pthread_mutex_t abd_arc_registry = PTHREAD_MUTEX_INITIALIZER;
static struct abd_arc_thread *abd_arc_threads;
static struct abd_arc *abd_arc_caches;
/* Shards so far: a shard's number, which is never used again. */
static uint64_t abd_arc_shards_made;

static pthread_once_t abd_arc_layer_once = PTHREAD_ONCE_INIT;

void abd_arc_thread_lock(void)
{
	pthread_mutex_lock(&abd_arc_registry);
}

void abd_arc_thread_unlock(void)
{
	pthread_mutex_unlock(&abd_arc_registry);
}

/* ---- noted hits ------------------------------------------------------------------------------ */

/* Take a seat's notes: *oldest is the first of them, and before[] leads from each to the next. */
static unsigned abd_arc_seat_take_notes(
	struct abd_arc_thread *thread, struct abd_arc_seat *seat, uint16_t *oldest)
{
	unsigned count = seat->noted;
	uint16_t at = seat->last, after = 0;

	for (unsigned i = count; i > 0; i--) {
		uint16_t before = thread->before[at];

		thread->before[at] = after;
		after = at;
		at = before;
	}
	*oldest = after;
	thread->noted = (uint16_t)(thread->noted - count);
	seat->noted = 0;
	if (thread->noted == 0)
		thread->notes = 0;
	return count;
}

void abd_arc_thread_report(struct abd_arc_thread *thread, struct abd_arc *arc)
{
	struct abd_arc_seat *seat = abd_arc_seat_of(thread, arc);
	uint16_t oldest, at;

	if (!abd_arc_seat_is_of(seat, arc) || seat->noted == 0)
		return;
	unsigned count = abd_arc_seat_take_notes(thread, seat, &oldest);

	seat->patience = 0;
	/*
	 * A slab was freed meanwhile, and a noted entry may have been in it. That is rare, so all
	 * noted hits are forgotten.
	 */
	if (seat->slab_frees != atomic_load_explicit(&arc->store.frees, memory_order_relaxed))
		return;
	/* Their neighbours in the lists are rarely in the CPU's cache: fetch them all at once. */
	at = oldest;
	for (unsigned i = 0; i < count; i++, at = thread->before[at]) {
		const struct abd_arc_item *item = &thread->note[at]->item;

		if (abd_arc_item_list(item) == ABD_ARC_NONE)
			continue; /* it has left, and its link may be another thread's */
		__builtin_prefetch(item->link.next, 1);
		__builtin_prefetch(item->link.prev, 1);
	}
	at = oldest;
	for (unsigned i = 0; i < count; i++, at = thread->before[at]) {
		struct abd_arc_entry *entry = thread->note[at];

		abd_arc_policy_hit(&arc->policy, &entry->item, abd_arc_quota_of_entry(arc, entry));
	}
	arc->stats.hits_told += count;
}

/* Report the hits if the lock is free. */
static bool abd_arc_thread_try_report(struct abd_arc_thread *thread, struct abd_arc *arc)
{
	if (pthread_mutex_trylock(&arc->lock) != 0)
		return false;
	abd_arc_thread_report(thread, arc);
	pthread_mutex_unlock(&arc->lock);
	return true;
}

/* Drop a seat's notes, and count them: the policy does not learn of these hits. */
static void abd_arc_seat_drop(struct abd_arc_thread *thread, struct abd_arc_seat *seat)
{
	uint16_t oldest;

	abd_arc_seat_add(
		seat, ABD_ARC_COUNT_DROPPED, abd_arc_seat_take_notes(thread, seat, &oldest));
}

static void abd_arc_seat_report_or_drop(struct abd_arc_thread *thread, struct abd_arc_seat *seat)
{
	struct abd_arc *arc = atomic_load_explicit(&seat->arc, memory_order_relaxed);

	if (seat->noted > 0 && (arc == NULL || !abd_arc_thread_try_report(thread, arc)))
		abd_arc_seat_drop(thread, seat);
}

/*
 * There is no room for another note. Report all to the policies whose locks are free, and drop the
 * rest: first of this cache, whose shards can't end now.
 */
static void abd_arc_notes_make_room(struct abd_arc_thread *thread, struct abd_arc *first)
{
	for (uint32_t i = 0; i < first->shards; i++)
		if (abd_arc_seat_is_of(abd_arc_seat_of(thread, &first[i]), &first[i]))
			abd_arc_seat_report_or_drop(thread, abd_arc_seat_of(thread, &first[i]));
	if (thread->noted == 0)
		return;
	pthread_mutex_lock(&abd_arc_registry);
	for (unsigned i = 0; i < ABD_ARC_SEATS; i++)
		abd_arc_seat_report_or_drop(thread, &thread->seat[i]);
	pthread_mutex_unlock(&abd_arc_registry);
}

void abd_arc_thread_settle_slow(struct abd_arc_thread *thread, struct abd_arc *arc)
{
	if (thread->notes == ABD_ARC_NOTES)
		abd_arc_notes_make_room(thread, abd_arc_first(arc));
	if (abd_arc_seat_of(thread, arc)->noted < arc->hit_batch)
		return;
	if (arc->hit_batch == 1) {
		pthread_mutex_lock(&arc->lock);
		abd_arc_thread_report(thread, arc);
		pthread_mutex_unlock(&arc->lock);
	} else if (!abd_arc_thread_try_report(thread, arc)) {
		/* Otherwise all threads would write the lock's cache line at every hit. */
		abd_arc_seat_of(thread, arc)->patience = arc->hit_batch;
	}
}

/* ---- seats ----------------------------------------------------------------------------------- */

/*
 * Leave a seat: its counts go to its shard, and what is noted to the policy, or is dropped if the
 * lock is busy and may_wait is false. Under the registry's lock, so that the shard can't end.
 */
static void abd_arc_seat_leave(
	struct abd_arc_thread *thread, struct abd_arc_seat *seat, bool may_wait)
{
	struct abd_arc *arc = atomic_load_explicit(&seat->arc, memory_order_relaxed);

	if (arc != NULL && may_wait) {
		pthread_mutex_lock(&arc->lock);
		abd_arc_thread_report(thread, arc);
		pthread_mutex_unlock(&arc->lock);
	} else if (arc != NULL) {
		(void)abd_arc_thread_try_report(thread, arc);
	}
	if (seat->noted > 0)
		abd_arc_seat_drop(thread, seat);
	for (unsigned i = 0; i < ABD_ARC_COUNTS; i++) {
		int64_t count = atomic_exchange_explicit(&seat->count[i], 0, memory_order_relaxed);

		if (arc != NULL)
			atomic_fetch_add_explicit(&arc->count[i], count, memory_order_relaxed);
	}
	atomic_store_explicit(&seat->arc, NULL, memory_order_relaxed);
	seat->patience = 0;
}

void abd_arc_seat_take(struct abd_arc_thread *thread, struct abd_arc *arc)
{
	struct abd_arc_seat *seat = abd_arc_seat_of(thread, arc);

	pthread_mutex_lock(&abd_arc_registry);
	abd_arc_seat_leave(thread, seat, false);
	atomic_store_explicit(&seat->arc, arc, memory_order_relaxed);
	pthread_mutex_unlock(&abd_arc_registry);
}

void abd_arc_thread_counts(struct abd_arc *arc, int64_t count[ABD_ARC_COUNTS])
{
	struct abd_arc_thread *thread;

	pthread_mutex_lock(&abd_arc_registry);
	for (unsigned i = 0; i < ABD_ARC_COUNTS; i++)
		count[i] = atomic_load_explicit(&arc->count[i], memory_order_relaxed);
	for (thread = abd_arc_threads; thread != NULL; thread = thread->next) {
		const struct abd_arc_seat *seat = abd_arc_seat_of(thread, arc);

		for (unsigned i = 0; abd_arc_seat_is_of(seat, arc) && i < ABD_ARC_COUNTS; i++)
			count[i] += atomic_load_explicit(&seat->count[i], memory_order_relaxed);
	}
	pthread_mutex_unlock(&abd_arc_registry);
}

/* ---- slots ----------------------------------------------------------------------------------- */

void abd_arc_thread_visit(void (*visit)(struct abd_arc_entry *entry, void *arg), void *arg)
{
	const struct abd_arc_thread *thread;

	for (thread = abd_arc_threads; thread != NULL; thread = thread->next) {
		struct abd_arc_entry *held[ABD_ARC_SLOTS];
		unsigned count = 0;

		/* What they hold is rarely in the CPU's cache: fetch it all at once. */
		for (unsigned i = 0; i < ABD_ARC_SLOTS; i++) {
			held[count] =
				atomic_load_explicit(&thread->slot[i].entry, memory_order_acquire);
			if (held[count] != NULL)
				__builtin_prefetch(held[count++], 1);
		}
		for (unsigned i = 0; i < count; i++)
			visit(held[i], arg);
	}
}

static bool abd_arc_thread_holds(const struct abd_arc_thread *thread)
{
	for (unsigned i = 0; i < ABD_ARC_SLOTS; i++)
		if (atomic_load_explicit(&thread->slot[i].entry, memory_order_acquire) != NULL)
			return true;
	return false;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void abd_arc_thread_free(struct abd_arc_thread *thread)
{
	abd_mem_free(thread, sizeof(*thread), 64);
}

static void abd_arc_thread_unlist(struct abd_arc_thread *thread)
{
	struct abd_arc_thread **link = &abd_arc_threads;

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
}

/* No read is under way: what one that was left holds is dropped. Under the registry's lock. */
static void abd_arc_thread_drop_reads(struct abd_arc_thread *thread)
{
	struct abd_arc_entry *counted = thread->counted.entry;

	for (unsigned i = 0; i < ABD_ARC_SLOTS_READ; i++)
		atomic_store_explicit(&thread->slot[i].entry, NULL, memory_order_release);
	thread->counted.entry = NULL;
	thread->reading = 0;
	if (counted != NULL)
		thread->forsake(counted);
}

bool abd_arc_thread_is_nested(const struct abd_arc_thread *thread)
{
	return (thread->reading & ABD_ARC_READING_CALLBACK) != 0 || abd_allocator_calls > 0;
}

bool abd_arc_thread_reads(struct abd_arc_thread *thread)
{
	if (abd_arc_thread_is_nested(thread))
		return false;
	if (thread->reading == 0)
		return true;
	/* With the lock: the cache of what was counted can't end meanwhile. */
	pthread_mutex_lock(&abd_arc_registry);
	abd_arc_thread_drop_reads(thread);
	pthread_mutex_unlock(&abd_arc_registry);
	return true;
}

/* Begin to end a fill that this thread leaves open, in any cache. NULL: there is none. */
static struct abd_arc_filling *abd_arc_thread_fill(const struct abd_arc_thread *thread, abd_t **abd)
{
	struct abd_arc_filling *filling = NULL;

	pthread_mutex_lock(&abd_arc_registry);
	for (struct abd_arc *first = abd_arc_caches; first != NULL; first = first->registry_next)
		for (uint32_t i = 0; filling == NULL && i < first->shards; i++)
			filling = abd_arc_filling_take(&first[i], thread, abd);
	pthread_mutex_unlock(&abd_arc_registry);
	return filling;
}

/*
 * A thread ends: its fills are abandoned, and its last hits reported. What the engine's functions
 * do meanwhile, they do without a lock of ours. A cache that has a fill does not end.
 */
static void abd_arc_thread_end(struct abd_thread *block)
{
	struct abd_arc_thread *thread = block->room;
	struct abd_arc_filling *filling;
	abd_t *abd;

	if (thread == NULL)
		return; /* it used no cache, or there was no memory for one */
	block->room = NULL;
	abd_arc_thread_has_ended = true;
	abd_arc_thread_self = NULL;
	while ((filling = abd_arc_thread_fill(thread, &abd)) != NULL) {
		abd_free(abd);
		abd_arc_filling_pass(filling);
	}
	pthread_mutex_lock(&abd_arc_registry);
	abd_arc_thread_drop_reads(thread);
	for (unsigned i = 0; i < ABD_ARC_SEATS; i++)
		abd_arc_seat_leave(thread, &thread->seat[i], true);
	bool stays = abd_arc_thread_holds(thread);

	thread->idle = stays;
	if (!stays)
		abd_arc_thread_unlist(thread);
	pthread_mutex_unlock(&abd_arc_registry);
	/* If it stays, another thread may have it by now. */
	if (!stays)
		abd_arc_thread_free(thread);
}

/*
 * The child of fork() has one thread, and uses no cache of its parent. The blocks of the others go.
 * liburcu waits for no thread of the parent that was in a section, once it knows of the fork; its
 * own call for that sets the signals' mask that it saved before, but it was not called then.
 */
static void abd_arc_fork_child(void)
{
	struct abd_arc_thread *thread, *next;
	sigset_t mask;

	for (thread = abd_arc_threads; thread != NULL; thread = next) {
		next = thread->next;
		if (thread != abd_arc_thread_self)
			abd_arc_thread_free(thread);
	}
	abd_arc_threads = abd_arc_thread_self;
	abd_arc_caches = NULL;
	if (abd_arc_threads != NULL) {
		abd_arc_threads->next = NULL;
		abd_arc_threads->notes = abd_arc_threads->noted = 0;
		memset(abd_arc_threads->seat, 0, sizeof(abd_arc_threads->seat));
		memset(abd_arc_threads->slot, 0, sizeof(abd_arc_threads->slot));
		abd_arc_threads->counted.entry = NULL;
		abd_arc_threads->reading = 0;
	}
	if (abd_thread_current != NULL)
		abd_thread_current->room = abd_arc_thread_self;
	pthread_mutex_unlock(&abd_arc_registry);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	urcu_bp_after_fork_child();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void abd_arc_layer_add(void)
{
	static const struct abd_thread_layer layer = {.ending = abd_arc_thread_end,
		.fork_begin = abd_arc_thread_lock,
		.fork_end = abd_arc_thread_unlock,
		.fork_child = abd_arc_fork_child};

	abd_thread_layer_add(ABD_THREAD_ARC, &layer);
}

/* Take over the block of a thread that has ended, with what it still holds. NULL: there is none. */
static struct abd_arc_thread *abd_arc_thread_adopt(void)
{
	struct abd_arc_thread *thread;

	pthread_mutex_lock(&abd_arc_registry);
	for (thread = abd_arc_threads; thread != NULL && !thread->idle; thread = thread->next)
		continue;
	if (thread != NULL)
		thread->idle = false;
	pthread_mutex_unlock(&abd_arc_registry);
	return thread;
}

/* Free the blocks of threads that have ended since the last of what they held was released. */
static void abd_arc_threads_tidy(void)
{
	struct abd_arc_thread **link = &abd_arc_threads, *thread;

	while ((thread = *link) != NULL) {
		if (thread->idle && !abd_arc_thread_holds(thread)) {
			*link = thread->next;
			abd_arc_thread_free(thread);
		} else {
			link = &thread->next;
		}
	}
}

static struct abd_arc_thread *abd_arc_thread_make(void)
{
	struct abd_arc_thread *thread = abd_mem_alloc(sizeof(*thread), 64);

	if (thread == NULL)
		return NULL;
	memset(thread, 0, sizeof(*thread));
	thread->next_slot = &thread->slot[ABD_ARC_SLOTS_READ];
	thread->idle = true;
	pthread_mutex_lock(&abd_arc_registry);
	thread->next = abd_arc_threads;
	abd_arc_threads = thread;
	pthread_mutex_unlock(&abd_arc_registry);
	return thread;
}

ABD_COLD struct abd_arc_thread *abd_arc_thread_start(void)
{
	ABD_KEEP_ERRNO;
	struct abd_thread *block = abd_arc_thread_has_ended ? NULL : abd_thread_self();

	pthread_once(&abd_arc_layer_once, abd_arc_layer_add);
	if (block == NULL)
		return NULL;

	/* What is there already was left behind, by a thread with this one's identity. */
	struct abd_arc_thread *thread = block->room;

	while (thread == NULL && (thread = abd_arc_thread_adopt()) == NULL &&
		abd_arc_thread_make() != NULL)
		continue;
	if (thread != NULL) {
		thread->rcu = abd_arc_rcu_register();
		thread->self = pthread_self();
	}
	block->room = thread;
	return abd_arc_thread_self = thread;
}

size_t abd_arc_thread_bytes(void)
{
	size_t bytes = 0;

	pthread_mutex_lock(&abd_arc_registry);
	abd_arc_threads_tidy();
	for (const struct abd_arc_thread *thread = abd_arc_threads; thread != NULL;
		thread = thread->next)
		bytes += sizeof(*thread);
	pthread_mutex_unlock(&abd_arc_registry);
	return bytes;
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* The seat that the fewest shards use. Under the registry's lock. */
static uint32_t abd_arc_seat_choose(const uint32_t used[ABD_ARC_SEATS])
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < ABD_ARC_SEATS; i++)
		least = used[i] < used[least] ? i : least;
	return least;
}

void abd_arc_thread_open(struct abd_arc *first)
{
	uint32_t used[ABD_ARC_SEATS] = {0};

	pthread_once(&abd_arc_layer_once, abd_arc_layer_add);
	/* liburcu ends the process if it is refused something: so ask for it now. */
	(void)abd_arc_rcu_register();
	pthread_mutex_lock(&abd_arc_registry);
	for (const struct abd_arc *arc = abd_arc_caches; arc != NULL; arc = arc->registry_next)
		for (uint32_t i = 0; i < arc->shards; i++)
			used[arc[i].seat]++;
	for (uint32_t i = 0; i < first->shards; i++) {
		first[i].id = ++abd_arc_shards_made;
		first[i].seat = abd_arc_seat_choose(used);
		used[first[i].seat]++;
	}
	first->registry_next = abd_arc_caches;
	abd_arc_caches = first;
	pthread_mutex_unlock(&abd_arc_registry);
}

/* The thread may be reading in another cache meanwhile, and use the slots for that. */
static void abd_arc_thread_end_reads_in(struct abd_arc_thread *thread, const struct abd_arc *first)
{
	for (unsigned i = 0; i < ABD_ARC_SLOTS_READ; i++) {
		struct abd_arc_hold_slot *slot = &thread->slot[i];
		struct abd_arc_entry *entry =
			atomic_load_explicit(&slot->entry, memory_order_acquire);

		if (entry != NULL && abd_arc_first(abd_arc_of_entry(entry)) == first)
			atomic_compare_exchange_strong(&slot->entry, &entry, NULL);
	}
	/* What is counted in another cache may be freed by now, and is not looked at. */
	struct abd_arc_entry *counted =
		atomic_load_explicit(&thread->counted.entry, memory_order_acquire);

	/* Its thread may just read in another cache. */
	struct abd_arc *arc = __atomic_load_n(&thread->counted.arc, __ATOMIC_RELAXED);

	if (counted == NULL || arc < first || arc >= first + first->shards)
		return;
	thread->counted.entry = NULL;
	thread->forsake(counted);
}

void abd_arc_thread_end_reads(struct abd_arc *first)
{
	struct abd_arc_thread *thread;

	pthread_mutex_lock(&abd_arc_registry);
	for (thread = abd_arc_threads; thread != NULL; thread = thread->next)
		abd_arc_thread_end_reads_in(thread, first);
	pthread_mutex_unlock(&abd_arc_registry);
}

static void abd_arc_thread_forget(struct abd_arc_thread *thread, struct abd_arc *first)
{
	for (uint32_t i = 0; i < first->shards; i++) {
		struct abd_arc_seat *seat = abd_arc_seat_of(thread, &first[i]);

		if (abd_arc_seat_is_of(seat, &first[i]))
			atomic_store_explicit(&seat->arc, NULL, memory_order_relaxed);
	}
}

void abd_arc_thread_close(struct abd_arc *first)
{
	struct abd_arc **link = &abd_arc_caches;
	struct abd_arc_thread *thread;

	pthread_mutex_lock(&abd_arc_registry);
	while (*link != first)
		link = &(*link)->registry_next;
	*link = first->registry_next;
	for (thread = abd_arc_threads; thread != NULL; thread = thread->next)
		abd_arc_thread_forget(thread, first);
	pthread_mutex_unlock(&abd_arc_registry);
}
