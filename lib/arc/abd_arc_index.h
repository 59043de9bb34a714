/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index: from key to entry. Readers look up inside a read-side section, wait-free; writers hold
 * the cache's lock.
 *
 *   directory        page (4 KiB, a run)         line (64 bytes)
 *   +--------+       +-----------------+         +----------------------------+------+-----
 *   | page --|------>| line 0          |-------->| 7 tags, how many passed by | slot | ...  7 slots
 *   | page --|-->    | ...             |         +----------------------------+--|---+-----
 *   +--------+       | line 63         |                                         v
 *                    +-----------------+                                       entry
 *
 * A hash's low bits say which line an entry should be in (its home), its top 8 bits are its tag: a
 * look-up fetches the line, then the entry, and another entry once in 50 times. If the line is
 * full, the entry goes to the next line of the page that has room, and every line on the way counts
 * it as passed by; a look-up goes on while a line has been passed.
 * Lines are doubled one by one, a few to a put: no put waits for a whole table, and no table is
 * there twice.
 *
 * Invariants: an entry is found from its home on, over lines whose count is not 0. An entry that
 * was taken out may still be seen until a grace period has passed. While a line is split, an entry
 * stands in both places; it leaves the old one after lines says so: so a reader who finds nothing
 * looks once more if its key has another home by now (once for each doubling or joining). Were
 * lines to rise and fall again meanwhile, that home would be the one it looked at: so lines only
 * rises in an even turn and only falls in an odd one, and a reader also looks once more if the turn
 * is another (twice at most: who has joined lines waits for it).
 *
 * OpenZFS: buf_hash_table in module/zfs/arc.c, of fixed size, where each look-up takes a lock of
 * its hash chain.
 * Source: lines of slots and tags after Fan, Andersen, Kaminsky, "MemC3" (NSDI 2013); growing line
 * by line: Litwin, "Linear Hashing" (VLDB 1980). liburcu's cds_lfht was here before: docs/arc.md
 * says what this one is worth.
 */
#ifndef ABD_ARC_INDEX_H
#define ABD_ARC_INDEX_H

#include "abd_base.h"
#include "abd_rcu.h"

#include <abd/arc.h>
#include <abd/key.h>

#include <stdatomic.h>

#define ABD_ARC_LINE_SLOTS 7
#define ABD_ARC_PAGE_LINES 64
/** Lines are doubled at so many entries to a line, of 7 that fit. */
#define ABD_ARC_LINE_LOAD 5

/** Begins with its key. */
struct abd_arc_entry;

struct abd_arc_line {
	/*
	 * Byte i: the tag of slot i, if that is not empty. Byte 7: entries that should be here or
	 * before, and are behind.
	 */
	_Alignas(64) _Atomic uint64_t tags;
	struct abd_arc_entry *_Atomic slot[ABD_ARC_LINE_SLOTS];
};

/**
 * Replaced as a whole when it is full; older ones stay, half as large each, until the index ends.
 */
struct abd_arc_directory {
	size_t room;
	struct abd_arc_directory *older;
	struct abd_arc_line *_Atomic page[];
};

struct abd_arc_index {
	_Alignas(64) _Atomic size_t lines; /* ABD_ARC_PAGE_LINES at least */
	_Atomic size_t turns;              /* odd while lines are joined */
	struct abd_arc_directory *_Atomic directory;
	size_t pages;      /* in the directory */
	unsigned provider; /* of the pages */
	bool is_shrinking; /* from abd_arc_index_shrink() to its end */
	uint64_t seed;     /* of the hash, to find an entry's home again */
};

/** An empty index with room for entries; NULL: no memory. seed is abd_arc_hash_key()'s. */
struct abd_arc_index *abd_arc_index_new(size_t entries, uint64_t seed);
void abd_arc_index_free(struct abd_arc_index *index);

/**
 * Put entry in, whose key's hash is hash; *old: the entry that had its key, now out, or NULL.
 * Readers see one or the other, always. False: its page is full, and nothing has changed;
 * abd_arc_index_neighbour() says which entry may make room.
 */
