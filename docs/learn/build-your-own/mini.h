/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What you build: a small buffer in pieces, and a small cache. You write step1.c to step7.c; "check
 * N" compiles step1.c to stepN.c with given.c and testN.c. The chapters of docs/learn say what each
 * step is about. What returns a pointer returns NULL when memory is refused, and leaves none
 * behind.
 */
#ifndef MINI_H
#define MINI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- given.c: where memory comes from. Take it from here only: the checks count. ---- */

#define PAGE ((size_t)4096)

void *mem_get(size_t size);           /* from the heap; NULL when it is refused */
void mem_put(void *mem, size_t size); /* back to the heap, with the size it was asked for */
void *mem_run(size_t pages);          /* pages side by side: 1, 2, 4, 8...; NULL when refused */
void mem_run_put(void *run, size_t pages); /* back to where runs come from */

/* Squeeze size bytes into as much room at to; returns the bytes used, or 0 if it saves nothing. */
size_t pack(char *to, const char *from, size_t size);
void unpack(char *to, size_t size, const char *from, size_t packed);

/* ---- step 1: a linear buffer with an owner ---- */

/* Some bytes in one piece. */
struct piece {
	char *addr;
	size_t len;
};

/* A buffer: size bytes, in count pieces. end() gives the memory back; NULL: the memory is not ours.
 */
struct mini {
	size_t size;
	void (*end)(struct mini *buffer);
	void *more; /* what end() needs, if anything */
	size_t count;
	struct piece piece[];
};

struct mini *mini_new(size_t count); /* room for count pieces: count is set, all else is 0 */
struct mini *mini_alloc_linear(size_t size);
struct mini *mini_wrap(void *mem, size_t size); /* the memory stays the caller's */
void mini_take(struct mini *buffer); /* the buffer owns the memory from now on (it is the heap's) */
void *mini_give(struct mini *buffer); /* the caller owns it from now on */
void mini_free(struct mini *buffer);

/* ---- step 2: pieces, and the iterator ---- */

typedef int mini_func(char *addr, size_t len, void *arg);

struct mini *mini_alloc_pages(size_t size); /* in runs of one page */
/* Gives every run back. Runs of one page have it as their end(), and the longer ones of step 3. */
void mini_end_runs(struct mini *buffer);
/*
 * Call func on each piece of [off, off + size), in order; stop when it returns something other
 * than 0, and return that.
 */
int mini_each(struct mini *buffer, size_t off, size_t size, mini_func *func, void *arg);
void mini_copy_out(void *to, struct mini *from, size_t off, size_t size);
void mini_copy_in(struct mini *to, const void *from, size_t off, size_t size);

/* ---- step 3: the single-run rule ---- */

struct mini *mini_alloc(size_t size); /* below 1,536 bytes linear, else the largest runs there are
				       */
bool mini_is_linear(const struct mini *buffer);

/* ---- step 4: views and gangs ---- */

struct mini *mini_view(struct mini *buffer, size_t off, size_t size);
/* One buffer of count others; when it owns them they end with it. */
struct mini *mini_gang(struct mini *const *part, size_t count, bool own);

/* ---- step 5: borrow and return ---- */

void *mini_borrow(struct mini *buffer);      /* in one piece, to be filled */
void *mini_borrow_copy(struct mini *buffer); /* in one piece, with what is in the buffer */
void mini_return(struct mini *buffer, void *lent);
void mini_return_copy(struct mini *buffer, void *lent); /* what was written is in the buffer
							   afterwards */

/* ---- step 6: a cache ---- */

enum list { NONE, T1, T2, B1, B2 };
enum { CACHE_MOST = 16 }; /* records that a cache may have */

struct entry {
	enum list list; /* NONE: a free entry */
	unsigned key;
	unsigned long used;  /* when it came to its list: the oldest has the smallest */
	size_t size, packed; /* of the record; packed is 0 for one that is stored as it is */
	struct mini *stored; /* NULL: a ghost, of which only the name is left */
};

struct cache {
	size_t records, target; /* it has room for; T1 should have */
	unsigned long now;
	size_t length[B2 + 1]; /* of each list; NONE: free entries */
	struct entry entry[2 * CACHE_MOST];
};

struct entry *cache_find(struct cache *cache, unsigned key);     /* given.c: NULL: no list has it */
struct entry *cache_oldest(struct cache *cache, enum list list); /* given.c: NULL: it is empty */

struct cache *cache_make(size_t records);
/* False: no record is there. Then it changes nothing, ghost or not: the put that follows does. */
bool cache_read(struct cache *cache, unsigned key, void *to);
/* False: memory was refused, and nothing was changed. A record that is there is replaced, in T2. */
bool cache_put(struct cache *cache, unsigned key, const void *from, size_t size);
const char *cache_list(struct cache *cache, unsigned key); /* "T1", "T2", "B1", "B2" or "" */
void cache_end(struct cache *cache);

/* ---- step 7: many readers ---- */

enum { SHARED_SLOTS = 4, SHARED_NOTES = 4, SHARED_WAITING = 8 };

struct shared {
	_Atomic(struct mini *) slot[SHARED_SLOTS]; /* the buffers that readers find */
	_Atomic(struct mini *) note[SHARED_NOTES]; /* one a reader: what it reads now */
	struct mini *waiting[SHARED_WAITING]; /* the writer's: taken out, and perhaps still read */
};

struct mini *shared_look(_Atomic(struct mini *) *slot); /* given.c: a load; a writer may come right
							   behind it */
struct mini *shared_hold(struct shared *shared, size_t slot, size_t note);
void shared_release(struct shared *shared, size_t note);
/*
 * The one writer's: puts buffer (or NULL) into the slot, and ends each buffer that waits and that
 * no note names any more. False: too much is waiting, and nothing was put.
 */
bool shared_replace(struct shared *shared, size_t slot, struct mini *buffer);

#endif
