/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What changes the index: putting entries in, taking them out, splitting lines and joining them
 * again. The caller has the cache's lock.
 *
 * Readers rely on the order of stores:
 * - put in: slot, tag, then the counts of the lines passed;
 * - take out: slot, then the counts;
 * - split: put in at the new home, change lines, take out at the old home;
 * - join: put in at the old home, change lines, take out at the new home. The turn advances before
 * the first join, for a reader who sees a split and then a join, and after the last join, for a
 * reader who sees a join and then a split.
 * tests/models/arc_index.c tries every result that these orders allow a look-up to read.
 */
#include "abd_arc_index.h"
#include "abd_arc_entry.h"
#include "abd_chunk.h"

#include <string.h>

#define ABD_ARC_PASSED ((uint64_t)1 << 56) /* one in the count of entries passed by */
#define ABD_ARC_PASSED_MAX 255
#define ABD_ARC_GROW_STEPS 4
#define ABD_ARC_SHRINK_STEPS 1024 /* out of memory each takes up to 0.8 us */

static_assert(sizeof(struct abd_arc_line) == 64, "a line is a cache line");
static_assert(sizeof(struct abd_arc_line) * ABD_ARC_PAGE_LINES == ABD_CHUNK_SIZE,
	"a page of lines is a run of order 0");
static_assert(offsetof(struct abd_arc_entry, key) == 0, "an entry begins with its key");

static struct abd_arc_line *abd_arc_index_line(struct abd_arc_line *page, size_t home, size_t i)
{
	return &page[(home + i) % ABD_ARC_PAGE_LINES];
}

/* As it is in the slot: perhaps with ABD_ARC_SLOT_CLOSED. */
static struct abd_arc_entry *abd_arc_line_raw(const struct abd_arc_line *line, unsigned slot)
{
	return atomic_load_explicit(&line->slot[slot], memory_order_relaxed);
}

/* The slot's entry, leaving or not; NULL: the slot is empty. */
static struct abd_arc_entry *abd_arc_line_get(const struct abd_arc_line *line, unsigned slot)
{
	return abd_arc_index_open(abd_arc_line_raw(line, slot));
}

static unsigned abd_arc_line_passed(const struct abd_arc_line *line)
{
	return (unsigned)(atomic_load_explicit(&line->tags, memory_order_relaxed) >> 56);
}

/* Count one entry more, or one less, that passed the n lines from home on. */
static void abd_arc_index_pass(struct abd_arc_line *page, size_t home, size_t n, bool more)
{
	for (size_t i = 0; i < n; i++) {
		struct abd_arc_line *line = abd_arc_index_line(page, home, i);
		uint64_t tags = atomic_load_explicit(&line->tags, memory_order_relaxed);

		tags = more ? tags + ABD_ARC_PASSED : tags - ABD_ARC_PASSED;
		atomic_store_explicit(&line->tags, tags, memory_order_release);
	}
}

static bool abd_arc_line_add(struct abd_arc_line *line, uint64_t hash, struct abd_arc_entry *entry)
{
	for (unsigned slot = 0; slot < ABD_ARC_LINE_SLOTS; slot++) {
		uint64_t tags = atomic_load_explicit(&line->tags, memory_order_relaxed);

		if (abd_arc_line_get(line, slot) != NULL)
			continue;
		tags &= ~((uint64_t)0xff << 8 * slot);
		atomic_store_explicit(&line->slot[slot], entry, memory_order_release);
		atomic_store_explicit(
			&line->tags, tags | hash >> 56 << 8 * slot, memory_order_release);
		return true;
	}
	return false;
}

/* Put an entry into the first line with room, from home on. False: the page has no room. */
static bool abd_arc_index_add(
	struct abd_arc_line *page, size_t home, uint64_t hash, struct abd_arc_entry *entry)
{
	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = abd_arc_index_line(page, home, i);

		if (abd_arc_line_add(line, hash, entry)) {
			abd_arc_index_pass(page, home, i, true);
			return true;
		}
		if (abd_arc_line_passed(line) == ABD_ARC_PASSED_MAX)
			return false;
	}
	return false;
}