bool abd_arc_index_put(struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry,
	struct abd_arc_entry **old);
struct abd_arc_entry *abd_arc_index_neighbour(struct abd_arc_index *index, uint64_t hash);
/** Take out an entry. False: it is not in, and nothing has changed. */
bool abd_arc_index_remove(
	struct abd_arc_index *index, uint64_t hash, const struct abd_arc_entry *entry);

/** Split a few lines if so many entries need more of them. Without memory all stays as it is. */
void abd_arc_index_grow(struct abd_arc_index *index, size_t entries);
/**
 * Join lines until there are no more than so many entries need. False: there are no more. True:
 * wait for a grace period, outside of the lock if need be, and give back what is free by
 * abd_arc_index_shrink_end(); one at a time. Growing goes on between the two.
 */
bool abd_arc_index_shrink(struct abd_arc_index *index, size_t entries);
void abd_arc_index_shrink_end(struct abd_arc_index *index);

/** Bytes that it takes. */
size_t abd_arc_index_bytes(const struct abd_arc_index *index);
/** Bytes that it will take in addition when one more entry is put beside so many. */
size_t abd_arc_index_next_bytes(const struct abd_arc_index *index, size_t entries);
/** Bytes of it to an entry when it has just been doubled. */
size_t abd_arc_index_cost(void);

/**
 * The line that an entry of this hash should be in: a hash that would go beyond the last one goes
 * where it was split from.
 */
static inline size_t abd_arc_index_home(uint64_t hash, size_t lines)
{
	size_t mask = ((size_t)2 << abd_log2(lines - 1)) - 1, home = (size_t)hash & mask;

	return home < lines ? home : home & mask >> 1;
}

static inline struct abd_arc_line *abd_arc_index_page(struct abd_arc_index *index, size_t home)
{
	struct abd_arc_directory *directory =
		atomic_load_explicit(&index->directory, memory_order_acquire);

	return atomic_load_explicit(
		&directory->page[home / ABD_ARC_PAGE_LINES], memory_order_acquire);
}

/* Bit 7 of each byte of x that is 0, and perhaps of others; no slot that matches is missed. */
static inline uint64_t abd_arc_index_zeroes(uint64_t x)
{
	return (x - 0x0101010101010101u) & ~x & 0x0080808080808080u;
}

/** The entry of key within its page, or NULL. */
static inline struct abd_arc_entry *abd_arc_index_find_from(
	struct abd_arc_line *page, size_t home, uint64_t hash, const abd_arc_key_t *key)
{
	uint64_t pattern = (hash >> 56) * 0x0001010101010101u;

	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = &page[(home + i) % ABD_ARC_PAGE_LINES];
		uint64_t tags = atomic_load_explicit(&line->tags, memory_order_acquire);

		for (uint64_t match = abd_arc_index_zeroes(tags ^ pattern); match != 0;
			match &= match - 1) {
			struct abd_arc_entry *entry = atomic_load_explicit(
				&line->slot[__builtin_ctzll(match) / 8], memory_order_acquire);

			if (ABD_LIKELY(entry != NULL && abd_key_equal(entry, key, sizeof(*key))))
				return entry;
		}
		if (ABD_LIKELY(tags >> 56 == 0))
			break;
	}
	return NULL;
}

/** The entry of key, or NULL. Inside a read-side section. */
static inline struct abd_arc_entry *abd_arc_index_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	size_t turn, home, now, turn_now;

	do {
		turn = atomic_load_explicit(&index->turns, memory_order_acquire);
		home = abd_arc_index_home(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		struct abd_arc_entry *entry =
			abd_arc_index_find_from(abd_arc_index_page(index, home), home, hash, key);

		if (ABD_LIKELY(entry != NULL))
			return entry;
		now = abd_arc_index_home(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		turn_now = atomic_load_explicit(&index->turns, memory_order_acquire);
	} while (ABD_UNLIKELY(now != home || turn_now != turn));
	return NULL;
}

#endif
