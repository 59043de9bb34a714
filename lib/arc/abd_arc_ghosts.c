/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ghosts in cells. No call does more than a few steps for the table as a whole: others wait for the
 * lock.
 * Source: Litwin, "Linear Hashing" (1980), for the table.
 * OpenZFS: headers in the states arc_mru_ghost and arc_mfu_ghost, in the table of all headers.
 */
#include "abd_arc_ghosts.h"
#include "abd_arc_hash.h"
#include "abd_chunk.h"

#include <assert.h>
#include <string.h>

#define ABD_ARC_GHOST_PAGE (ABD_CHUNK_SIZE / sizeof(struct abd_arc_ghost))
static size_t abd_arc_ghosts_room(size_t pages)
{
	return pages * sizeof(struct abd_arc_ghost *);
}

size_t abd_arc_ghosts_bytes(const struct abd_arc_ghosts *ghosts)
{
	size_t pages = (ghosts->cells + ABD_ARC_GHOST_PAGE - 1) / ABD_ARC_GHOST_PAGE;

	return pages * ABD_CHUNK_SIZE + abd_arc_ghosts_room(ghosts->page_room);
}

struct abd_arc_ghost *abd_arc_ghost_at(const struct abd_arc_ghosts *ghosts, uint32_t number)
{
	assert(number > 0 && number <= ghosts->cells);
	return &ghosts->page[(number - 1) / ABD_ARC_GHOST_PAGE][(number - 1) % ABD_ARC_GHOST_PAGE];
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Let the neighbours of a ghost in its list refer to these instead of it. */
static void abd_arc_ghost_relink(struct abd_arc_ghosts *ghosts, const struct abd_arc_ghost *ghost,
	uint32_t for_newer, uint32_t for_older)
{
	struct abd_arc_ghost_list *list = &ghosts->list[ghost->list];

	*(ghost->newer > 0 ? &abd_arc_ghost_at(ghosts, ghost->newer)->older : &list->newest) =
		for_newer;
	*(ghost->older > 0 ? &abd_arc_ghost_at(ghosts, ghost->older)->newer : &list->oldest) =
		for_older;
}

static void abd_arc_ghost_push(
	struct abd_arc_ghosts *ghosts, unsigned id, uint32_t number, uint32_t cost)
{
	struct abd_arc_ghost *ghost = abd_arc_ghost_at(ghosts, number);
	struct abd_arc_ghost_list *list = &ghosts->list[id];

