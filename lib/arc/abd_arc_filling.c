/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of fills: keys whose record somebody is fetching, and the threads that wait for it.
 * A thread waits on a word of its own, so it is woken alone, and takes no lock when it wakes.
 * Invariants: a key has one fill at most, and a fill has one owner, or one thread that ends it. A
 * fill's struct is freed only when its cache ends, so that a commit that comes too late is found. A
 * thread leaves a fill's list only when its word has changed: nobody looks at a waiter after that.
 * OpenZFS: b_acb in struct l1arc_buf_hdr: the callbacks of all who wait for one read.
 */
#include "abd_arc_filling.h"
#include "abd_mem.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct abd_arc_filling **abd_arc_filling_bucket(struct abd_arc *arc, uint64_t hash)
{
	return &arc->filling[hash % ABD_ARC_FILLING_BUCKETS];
}

struct abd_arc_filling *abd_arc_filling_find(
	const struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_filling *filling = arc->filling[hash % ABD_ARC_FILLING_BUCKETS];

	while (filling != NULL && !abd_key_equal(&filling->key, key, sizeof(*key)))
		filling = filling->next;
	return filling;
}

struct abd_arc_filling *abd_arc_filling_begin(
	struct abd_arc *arc, struct abd_arc_thread *owner, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_filling **bucket = abd_arc_filling_bucket(arc, hash);
	struct abd_arc_filling *filling = arc->filling_unused;

	if (filling != NULL)
		arc->filling_unused = filling->next;
	else
		filling = abd_mem_alloc(sizeof(*filling), 64);
	if (filling == NULL)
		return NULL;
	*filling = (struct abd_arc_filling){.key = *key, .hash = hash, .arc = arc, .next = *bucket};
	atomic_init(&filling->owner, owner);
	filling->last = &filling->first;
	*bucket = filling;
	arc->fillings++;
	return filling;
}

/* Under lock. */
static void abd_arc_filling_unlink(struct abd_arc_filling *filling)
{
	struct abd_arc *arc = filling->arc;
	struct abd_arc_filling **link = abd_arc_filling_bucket(arc, filling->hash);

	while (*link != filling)
		link = &(*link)->next;
	*link = filling->next;
	filling->owner = NULL;
	filling->abd = NULL;
	filling->next = arc->filling_unused;
	arc->filling_unused = filling;
	arc->fillings--;
}

/*
 * The waiter may return as soon as its word has changed. Then the wake-up goes to an address where
 * nobody waits, or to one who looks at his own word again.
 */
