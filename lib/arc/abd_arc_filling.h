/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills: keys whose record somebody is fetching, and who waits for it. abd_arc_filling.c says what
 * holds of them.
 */
#ifndef ABD_ARC_FILLING_H
#define ABD_ARC_FILLING_H

#include "abd_arc_impl.h"

/** Who waits for a fill: a thread, on its own stack; or an engine's ready(), allocated. */
struct abd_arc_waiter {
	struct abd_arc_waiter *next;
	struct abd_arc_thread *thread;
	_Atomic uint32_t state;
	void (*ready)(void *arg); /* NULL: a thread sleeps */
	void *arg;
};

enum abd_arc_waiter_state {
	ABD_ARC_WAITING, /* after a wait: its time was up, and the thread waits no more */
	ABD_ARC_WAITED,  /* the fill has ended: look again */
	ABD_ARC_CHOSEN,  /* the fill is this thread's now */
};

/** A fill. Under lock. Freed when its cache ends. */
struct abd_arc_filling {
	abd_arc_key_t key;
	uint64_t hash;
	struct abd_arc *arc;
	/* the thread whose end abandons the fill; NULL: it belongs to none, and was handed out */
	struct abd_arc_thread *_Atomic owner;
	/* until somebody begins to end the fill. Any thread may, with no lock */
	atomic_bool is_open;
	abd_t *_Atomic abd; /* what was handed out, or NULL */
	size_t bytes;       /* that abd takes of the capacity */
	/* the key's record was put or removed since the fill began: what is filled in may be old */
	bool is_overtaken;
	struct abd_arc_waiter *first, **last;
	struct abd_arc_filling *next;
};

/** The fill of key, or NULL. Under lock. */
struct abd_arc_filling *abd_arc_filling_find(
	const struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key);
/** Begin a fill of key, which has none. NULL: no memory. Under lock. */
struct abd_arc_filling *abd_arc_filling_begin(
	struct abd_arc *arc, struct abd_arc_thread *owner, uint64_t hash, const abd_arc_key_t *key);
/** Wait for a fill, at most until then. Called under lock, returns without. */
enum abd_arc_waiter_state abd_arc_filling_wait(
	struct abd_arc_filling *filling, struct abd_arc_thread *thread, uint64_t until_ns);
/** Have ready(arg) called when the fill has ended. Returns -EINPROGRESS or -ENOMEM. Under lock. */
int abd_arc_filling_notify(struct abd_arc_filling *filling, void (*ready)(void *arg), void *arg);
/** The reverse, for a fill of this key. Returns 0, or -ENOENT: it was called, or is about to be. */
int abd_arc_filling_forget(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	void (*ready)(void *arg), void *arg);
/** Give back what the fill's buffer takes of the capacity. Under lock. */
void abd_arc_filling_unreserve(struct abd_arc_filling *filling);
/** Begin to end the fill whose buffer this is. False: another thread has begun. */
bool abd_arc_filling_claim(struct abd_arc_filling *filling, const abd_t *abd);
/** The fill succeeded, and ends. Returns the threads that waited. Under lock. */
struct abd_arc_waiter *abd_arc_filling_finish(struct abd_arc_filling *filling);
/** Wake them all, and call their ready(). Outside of locks. */
void abd_arc_waiters_wake(struct abd_arc_waiter *waiter);
/** Both. Outside of locks. */
void abd_arc_filling_done(struct abd_arc_filling *filling);
/**
 * It did not: the thread that has waited longest is woken, and has the fill. If the fill was
 * overtaken, or no thread waits, it ends. Outside of locks.
 */
void abd_arc_filling_pass(struct abd_arc_filling *filling);
/** A record of this key was put or removed. Under lock. */
void abd_arc_filling_overtake(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key);
/** The records of this pool are being removed. Under lock. */
void abd_arc_filling_overtake_pool(struct abd_arc *arc, uint64_t pool);
/** Begin to end a fill of this thread's, which ends itself. NULL: it has none here. */
struct abd_arc_filling *abd_arc_filling_take(
	struct abd_arc *arc, const struct abd_arc_thread *owner, abd_t **abd);
/** A fill that has not ended, or NULL. Under lock. */
const struct abd_arc_filling *abd_arc_filling_any(const struct abd_arc *arc);
void abd_arc_fillings_free(struct abd_arc *arc);

#endif