	ghost->list = id;
	ghost->cost = cost;
	ghost->newer = 0;
	ghost->older = list->newest;
	abd_arc_ghost_relink(ghosts, ghost, number, number);
	list->bytes += cost;
	list->count++;
}

static void abd_arc_ghost_pull(struct abd_arc_ghosts *ghosts, uint32_t number)
{
	const struct abd_arc_ghost *ghost = abd_arc_ghost_at(ghosts, number);
	struct abd_arc_ghost_list *list = &ghosts->list[ghost->list];

	assert(list->count > 0 && list->bytes >= ghost->cost);
	abd_arc_ghost_relink(ghosts, ghost, ghost->older, ghost->newer);
	list->bytes -= ghost->cost;
	list->count--;
}

/* ---- buckets --------------------------------------------------------------------------------- */

static uint32_t *abd_arc_ghost_bucket(const struct abd_arc_ghosts *ghosts, size_t bucket)
{
	return &abd_arc_ghost_at(ghosts, (uint32_t)bucket + 1)->bucket;
}

static void abd_arc_ghost_chain(struct abd_arc_ghosts *ghosts, uint32_t number)
{
	struct abd_arc_ghost *ghost = abd_arc_ghost_at(ghosts, number);
	uint32_t *bucket =
		abd_arc_ghost_bucket(ghosts, abd_arc_hash_home(ghost->hash, ghosts->cells));

	ghost->chain = *bucket;
	*bucket = number;
}

/* Let the predecessor of a ghost in its bucket refer to this number instead of it. */
static void abd_arc_ghost_rechain(struct abd_arc_ghosts *ghosts, uint32_t number, uint32_t to)
{
	uint64_t hash = abd_arc_ghost_at(ghosts, number)->hash;
	uint32_t *link = abd_arc_ghost_bucket(ghosts, abd_arc_hash_home(hash, ghosts->cells));

	while (*link != number)
		link = &abd_arc_ghost_at(ghosts, *link)->chain;
	*link = to;
}

/* The number of cells has changed: put the ghosts of a chain where they belong now. */
static void abd_arc_ghosts_spread(struct abd_arc_ghosts *ghosts, uint32_t number)
{
	while (number > 0) {
		uint32_t next = abd_arc_ghost_at(ghosts, number)->chain;

		abd_arc_ghost_chain(ghosts, number);
		number = next;
	}
}

uint32_t abd_arc_ghost_find(const struct abd_arc_ghosts *ghosts, uint64_t hash)
{
	if (ghosts->cells == 0)
		return 0;

	uint32_t number = *abd_arc_ghost_bucket(ghosts, abd_arc_hash_home(hash, ghosts->cells));

	while (number > 0) {
		const struct abd_arc_ghost *ghost = abd_arc_ghost_at(ghosts, number);

		if (ghost->hash == hash)
			break;
		number = ghost->chain;
	}
	return number;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Room for one more page; false: no memory. Only pointers to pages are copied. */
static bool abd_arc_ghosts_reserve(struct abd_arc_ghosts *ghosts, size_t pages)
{
	size_t room = ghosts->page_room > 0 ? 2 * ghosts->page_room : 1;
	struct abd_arc_ghost **page;

	if (pages < ghosts->page_room)
		return true;
	page = abd_mem_alloc(abd_arc_ghosts_room(room), 64);
	if (page == NULL)
		return false;
	if (pages > 0) {
		memcpy(page, ghosts->page, abd_arc_ghosts_room(pages));
		abd_mem_free(ghosts->page, abd_arc_ghosts_room(pages), 64);
	}
	ghosts->page = page;
	ghosts->page_room = room;
	return true;
}

/* One more page, which the next cell is the first of. If memory is refused, all stays. */
static bool abd_arc_ghosts_page(struct abd_arc_ghosts *ghosts)
{
	size_t pages = ghosts->cells / ABD_ARC_GHOST_PAGE;
	struct abd_arc_ghost *page;

	if (!abd_arc_ghosts_reserve(ghosts, pages))
		return false;
	page = abd_chunk_alloc_direct(ghosts->provider, 0);
	if (page == NULL)
		return false;
	memset(page, 0, ABD_CHUNK_SIZE);
	ghosts->page[pages] = page;
	return true;
}

static void abd_arc_ghosts_start(struct abd_arc_ghosts *ghosts)
{
	if (!abd_arc_ghosts_page(ghosts))
		return;
	ghosts->cells = ABD_ARC_GHOST_PAGE;
	for (uint32_t number = (uint32_t)ghosts->cells; number > 0; number--)
		abd_arc_ghost_push(ghosts, ABD_ARC_NONE, number, 0);
}

static void abd_arc_ghosts_grow(struct abd_arc_ghosts *ghosts)
{
	size_t bucket = ghosts->cells;

	if (bucket == UINT32_MAX ||
		(bucket % ABD_ARC_GHOST_PAGE == 0 && !abd_arc_ghosts_page(ghosts)))
		return;

	/* The bucket that is split to make this one. */
	uint32_t *parent = abd_arc_ghost_bucket(ghosts, bucket - ((size_t)1 << abd_log2(bucket)));
	uint32_t first = *parent;

	ghosts->cells++;
	*parent = 0;
	*abd_arc_ghost_bucket(ghosts, bucket) = 0;
	abd_arc_ghost_push(ghosts, ABD_ARC_NONE, (uint32_t)ghosts->cells, 0);
	abd_arc_ghosts_spread(ghosts, first);
}

size_t abd_arc_ghosts_next_bytes(const struct abd_arc_ghosts *ghosts)
{
	size_t pages = ghosts->cells / ABD_ARC_GHOST_PAGE;

	if (ghosts->list[ABD_ARC_NONE].count > 0 || ghosts->cells % ABD_ARC_GHOST_PAGE > 0)
		return 0;
	return ABD_CHUNK_SIZE +
	       (pages < ghosts->page_room ? 0 : abd_arc_ghosts_room(pages > 0 ? pages : 1));
}

void abd_arc_ghosts_fini(struct abd_arc_ghosts *ghosts)
{
	for (size_t cell = 0; cell < ghosts->cells; cell += ABD_ARC_GHOST_PAGE)
		abd_chunk_free_direct(ghosts->provider, ghosts->page[cell / ABD_ARC_GHOST_PAGE], 0);
	if (ghosts->page_room > 0)
		abd_mem_free(ghosts->page, abd_arc_ghosts_room(ghosts->page_room), 64);
	*ghosts = (struct abd_arc_ghosts){.page = NULL};
}

/* ---- ghosts ---------------------------------------------------------------------------------- */

void abd_arc_ghost_make(struct abd_arc_ghosts *ghosts, unsigned list, uint64_t hash, uint32_t cost)
{
	if (ghosts->cells == 0)
		abd_arc_ghosts_start(ghosts);
	else if (ghosts->list[ABD_ARC_NONE].count == 0)
		abd_arc_ghosts_grow(ghosts);

	uint32_t number = ghosts->list[ABD_ARC_NONE].newest;

	if (number == 0)
		return;
	abd_arc_ghost_pull(ghosts, number);
	abd_arc_ghost_at(ghosts, number)->hash = hash;
	abd_arc_ghost_push(ghosts, list, number, cost);
	abd_arc_ghost_chain(ghosts, number);
}

void abd_arc_ghost_end(struct abd_arc_ghosts *ghosts, uint32_t number)
{
	abd_arc_ghost_rechain(ghosts, number, abd_arc_ghost_at(ghosts, number)->chain);
	abd_arc_ghost_pull(ghosts, number);
	abd_arc_ghost_push(ghosts, ABD_ARC_NONE, number, 0);
}
