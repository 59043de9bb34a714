/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents: what blocks hold. Blocks with the same bytes share one content, so those bytes are
 * cached once and logged once.
 *
 * The dedupe table finds a content by its checksum. That is a guess: the caller that finds a
 * content compares all its bytes before using it.
 * Invariant: a content is in the table, and can be found, only while it is referred to. Its id is
 * never used again, so what the cache knows under an id is that content's bytes for ever.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a content's bytes lie in the log: epoch of the segment << 32 | line of the file; 0:
 * nowhere.
 */
typedef uint64_t content_place_t;

struct content {
	struct content *next; /* in its bucket */
	uint64_t id;
	uint64_t checksum; /* XXH3 of the block */
	_Atomic content_place_t place;
	uint32_t refs;  /* blocks of the map, and calls under way; under the bucket's lock */
	bool is_listed; /* in the table, or the zero content; likewise */
};

#define CONTENT_LOCKS 64

struct contents {
	struct content **bucket;
	uint64_t bucket_count; /* a power of two, CONTENT_LOCKS at least */
	_Atomic uint64_t next_id;
	_Atomic uint64_t count;
	pthread_mutex_t lock[CONTENT_LOCKS];
	/*
	 * The content of all blocks that hold zeroes. It is in no table, it never ends, and its
	 * refs are not counted.
	 */
	struct content zero;
};

/** blocks: the device's number of blocks, which decides the table's size. Returns 0 or -ENOMEM. */
int contents_init(struct contents *contents, uint64_t blocks);

void contents_fini(struct contents *contents);

/** The id of what a block held before anybody wrote it; the zero content's id is 0. */
static inline uint64_t content_first_id(uint64_t block)
{
	return block + 1;
}

/** An id that nothing had before. */
uint64_t contents_next_id(struct contents *contents);

/** A new content that nobody can find yet, with one reference for the caller. NULL: no memory. */
struct content *content_new(struct contents *contents, uint64_t checksum, uint64_t id);

/** Let others find it. */
void content_list(struct contents *contents, struct content *content);

/**
 * A content with this checksum, with a reference for the caller; NULL: there is none. Equal bytes
 * are not proven by that.
 */
struct content *content_find(struct contents *contents, uint64_t checksum);

/** Take another reference. The caller has one already. */
void content_get(struct contents *contents, struct content *content);

/**
 * Drop a reference. If it was the last, returns the content's id, which the cache is to forget;
 * else 0. NULL is ignored.
 */
uint64_t content_put(struct contents *contents, struct content *content);

#endif
