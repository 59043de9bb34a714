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
 * The low bits of a hash say which line an entry should be in (its home); the top 8 bits are its
 * tag. A look-up fetches the line, then the entry; once in 50 times it fetches another entry whose
 * tag is the same. If the line is full, the entry goes to the next line of the page that has room,
 * and every line on the way counts it as passed by. A look-up goes on to the next line while the
 * count of this one is not 0.
 * The number of lines is doubled by splitting them one by one, a few at each put. So no put waits
 * for a whole table, and the table is never in memory twice.
 *
 * Invariants: an entry is found from its home on, over lines whose count is not 0. Readers may
 * still see an entry that was taken out until a grace period has passed.
 * An entry that is leaving (evicted, but perhaps held) stays in its slot, with bit 0 of the pointer
 * set. Only who has the lock may look into it, so once it is taken out no grace period is needed.
 * An empty slot has bit 0 set too, so a look-up needs one test for both.
 * While a line is split or joined, its entries stand in both places. They leave the old place after
 * lines has changed. So a reader who finds nothing looks once more if its key has another home by
 * now (once for each doubling or joining). If lines rose and fell again meanwhile, the home would
 * be the same. Therefore lines rises only in an even turn and falls only in an odd one, and a
 * reader also looks once more if the turn has changed. That happens twice at most, because whoever
 * joins lines then waits for the readers.
 *
 * OpenZFS: buf_hash_table in module/zfs/arc.c; its size is fixed, and each look-up takes a lock.
 * Source: lines of slots and tags after Fan, Andersen, Kaminsky, "MemC3" (NSDI 2013); growing line
 * by line: Litwin, "Linear Hashing" (VLDB 1980). It replaced liburcu's cds_lfht; docs/notes/arc.md
 * compares the two.
 */
#ifndef ABD_ARC_INDEX_H
#define ABD_ARC_INDEX_H

#include "abd_arc_hash.h"
#include "abd_base.h"

#include <abd/arc.h>
#include <abd/key.h>

#include <stdatomic.h>

#define ABD_ARC_LINE_SLOTS 7
#define ABD_ARC_PAGE_LINES 64
/** Lines are doubled when they have this many entries on average; 7 fit. */
#define ABD_ARC_LINE_LOAD 5
/** An index never takes less, and a tiny cache has that much to spare. */
#define ABD_ARC_INDEX_LEAST ((size_t)8 << 10)

/** An entry begins with its key. */
struct abd_arc_entry;

#define ABD_ARC_SLOT_CLOSED ((uintptr_t)1)
#define ABD_ARC_SLOT_EMPTY ((struct abd_arc_entry *)ABD_ARC_SLOT_CLOSED)

struct abd_arc_line {
	/*
	 * Byte i: the tag of slot i, if the slot is not empty. Byte 7: how many entries were passed
	 * by, that is, have their home here or before and stand behind.
	 */
	_Alignas(64) _Atomic uint64_t tags;
	struct abd_arc_entry *_Atomic slot[ABD_ARC_LINE_SLOTS];
};

/**
 * The pages. A full directory is replaced by one of twice the room; the older ones stay until the
 * index ends.
 */
struct abd_arc_directory {
	size_t room;
	struct abd_arc_directory *older;
	struct abd_arc_line *_Atomic page[];
};

struct abd_arc_index {
	_Alignas(64) _Atomic size_t lines; /* at least ABD_ARC_PAGE_LINES */
	_Atomic size_t turns;              /* odd while lines are joined */
	size_t goal; /* the number of lines, a power of two, that lines is on its way to */
	struct abd_arc_directory *_Atomic directory;
	size_t pages;      /* in the directory */
	unsigned provider; /* of the pages */
	bool is_shrinking; /* from abd_arc_index_shrink() to abd_arc_index_shrink_end() */
	uint64_t seed;     /* the hash's seed, to compute an entry's home again */
};

/**
 * An empty index with room for this many entries; NULL: no memory. seed is the one for
 * abd_arc_hash_key().
 */
struct abd_arc_index *abd_arc_index_new(size_t entries, uint64_t seed);
void abd_arc_index_free(struct abd_arc_index *index);

/**
 * Put entry in; hash is the hash of its key. *old is the entry of the same key that it replaces, or
 * NULL. A reader always sees one of the two. False: the page is full, and nothing has changed;
 * abd_arc_index_neighbour() returns an entry to evict.
 */
bool abd_arc_index_put(struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry,
	struct abd_arc_entry **old);
struct abd_arc_entry *abd_arc_index_neighbour(struct abd_arc_index *index, uint64_t hash);
/** The entry of key, leaving or not; NULL: there is none. */
struct abd_arc_entry *abd_arc_index_find_any(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key);
/** This entry, which is in the index, is leaving. */
void abd_arc_index_leave(struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry);
/** Take an entry out. False: it is not in the index, and nothing has changed. */
bool abd_arc_index_remove(
	struct abd_arc_index *index, uint64_t hash, const struct abd_arc_entry *entry);

