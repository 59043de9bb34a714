/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of fills: keys whose record somebody is fetching, and who waits for it. A thread waits
 * on a word of its own, so it is woken alone, and takes no lock when it wakes. An engine without a
 * thread to wait leaves a function to be called, in a struct that is freed before the call.
 * Invariants: a key has one fill at most, and one thread ends it. A fill's struct is freed only
 * when its cache ends, so that a commit that comes too late is found. Who takes a waiter out of a
 * fill's list, under lock, is the only one that wakes or calls it, or that gives up: so ready() is
 * called once, and nobody looks at a waiter whose thread has gone on.
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
	atomic_init(&filling->is_open, true);
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
	filling->is_open = false;
	filling->abd = NULL;
	filling->first = NULL; /* a waiter that gives up looks for itself here */
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

/* Take the waiter out of the list that link leads to it from. Under lock. */
static void abd_arc_filling_pull(struct abd_arc_filling *filling, struct abd_arc_waiter **link)
{
	struct abd_arc_waiter *waiter = *link;

	*link = waiter->next;
	if (filling->last == &waiter->next)
		filling->last = link;
}

/* Stop to wait. False: the waiter is in the list no more, and about to be woken. */
static bool abd_arc_filling_give_up(
	struct abd_arc *arc, struct abd_arc_filling *filling, struct abd_arc_waiter *waiter)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_waiter **link = &filling->first;

	while (*link != NULL && *link != waiter)
		link = &(*link)->next;
	bool is_here = *link != NULL;

	if (is_here)
		abd_arc_filling_pull(filling, link);
	pthread_mutex_unlock(&arc->lock);
	return is_here;
}

enum abd_arc_waiter_state abd_arc_filling_wait(
	struct abd_arc_filling *filling, struct abd_arc_thread *thread, uint64_t until_ns)
{
	const uint64_t second = 1000000000, seconds = until_ns / second;
	/* The system call's own form of a time, whatever time_t is. */
	const long until[2] = {(long)seconds, (long)(until_ns % second)};
	struct abd_arc_waiter waiter = {.thread = thread};
	struct abd_arc *arc = filling->arc; /* another key's fill may begin in the struct */
	bool ends = seconds <= INT32_MAX;
	uint32_t state;

	abd_arc_filling_append(filling, &waiter);
	pthread_mutex_unlock(&arc->lock);
	while ((state = atomic_load_explicit(&waiter.state, memory_order_acquire)) ==
		ABD_ARC_WAITING) {
		if (syscall(SYS_futex, &waiter.state, FUTEX_WAIT_BITSET_PRIVATE, ABD_ARC_WAITING,
			    ends ? until : NULL, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
			errno != ETIMEDOUT)
			continue;
		if (abd_arc_filling_give_up(arc, filling, &waiter))
			return ABD_ARC_WAITING;
		ends = false;
	}
	return (enum abd_arc_waiter_state)state;
}

int abd_arc_filling_notify(struct abd_arc_filling *filling, void (*ready)(void *arg), void *arg)
{
	struct abd_arc_waiter *waiter = abd_mem_alloc(sizeof(*waiter), 64);

	if (waiter == NULL)
		return -ENOMEM;
	*waiter = (struct abd_arc_waiter){.ready = ready, .arg = arg};
	abd_arc_filling_append(filling, waiter);
	return -EINPROGRESS;
}

int abd_arc_filling_forget(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	void (*ready)(void *arg), void *arg)
{
	struct abd_arc_waiter *found = NULL, **link;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_filling *filling = abd_arc_filling_find(arc, hash, key);

	if (filling != NULL) {
		link = &filling->first;
		while (*link != NULL && ((*link)->ready != ready || (*link)->arg != arg))
			link = &(*link)->next;
		found = *link;
		if (found != NULL)
			abd_arc_filling_pull(filling, link);
	}
	pthread_mutex_unlock(&arc->lock);
	if (found == NULL)
		return -ENOENT;
	abd_mem_free(found, sizeof(*found), 64);
	return 0;
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
	       atomic_exchange_explicit(&filling->is_open, false, memory_order_acq_rel);
}

struct abd_arc_waiter *abd_arc_filling_finish(struct abd_arc_filling *filling)
{
	struct abd_arc_waiter *waiter = filling->first;

	abd_arc_filling_unreserve(filling);
	abd_arc_filling_unlink(filling);
	return waiter;
}

/* Threads first: how long the engine's calls take is unknown. */
void abd_arc_waiters_wake(struct abd_arc_waiter *waiter)
{
	ABD_KEEP_ERRNO;
	struct abd_arc_waiter *calls = NULL, **last = &calls, *next;

	for (; waiter != NULL; waiter = next) {
		next = waiter->next;
		if (waiter->ready != NULL) {
			waiter->next = NULL;
			*last = waiter;
			last = &waiter->next;
		} else {
			abd_arc_waiter_wake(waiter, ABD_ARC_WAITED);
		}
	}
	for (; calls != NULL; calls = next) {
		void (*ready)(void *arg) = calls->ready;
		void *arg = calls->arg;

		next = calls->next;
		abd_mem_free(calls, sizeof(*calls), 64);
		ready(arg);
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
	struct abd_arc_waiter **link = &filling->first;

	/* Whose ready() is to be called has no thread that could fill. */
	while (*link != NULL && (*link)->ready != NULL)
		link = &(*link)->next;
	struct abd_arc_waiter *heir = *link;

	/* After a put or remove the record may be there already: all look again. */
	if (filling->is_overtaken || heir == NULL) {
		pthread_mutex_unlock(&arc->lock);
		abd_arc_filling_done(filling);
		return;
	}
	abd_arc_filling_unreserve(filling);
	abd_arc_filling_pull(filling, link);
	filling->abd = NULL;
	filling->owner = heir->thread;
	filling->is_open = true;
	pthread_mutex_unlock(&arc->lock);
	abd_arc_waiter_wake(heir, ABD_ARC_CHOSEN);
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

/* One fill of this thread that nobody ends, or NULL. Under lock. */
static struct abd_arc_filling *abd_arc_filling_of(
	struct abd_arc *arc, const struct abd_arc_thread *owner)
{
	struct abd_arc_filling *filling = NULL;

	for (size_t i = 0; filling == NULL && i < ABD_ARC_FILLING_BUCKETS; i++) {
		filling = arc->filling[i];
		while (filling != NULL && (filling->owner != owner || !filling->is_open))
			filling = filling->next;
	}
	return filling;
}

struct abd_arc_filling *abd_arc_filling_take(
	struct abd_arc *arc, const struct abd_arc_thread *owner, abd_t **abd)
{
	struct abd_arc_filling *filling;

	/* This thread's own are counted. */
	if (arc->fillings == 0)
		return NULL;
	pthread_mutex_lock(&arc->lock);
	do {
		filling = abd_arc_filling_of(arc, owner);
		*abd = filling != NULL ? filling->abd : NULL;
	} while (filling != NULL && !abd_arc_filling_claim(filling, *abd));
	pthread_mutex_unlock(&arc->lock);
	return filling;
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
