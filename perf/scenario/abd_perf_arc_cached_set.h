/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The caches that arc-cached-read and arc-scale read, filled with records, and the ways to read one
 * record.
 *
 *   bare decode    the cached lz4 blocks decoded one after another, without look-ups: the limit
 *   cache          abd_arc_read(): look-up, decode inside the read-side section
 *   scatter        the same from blocks in buffers of their own, made with the single-chunk rule
 *                  off, decoded where they lie
 *   openzfs's way  look-up, hold, borrow by a copy (rule off), liblz4, return, release
 *   single-chunk   the same calls with the rule on: the borrow copies nothing
 *   lines first    single-chunk, but a byte of each of the block's lines is read before decoding:
 *                  no byte is moved, and the first-level cache is as warm as after a copy
 */
#ifndef ABD_PERF_ARC_CACHED_SET_H
#define ABD_PERF_ARC_CACHED_SET_H

#include "abd_perf_data.h"

#include <abd/abd.h>

#define ABD_PERF_CACHED_MIB ((size_t)1 << 20)
/* bytes read at a time, as in OpenZFS's test; --io-size */
#define ABD_PERF_CACHED_READ ((size_t)128 << 10)

enum {
	CACHED_BARE,
	CACHED_CACHE,
	CACHED_SCATTER,
	CACHED_OPENZFS,
	CACHED_SINGLE,
	CACHED_LINES,
	CACHED_MODES
};

extern const char *const abd_perf_cached_name[CACHED_MODES];

/* Where a record lies in the cache, for bare decoding. Nothing is evicted while measuring. */
struct abd_perf_cached_block {
	const abd_t *abd;
	bool compressed;
};

struct abd_perf_cached_set {
	const struct abd_perf_options *options;
	const struct abd_perf_data *data;
	size_t record_size, records; /* records of all files */
	size_t read_size;            /* bytes that a thread reads at a time */
	size_t capacity;             /* of each cache; all of the records fit */
	unsigned files;              /* of equal size, a multiple of a read */
	abd_arc_t *packed;           /* as the library does it */
	abd_arc_t *on, *off; /* each block in a buffer of its own, as in OpenZFS: the rule on, off
			      */
	struct abd_perf_cached_block *block; /* of packed */
};

/** The key of a record, in every cache that is measured. */
static inline abd_arc_key_t abd_perf_cached_key(size_t record)
{
	return (abd_arc_key_t){1, {record * 8, record / 16}, 1 + record % 7};
}

/**
 * Make a cache and fill it with records, in the order of their keys. Their content is cut from
 * data, again and again. Ends the program when there is no memory.
 */
abd_arc_t *abd_perf_cached_fill(
	const struct abd_perf_data *data, size_t records, size_t record_size, size_t capacity);
/** Put a record as abd_perf_cached_fill() does. False: it could not be put. */
bool abd_perf_cached_put(
	abd_arc_t *arc, const struct abd_perf_data *data, size_t record, size_t record_size);

/**
 * Fill the caches of a set; the caller has set the members up to files. Ends the program when there
 * is no memory.
 */
void abd_perf_cached_set_make(struct abd_perf_cached_set *set);
void abd_perf_cached_set_free(struct abd_perf_cached_set *set);
/** Read every record in every mode. Returns whether all had the right content. */
bool abd_perf_cached_set_check(const struct abd_perf_cached_set *set);

/** Read one record into dst in one of the modes. False: reading failed. */
bool abd_perf_cached_record(
	const struct abd_perf_cached_set *set, unsigned mode, size_t record, char *dst);

/* One record after another, in one of the modes. */
struct abd_perf_cached_walk {
	const struct abd_perf_cached_set *set;
	unsigned mode;
	char *dst;
	size_t at, errors;
};

/** For a path of a race; arg is a walk. */
double abd_perf_cached_walk_run(void *arg, uint64_t iterations);

/** Count what a record takes in each mode: a result for each, in a step of its own. */
void abd_perf_cached_count(const struct abd_perf_cached_set *set);

#endif