/*
 * Replace entry from by what to says, an entry or not. Returns how many lines from had passed;
 * ABD_ARC_PAGE_LINES: it is not there.
 */
static size_t abd_arc_index_swap(struct abd_arc_line *page, size_t home,
	const struct abd_arc_entry *from, struct abd_arc_entry *to)
{
	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = abd_arc_index_line(page, home, i);

		for (unsigned slot = 0; slot < ABD_ARC_LINE_SLOTS; slot++) {
			if (abd_arc_line_get(line, slot) != from)
				continue;
			atomic_store_explicit(&line->slot[slot], to, memory_order_release);
			return i;
		}
		if (abd_arc_line_passed(line) == 0)
			break;
	}
	return ABD_ARC_PAGE_LINES;
}

bool abd_arc_index_remove(
	struct abd_arc_index *index, uint64_t hash, const struct abd_arc_entry *entry)
{
	size_t home = abd_arc_index_home(hash, atomic_load(&index->lines));
	struct abd_arc_line *page = abd_arc_index_page(index, home);
	size_t passed = abd_arc_index_swap(page, home, entry, ABD_ARC_SLOT_EMPTY);

	if (passed == ABD_ARC_PAGE_LINES)
		return false;
	abd_arc_index_pass(page, home, passed, false);
	return true;
}

struct abd_arc_entry *abd_arc_index_find_any(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	size_t home = abd_arc_index_home(hash, atomic_load(&index->lines));

	return abd_arc_index_find_from(abd_arc_index_page(index, home), home, hash, key, true);
}

void abd_arc_index_leave(struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry)
{
	size_t home = abd_arc_index_home(hash, atomic_load(&index->lines));
	size_t passed = abd_arc_index_swap(abd_arc_index_page(index, home), home, entry,
		(struct abd_arc_entry *)((uintptr_t)entry | ABD_ARC_SLOT_CLOSED));

	assert(passed < ABD_ARC_PAGE_LINES); /* an entry in a list of the policy is in the index */
	(void)passed;
}

bool abd_arc_index_put(struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry,
	struct abd_arc_entry **old)
{
	size_t home = abd_arc_index_home(hash, atomic_load(&index->lines));
	struct abd_arc_line *page = abd_arc_index_page(index, home);

	*old = abd_arc_index_find_any(index, hash, &entry->key);
	if (*old == NULL)
		return abd_arc_index_add(page, home, hash, entry);

	size_t passed = abd_arc_index_swap(page, home, *old, entry);

	assert(passed < ABD_ARC_PAGE_LINES); /* it was found there */
	(void)passed;
	return true;
}

struct abd_arc_entry *abd_arc_index_neighbour(struct abd_arc_index *index, uint64_t hash)
{
	size_t home = abd_arc_index_home(hash, atomic_load(&index->lines));

	return abd_arc_line_get(&abd_arc_index_page(index, home)[home % ABD_ARC_PAGE_LINES], 0);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/*
 * A step from lines to next, which is one more (a split) or one less (a join). Entries whose home
 * is line from before the step and line to after it move.
 */
struct abd_arc_step {
	size_t lines, next;
	size_t from, to;
};

/*
 * Visit the entries that the step moves, from line at on. Put them in at line to, or (out) take
 * them out where they are found. False: no room.
 */
static bool abd_arc_index_move(
	struct abd_arc_index *index, const struct abd_arc_step *step, size_t at, bool out)
{
	struct abd_arc_line *page = abd_arc_index_page(index, at),
			    *to = abd_arc_index_page(index, step->to);
	bool more = true;