/**
 * Split a few lines if this many entries need more lines. If memory is refused, the index stays as
 * it is.
 */
void abd_arc_index_grow(struct abd_arc_index *index, size_t entries);
/**
 * Join lines, ABD_ARC_SHRINK_STEPS at most, until there are no more than this many entries need:
 * the lock is not held for long. False: there were no more lines than that. True: the caller waits
 * for a grace period, which it may do without the lock, and then calls abd_arc_index_shrink_end()
 * to give the free pages back. One thread at a time. The index may grow between the two calls.
 */
bool abd_arc_index_shrink(struct abd_arc_index *index, size_t entries);
/** The same for an index that is too large for this many entries by half. False: it is not. */
bool abd_arc_index_shrink_some(struct abd_arc_index *index, size_t entries);
/** Whether abd_arc_index_shrink_some() would join lines. */
bool abd_arc_index_is_sparse(const struct abd_arc_index *index, size_t entries);
void abd_arc_index_shrink_end(struct abd_arc_index *index);

/** Bytes that the index takes. */
size_t abd_arc_index_bytes(const struct abd_arc_index *index);
/** Bytes that the index will take in addition when one more entry is put into it. */
size_t abd_arc_index_next_bytes(const struct abd_arc_index *index, size_t entries);

/** The line that an entry with this hash should be in. */
static inline size_t abd_arc_index_home(uint64_t hash, size_t lines)
{
	return abd_arc_hash_home(hash, lines);
}

static inline struct abd_arc_line *abd_arc_index_page(struct abd_arc_index *index, size_t home)
{
	struct abd_arc_directory *directory =
		atomic_load_explicit(&index->directory, memory_order_acquire);

	return atomic_load_explicit(
		&directory->page[home / ABD_ARC_PAGE_LINES], memory_order_acquire);
}

/*
 * Bit 7 of each of the low 7 bytes of x that is 0, and perhaps of others: no matching slot is
 * missed.
 */
static inline uint64_t abd_arc_index_zeroes(uint64_t x)
{
	return (x - 0x0101010101010101u) & ~x & 0x0080808080808080u;
}

/** abd_arc_index_find() met a closed slot: its entry may be leaving, and must not be read here. */
static inline bool abd_arc_index_is_leaving(const struct abd_arc_entry *found)
{
	return ((uintptr_t)found & ABD_ARC_SLOT_CLOSED) != 0;
}

/** The entry of a slot, leaving or not; NULL: the slot is empty. */
static inline struct abd_arc_entry *abd_arc_index_open(struct abd_arc_entry *raw)
{
	return (struct abd_arc_entry *)((uintptr_t)raw & ~ABD_ARC_SLOT_CLOSED);
}

/**
 * The entry of key in this page, or NULL, or what abd_arc_index_is_leaving() says; who has the lock
 * looks into what is leaving.
 */
static inline struct abd_arc_entry *abd_arc_index_find_from(struct abd_arc_line *page, size_t home,
	uint64_t hash, const abd_arc_key_t *key, bool locked)
{
	uint64_t pattern = (hash >> 56) * 0x0001010101010101u;
	struct abd_arc_entry *leaving = NULL;

	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = &page[(home + i) % ABD_ARC_PAGE_LINES];
		uint64_t tags = atomic_load_explicit(&line->tags, memory_order_acquire);

		for (uint64_t match = abd_arc_index_zeroes(tags ^ pattern); match != 0;
			match &= match - 1) {
			struct abd_arc_entry *entry = atomic_load_explicit(
				&line->slot[__builtin_ctzll(match) / 8], memory_order_acquire);

			if (locked && (entry = abd_arc_index_open(entry)) == NULL)
				continue;
			if (ABD_UNLIKELY(abd_arc_index_is_leaving(entry)))
				leaving = entry != ABD_ARC_SLOT_EMPTY ? entry : leaving;
			else if (ABD_LIKELY(abd_key_equal(entry, key, sizeof(*key))))
				return entry;
		}
		if (ABD_LIKELY(tags >> 56 == 0))
			break;
	}
	return leaving;
}

/**
 * The entry of key, or NULL. If abd_arc_index_is_leaving() says so, there is none, but one that is
 * leaving may have the key: abd_arc_index_find_any() knows. Inside a read-side section.
 */
static inline struct abd_arc_entry *abd_arc_index_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_entry *leaving = NULL;
	size_t turn, home, now, turn_now;

	do {
		turn = atomic_load_explicit(&index->turns, memory_order_acquire);
		home = abd_arc_index_home(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		struct abd_arc_entry *entry = abd_arc_index_find_from(
			abd_arc_index_page(index, home), home, hash, key, false);

		if (ABD_LIKELY(entry != NULL && !abd_arc_index_is_leaving(entry)))
			return entry;
		leaving = entry != NULL ? entry : leaving;
		now = abd_arc_index_home(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		turn_now = atomic_load_explicit(&index->turns, memory_order_acquire);
	} while (ABD_UNLIKELY(now != home || turn_now != turn));
	return leaving;
}

#endif