static void abd_arc_waiter_wake(struct abd_arc_waiter *waiter, enum abd_arc_waiter_state state)
{
	_Atomic uint32_t *word = &waiter->state;

	atomic_store_explicit(word, state, memory_order_release);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void abd_arc_filling_append(struct abd_arc_filling *filling, struct abd_arc_waiter *waiter)
{
	*filling->last = waiter;
	filling->last = &waiter->next;
}

enum abd_arc_waiter_state abd_arc_filling_wait(
	struct abd_arc_filling *filling, struct abd_arc_thread *thread)
{
	struct abd_arc_waiter waiter = {.thread = thread};
	uint32_t state;

	abd_arc_filling_append(filling, &waiter);
	pthread_mutex_unlock(&filling->arc->lock);
	while ((state = atomic_load_explicit(&waiter.state, memory_order_acquire)) ==
		ABD_ARC_WAITING)
		syscall(SYS_futex, &waiter.state, FUTEX_WAIT_PRIVATE, ABD_ARC_WAITING, NULL, NULL,
			0);
	return (enum abd_arc_waiter_state)state;
}

void abd_arc_filling_unreserve(struct abd_arc_filling *filling)
{
	filling->arc->policy.reserved -= filling->bytes;
	filling->arc->run_bytes -= filling->bytes;
	filling->bytes = 0;
}

bool abd_arc_filling_claim(struct abd_arc_filling *filling, const abd_t *abd)
{
	return atomic_load_explicit(&filling->abd, memory_order_acquire) == abd &&
	       atomic_exchange_explicit(&filling->owner, NULL, memory_order_acq_rel) != NULL;
}

struct abd_arc_waiter *abd_arc_filling_finish(struct abd_arc_filling *filling)
{
	struct abd_arc_waiter *waiter = filling->first;

	abd_arc_filling_unreserve(filling);
	abd_arc_filling_unlink(filling);
	return waiter;
}

void abd_arc_waiters_wake(struct abd_arc_waiter *waiter)
{
	for (struct abd_arc_waiter *next; waiter != NULL; waiter = next) {
		next = waiter->next;
		abd_arc_waiter_wake(waiter, ABD_ARC_WAITED);
	}
}

void abd_arc_filling_done(struct abd_arc_filling *filling)
{
	struct abd_arc *arc = filling->arc;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_waiter *waiter = abd_arc_filling_finish(filling);

	pthread_mutex_unlock(&arc->lock);
	abd_arc_waiters_wake(waiter);
}

void abd_arc_filling_pass(struct abd_arc_filling *filling)
{
	struct abd_arc *arc = filling->arc;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_waiter *waiter = filling->first;

	abd_arc_filling_unreserve(filling);
	/* The record may be there already: all look again. */
	if (filling->is_overtaken) {
		pthread_mutex_unlock(&arc->lock);
		abd_arc_filling_done(filling);
		return;
	}
	filling->abd = NULL;
	if (waiter != NULL) {
		filling->first = waiter->next;
		if (filling->first == NULL)
			filling->last = &filling->first;
		filling->owner = waiter->thread;
	} else {
		abd_arc_filling_unlink(filling);
	}
	pthread_mutex_unlock(&arc->lock);
	if (waiter != NULL)
		abd_arc_waiter_wake(waiter, ABD_ARC_CHOSEN);
}

void abd_arc_filling_overtake(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key)
{
	if (ABD_LIKELY(arc->fillings == 0))
		return;
	struct abd_arc_filling *filling = abd_arc_filling_find(arc, hash, key);

	if (filling != NULL)
		filling->is_overtaken = true;
}

void abd_arc_filling_overtake_pool(struct abd_arc *arc, uint64_t pool)
{
	struct abd_arc_filling *filling;

	for (size_t i = 0; arc->fillings > 0 && i < ABD_ARC_FILLING_BUCKETS; i++)
		for (filling = arc->filling[i]; filling != NULL; filling = filling->next)
			filling->is_overtaken |= filling->key.pool == pool;
}

/* One fill of this thread, or NULL. Under lock. */
static struct abd_arc_filling *abd_arc_filling_of(
	struct abd_arc *arc, const struct abd_arc_thread *owner)
{
	struct abd_arc_filling *filling = NULL;

	for (size_t i = 0; filling == NULL && i < ABD_ARC_FILLING_BUCKETS; i++) {
		filling = arc->filling[i];
		while (filling != NULL && filling->owner != owner)
			filling = filling->next;
	}
	return filling;
}

/* Take one of them from it, and its buffer, which no other thread is about to end. */
static struct abd_arc_filling *abd_arc_filling_take(
	struct abd_arc *arc, const struct abd_arc_thread *owner, abd_t **abd)
{
	struct abd_arc_filling *filling;

	pthread_mutex_lock(&arc->lock);
	do {
		filling = abd_arc_filling_of(arc, owner);
		*abd = filling != NULL ? filling->abd : NULL;
	} while (filling != NULL && !abd_arc_filling_claim(filling, *abd));
	pthread_mutex_unlock(&arc->lock);
	return filling;
}

void abd_arc_filling_leave(struct abd_arc *arc, const struct abd_arc_thread *owner)
{
	struct abd_arc_filling *filling;
	abd_t *abd;

	/* This thread's own are counted. */
	if (arc->fillings == 0)
		return;
	while ((filling = abd_arc_filling_take(arc, owner, &abd)) != NULL) {
		abd_free(abd);
		abd_arc_filling_pass(filling);
	}
}

const struct abd_arc_filling *abd_arc_filling_any(const struct abd_arc *arc)
{
	const struct abd_arc_filling *filling = NULL;

	for (size_t i = 0; filling == NULL && i < ABD_ARC_FILLING_BUCKETS; i++)
		filling = arc->filling[i];
	return filling;
}

void abd_arc_fillings_free(struct abd_arc *arc)
{
	struct abd_arc_filling *filling = arc->filling_unused, *next;

	for (; filling != NULL; filling = next) {
		next = filling->next;
		abd_mem_free(filling, sizeof(*filling), 64);
	}
}