	for (size_t i = 0; more && i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = abd_arc_index_line(page, at, i);

		more = abd_arc_line_passed(line) > 0;
		for (unsigned slot = 0; slot < ABD_ARC_LINE_SLOTS; slot++) {
			struct abd_arc_entry *raw = abd_arc_line_raw(line, slot);
			const struct abd_arc_entry *entry = abd_arc_index_open(raw);
			uint64_t hash =
				entry != NULL ? abd_arc_hash_key(index->seed, &entry->key) : 0;

			if (entry == NULL || abd_arc_index_home(hash, step->lines) != step->from ||
				abd_arc_index_home(hash, step->next) != step->to)
				continue;
			if (!out && !abd_arc_index_add(to, step->to, hash, raw))
				return false;
			if (!out)
				continue;
			atomic_store_explicit(
				&line->slot[slot], ABD_ARC_SLOT_EMPTY, memory_order_release);
			abd_arc_index_pass(page, at, i, false);
		}
	}
	return true;
}

/* Do one step. False: no room, and nothing has changed. */
static bool abd_arc_index_step(struct abd_arc_index *index, const struct abd_arc_step *step)
{
	bool moved = abd_arc_index_move(index, step, step->from, false);

	if (moved)
		atomic_store_explicit(&index->lines, step->next, memory_order_release);
	abd_arc_index_move(index, step, moved ? step->from : step->to, true);
	return moved;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Directories live as long as the index, so replacing one needs no wait for readers. */
#define ABD_ARC_DIRECTORY_ALIGN 16

static size_t abd_arc_directory_size(size_t room)
{
	return sizeof(struct abd_arc_directory) +
	       room * sizeof(((struct abd_arc_directory *)NULL)->page[0]);
}

static bool abd_arc_index_extend(struct abd_arc_index *index)
{
	struct abd_arc_directory *old = atomic_load(&index->directory);
	size_t room = old != NULL ? 2 * old->room : 8;
	struct abd_arc_directory *directory =
		abd_mem_alloc(abd_arc_directory_size(room), ABD_ARC_DIRECTORY_ALIGN);

	if (directory == NULL)
		return false;
	directory->room = room;
	directory->older = old;
	for (size_t i = 0; i < room; i++)
		atomic_init(
			&directory->page[i], i < index->pages ? atomic_load(&old->page[i]) : NULL);
	atomic_store_explicit(&index->directory, directory, memory_order_release);
	return true;
}

static bool abd_arc_index_add_page(struct abd_arc_index *index)
{
	struct abd_arc_directory *directory = atomic_load(&index->directory);

	if ((directory == NULL || index->pages == directory->room) && !abd_arc_index_extend(index))
		return false;

	struct abd_arc_line *page = abd_chunk_alloc_direct(index->provider, 0);

	if (page == NULL)
		return false;
	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		atomic_init(&page[i].tags, 0);
		for (unsigned slot = 0; slot < ABD_ARC_LINE_SLOTS; slot++)
			atomic_init(&page[i].slot[slot], ABD_ARC_SLOT_EMPTY);
	}
	atomic_store_explicit(
		&atomic_load(&index->directory)->page[index->pages], page, memory_order_release);
	index->pages++;
	return true;
}

/* Free the pages from first on. */
static void abd_arc_index_free_pages(struct abd_arc_index *index, size_t first)
{
	struct abd_arc_directory *directory = atomic_load(&index->directory);

	while (index->pages > first) {
		index->pages--;
		abd_chunk_free_direct(
			index->provider, atomic_load(&directory->page[index->pages]), 0);
	}
}

/* ---- beginning, growing, shrinking, ending --------------------------------------------------- */

/* How many lines this many entries need: a page of lines, doubled any number of times. */
static size_t abd_arc_index_lines_for(size_t entries)
{
	size_t lines = ABD_ARC_PAGE_LINES;

	while (lines < entries / ABD_ARC_LINE_LOAD)
		lines *= 2;
	return lines;
}

struct abd_arc_index *abd_arc_index_new(size_t entries, uint64_t seed)
{
	size_t lines = abd_arc_index_lines_for(entries);
	struct abd_arc_index *index = abd_mem_alloc(sizeof(*index), 64);

