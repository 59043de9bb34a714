/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps 8 to 13: parts of a cache as OpenZFS's arc.c has them. Each stands alone: "check N"
 * compiles stepN.c with what is given. The chapters on arc.c say what each step is about.
 */
#ifndef MINI_ARC_H
#define MINI_ARC_H

#include "mini.h"

/* ---- given_arc.c: headers, and the lists of a state ---- */

struct hdr;

struct row {
	struct hdr *newest, *oldest;
};

enum lock { FREE, OURS, THEIRS };

struct hdr {
	struct row *in;            /* the list in which it stands; NULL: in none */
	struct hdr *newer, *older; /* its neighbours there */
	struct row *state;         /* the list to which it belongs when nobody uses it */
	unsigned users;
	bool gone;   /* its block is gone, though somebody may use it still */
	bool marker; /* no header: it keeps somebody's place in a list */
	enum lock lock;
	size_t size;
};

struct hdr *hdr_make(struct row *state, size_t size); /* stands in the list, as the newest */
void hdr_end(struct hdr *hdr);                        /* in no list, and without users */
void list_in(struct row *row, struct hdr *hdr);       /* as the newest */
void list_out(struct hdr *hdr);
void list_past(struct hdr *marker); /* the marker goes past its newer neighbour */

/* ---- step 8: who uses it ---- */

unsigned hdr_hold(struct hdr *hdr); /* how many users there are now */
unsigned hdr_release(struct hdr *hdr);

/* ---- step 9: the next state ---- */

enum state { ANON, MRU, MRU_GHOST, MFU, MFU_GHOST, UNCACHED, L2C_ONLY };

/* A use of a block: what its header knew before. */
struct use {
	enum state state;
	bool reading;        /* its bytes are still on their way */
	bool uncached;       /* it is to be dropped after use */
	bool was_prefetch;   /* so was the use before this one */
	unsigned long noted; /* the time in the header, in milliseconds */
	unsigned long now;   /* the time of this use; it becomes the noted one, or does not */
};

enum state state_after(struct use *use);

/* ---- step 10: one reads, the others wait ---- */

typedef void ask_func(void *arg, int error);

struct ask {
	unsigned long key;
	ask_func *func;
	void *arg;
	struct ask *next;
};

struct misses {
	struct ask *first; /* those who wait, in the order that you like */
};

/* True: the caller has to read. Either way func(arg, error) is called when that is done. */
bool miss_ask(struct misses *misses, unsigned long key, ask_func *func, void *arg);
void miss_done(struct misses *misses, unsigned long key, int error);

/* ---- step 11: try, and keep your place ---- */

bool lock_try(struct hdr *hdr); /* given: false when another thread has it */
void lock_end(struct hdr *hdr);

enum { EVICT_MOST = 10 }; /* headers that one call ends */

/* From the marker towards the newest. Returns the bytes of the headers that ended. */
size_t evict_some(struct hdr *marker, size_t bytes);

/* ---- step 12: a block of one's own ---- */

struct form;

struct block {
	unsigned long key; /* 0: nobody finds it */
	size_t size;
	char *bytes; /* its own; NULL: it has none */
	struct form *forms;
};

struct form { /* one user's bytes of a block */
	struct block *block;
	struct form *next;
	char *bytes;
	bool shared; /* they are the block's own bytes */
};

struct block *block_make(unsigned long key, const char *text); /* given; as long as the text */
struct form *form_make(struct block *block, bool shared);      /* given; else it gets a copy */
void block_end(struct block *block);                           /* given; with its forms */

void release(struct form *form);

/* ---- step 13: a queue by bytes ---- */

struct waiter {
	unsigned long number; /* it wakes when so many bytes were evicted since the start */
	bool awake;
	struct waiter *next;
};

struct queue {
	unsigned long count; /* bytes evicted since the start */
	struct waiter *head, *tail;
};

void queue_wait(struct queue *queue, struct waiter *waiter, unsigned long amount);
void queue_evicted(struct queue *queue, unsigned long bytes);
void queue_over(struct queue *queue);

#endif