	if (index == NULL)
		return NULL;
	memset(index, 0, sizeof(*index));
	index->seed = seed;
	index->provider = abd_chunk_provider_now();
	atomic_init(&index->lines, lines);
	index->goal = lines;
	while (index->pages < lines / ABD_ARC_PAGE_LINES) {
		if (!abd_arc_index_add_page(index)) {
			abd_arc_index_free(index);
			return NULL;
		}
	}
	return index;
}

void abd_arc_index_free(struct abd_arc_index *index)
{
	struct abd_arc_directory *directory, *older;

	abd_arc_index_free_pages(index, 0);
	for (directory = atomic_load(&index->directory); directory != NULL; directory = older) {
		older = directory->older;
		abd_mem_free(directory, abd_arc_directory_size(directory->room),
			ABD_ARC_DIRECTORY_ALIGN);
	}
	abd_mem_free(index, sizeof(*index), 64);
}

void abd_arc_index_grow(struct abd_arc_index *index, size_t entries)
{
	size_t lines = atomic_load(&index->lines);

	/* A doubling that has begun goes on: lines not split yet have twice the entries. */
	if (entries > index->goal * ABD_ARC_LINE_LOAD)
		index->goal *= 2;
	for (unsigned i = 0; i < ABD_ARC_GROW_STEPS && lines < index->goal; i++, lines++) {
		size_t half = (size_t)1 << abd_log2(lines);

		if (lines == index->pages * ABD_ARC_PAGE_LINES && !abd_arc_index_add_page(index))
			return;
		if (!abd_arc_index_step(
			    index, &(struct abd_arc_step){lines, lines + 1, lines - half, lines}))
			return;
	}
}

static void abd_arc_index_turn(struct abd_arc_index *index)
{
	atomic_store_explicit(&index->turns, atomic_load(&index->turns) + 1, memory_order_release);
}

/* Join lines, at most this many, until there are no more than goal. */
static bool abd_arc_index_join(struct abd_arc_index *index, size_t goal, size_t most)
{
	size_t lines = atomic_load(&index->lines);

	assert(!index->is_shrinking);
	if (lines <= goal)
		return false;
	index->goal = goal;
	index->is_shrinking = true;
	abd_arc_index_turn(index);
	for (; lines > goal && most > 0; lines--, most--) {
		size_t last = lines - 1, half = (size_t)1 << abd_log2(last);

		if (!abd_arc_index_step(
			    index, &(struct abd_arc_step){lines, last, last, last - half}))
			break;
	}
	abd_arc_index_turn(index);
	return true;
}

bool abd_arc_index_shrink(struct abd_arc_index *index, size_t entries)
{
	return abd_arc_index_join(index, abd_arc_index_lines_for(entries), ABD_ARC_SHRINK_STEPS);
}

/*
 * Three eighths of what its lines are for: half the lines are then three quarters full, so they are
 * not doubled again at once.
 */
bool abd_arc_index_is_sparse(const struct abd_arc_index *index, size_t entries)
{
	size_t lines = atomic_load(&index->lines);

	return lines > index->goal ||
	       (lines > ABD_ARC_PAGE_LINES && entries < lines / 8 * 3 * ABD_ARC_LINE_LOAD);
}

bool abd_arc_index_shrink_some(struct abd_arc_index *index, size_t entries)
{
	if (!abd_arc_index_is_sparse(index, entries))
		return false;
	return abd_arc_index_join(
		index, abd_arc_index_lines_for(entries + entries / 3), ABD_ARC_SHRINK_STEPS);
}

void abd_arc_index_shrink_end(struct abd_arc_index *index)
{
	size_t lines = abd_round_up(atomic_load(&index->lines), ABD_ARC_PAGE_LINES);

	assert(index->is_shrinking);
	abd_arc_index_free_pages(index, lines / ABD_ARC_PAGE_LINES);
	index->is_shrinking = false;
}

/* All older directories together are about as large as this one. */
static size_t abd_arc_directory_bytes(size_t room)
{
	return 2 * abd_arc_directory_size(room);
}

size_t abd_arc_index_bytes(const struct abd_arc_index *index)
{
	return index->pages * ABD_CHUNK_SIZE +
	       abd_arc_directory_bytes(atomic_load(&index->directory)->room);
}

size_t abd_arc_index_next_bytes(const struct abd_arc_index *index, size_t entries)
{
	size_t lines = atomic_load(&index->lines), room = atomic_load(&index->directory)->room;
	bool grows = lines < index->goal || entries + 1 > index->goal * ABD_ARC_LINE_LOAD;

	if (!grows || lines + ABD_ARC_GROW_STEPS <= index->pages * ABD_ARC_PAGE_LINES)
		return 0;
	return ABD_CHUNK_SIZE + (index->pages == room ? abd_arc_directory_bytes(room) : 0);
}
