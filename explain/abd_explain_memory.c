/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for addresses. Pages of the pool are looked up in a table, everything else in the heap's
 * list. Memory in neither is the library's zeros.
 */
#include "abd_explain_memory.h"
#include "abd_explain_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABD_EXPLAIN_PAGE = 4096 };

int abd_explain_memory_pool(struct abd_explain_world *world)
{
	void *base;
	size_t size;

	if (world->pool_base != NULL)
		return 0;
	if (abd_tuning_set("chunk_provider", "pool") != 0 || abd_pool_region(&base, &size) != 0)
		return -ENOMEM;
	world->pool_base = base;
	world->page_count = size / ABD_EXPLAIN_PAGE;
	world->pages = calloc(world->page_count, sizeof(*world->pages));
	world->held = calloc(world->page_count, sizeof(*world->held));
	if (world->pages == NULL || world->held == NULL)
		abort();
	return 0;
}

/* ---- what a buffer's memory is --------------------------------------------------------------- */

static int abd_explain_memory_first(void *buf, size_t len, void *priv)
{
	(void)len;
	*(void **)priv = buf;
	return 1;
}

static char *abd_explain_memory_at(abd_t *abd, size_t off)
{
	void *at = NULL;

	abd_iterate_func(abd, off, 1, abd_explain_memory_first, &at);
	return at;
}

static bool abd_explain_memory_is_pool(const struct abd_explain_world *world, const char *at)
{
	return world->pool_base != NULL && at >= world->pool_base &&
	       (size_t)(at - world->pool_base) < world->page_count * ABD_EXPLAIN_PAGE;
}

static void abd_explain_memory_learn_run(struct abd_explain_world *world,
	struct abd_explain_buffer *buffer, size_t off, int run, unsigned order)
{
	const char *at = abd_explain_memory_at(buffer->abd, off);
	size_t first = (size_t)(at - world->pool_base) / ABD_EXPLAIN_PAGE;

	if (!abd_explain_memory_is_pool(world, at))
		abort();
	for (size_t page = first; page < first + ((size_t)1 << order); page++)
		world->pages[page] =
			(struct abd_explain_page){buffer->name, (unsigned)first, run, (int)order};
}

void abd_explain_memory_learn(struct abd_explain_world *world, struct abd_explain_buffer *buffer)
{
	struct abd_stats now;
	size_t off = 0;
	int run = 0;

	if (abd_get_size(buffer->abd) == 0 || (buffer->abd->abd_flags & ABD_FLAG_OWNER) == 0)
		return;

	struct abd_explain_piece *piece =
		abd_explain_heap_find(abd_explain_memory_at(buffer->abd, 0));

	if (piece != NULL)
		piece->owner = buffer->name;
	abd_stats_get(&now, sizeof(now));
	/* The runs of a buffer are in falling order. */
	for (unsigned order = ABD_STATS_ORDERS; order-- > 0;) {
		uint64_t more = now.scatter_order[order] - world->before.scatter_order[order];

		for (; more > 0 && off < abd_get_size(buffer->abd); more--) {
			abd_explain_memory_learn_run(world, buffer, off, run++, order);
			off += (size_t)ABD_EXPLAIN_PAGE << order;
		}
	}
}

void abd_explain_memory_forget(struct abd_explain_world *world, struct abd_explain_buffer *buffer)
{
	for (size_t page = 0; page < world->page_count; page++)
		if (world->pages[page].owner == buffer->name)
			world->pages[page] = (struct abd_explain_page){0};
}

/* ---- fragmentation --------------------------------------------------------------------------- */

static unsigned abd_explain_memory_order(size_t size)
{
	unsigned order = 0;

	while (((size_t)ABD_EXPLAIN_PAGE << order) < size)
		order++;
	return order;
}

static void abd_explain_memory_tune_order(unsigned order)
{
	char text[12];

	snprintf(text, sizeof(text), "%u", order);
	abd_tuning_set("max_order", text);
}

/*
 * Allocate all of the pool in runs of one order, then free every second run, so that no two free
 * runs are neighbours.
 */
static void abd_explain_memory_comb(struct abd_explain_world *world, unsigned order)
{
	size_t size = (size_t)ABD_EXPLAIN_PAGE << order;
	abd_t *abd;

	while ((abd = abd_alloc(size, false)) != NULL) {
		/* no run of this order is left: abd is made of smaller runs */
		if (!abd_is_linear_page(abd)) {
			abd_free(abd);
			break;
		}
		world->held[(size_t)((char *)abd_to_buf(abd) - world->pool_base) /
			    ABD_EXPLAIN_PAGE] = abd;
	}
	/* From the end, so that the lowest pages are given out first. */
	for (size_t page = world->page_count; page-- > 0;) {
		if (world->held[page] != NULL && (page >> order) % 2 == 0) {
			abd_free(world->held[page]);
			world->held[page] = NULL;
		}
	}
}

int abd_explain_memory_hold(struct abd_explain_world *world, size_t size)
{
	char max_order[12];

	if (abd_explain_memory_pool(world) != 0)
		return -ENOMEM;
	snprintf(max_order, sizeof(max_order), "%s", abd_tuning_get("max_order"));
	abd_explain_memory_unhold(world);
	abd_explain_memory_tune_order(abd_explain_memory_order(size));
	abd_explain_memory_comb(world, abd_explain_memory_order(size));
	abd_tuning_set("max_order", max_order);
	return 0;
}

void abd_explain_memory_unhold(struct abd_explain_world *world)
{
	for (size_t page = 0; page < world->page_count; page++) {
		abd_free(world->held[page]);
		world->held[page] = NULL;
	}
	abd_cache_reap_now(); /* builds with deep checks hold freed memory back */
}

/* held[] has an entry only at the first page of a held run; '#' marks all of its pages. */
const char *abd_explain_memory_map(struct abd_explain_world *world)
{
	char *map = abd_explain_trace_new(world->trace, world->page_count + 1);

	memset(map, '.', world->page_count);
	for (size_t page = 0; page < world->page_count; page++) {
		if (world->pages[page].owner != NULL)
			map[page] = world->pages[page].owner[0];
		if (world->held[page] != NULL)
			memset(map + page, '#', abd_get_size(world->held[page]) / ABD_EXPLAIN_PAGE);
	}
	return map;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* The parts of a buffer: a first pass counts them, a second one writes them. */
struct abd_explain_parts {
	struct abd_explain_world *world;
	struct abd_explain_part *parts;
	size_t count, off;
};

static const char *abd_explain_memory_pages(
	struct abd_explain_world *world, unsigned first, int order)
{
	if (order == 0)
		return abd_explain_trace_text(world->trace, "page %u", first);
	return abd_explain_trace_text(
		world->trace, "pages %u-%u", first, first + (1u << order) - 1);
}

/* Fill in the part at an address. Returns how many of the len bytes belong to it. */
static size_t abd_explain_memory_part(
	struct abd_explain_parts *to, const char *at, size_t len, struct abd_explain_part *part)
{
	struct abd_explain_world *world = to->world;
	const struct abd_explain_piece *piece;

	*part = (struct abd_explain_part){to->off, len, 0, "", "zeros", -1, -1};
	if (abd_explain_memory_is_pool(world, at)) {
		size_t from = (size_t)(at - world->pool_base);
		const struct abd_explain_page *page = &world->pages[from / ABD_EXPLAIN_PAGE];
		size_t end =
			((size_t)page->first << 12) + ((size_t)ABD_EXPLAIN_PAGE << page->order);

		part->in = from - ((size_t)page->first << 12);
		part->size = len < end - from ? len : end - from;
		part->owner = page->owner;
		part->run = page->run;
		part->order = page->order;
		if (to->parts != NULL)
			part->place = abd_explain_memory_pages(world, page->first, page->order);
	} else if ((piece = abd_explain_heap_find(at)) != NULL) {
		part->in = (size_t)(at - piece->memory);
		part->owner = piece->owner != NULL ? piece->owner : "";
		if (to->parts != NULL)
			part->place =
				abd_explain_trace_text(world->trace, "heap %u", piece->number);
	}
	return part->size;
}

/* Zeros are the same memory again and again; they are drawn as one part. */
static bool abd_explain_memory_joins(
	const struct abd_explain_parts *to, const struct abd_explain_part *part)
{
	return part->place[0] == 'z' && to->count > 0 && to->parts != NULL &&
	       to->parts[to->count - 1].place[0] == 'z';
}

static int abd_explain_memory_span(void *buf, size_t len, void *priv)
{
	struct abd_explain_parts *to = priv;
	const char *at = buf;

	while (len > 0) {
		struct abd_explain_part part;
		size_t size = abd_explain_memory_part(to, at, len, &part);

		if (abd_explain_memory_joins(to, &part)) {
			to->parts[to->count - 1].size += size;
		} else {
			if (to->parts != NULL)
				to->parts[to->count] = part;
			to->count++;
		}
		to->off += size;
		at += size;
		len -= size;
	}
	return 0;
}

static int abd_explain_memory_count(void *buf, size_t len, void *priv)
{
	(void)buf;
	(void)len;
	++*(size_t *)priv;
	return 0;
}

size_t abd_explain_memory_spans(abd_t *abd, size_t off, size_t size)
{
	size_t count = 0;

	abd_iterate_func(abd, off, size, abd_explain_memory_count, &count);
	return count;
}

static void abd_explain_memory_parts(
	struct abd_explain_world *world, struct abd_explain_shot *shot, abd_t *abd)
{
	struct abd_explain_parts to = {world, NULL, 0, 0};

	if (abd_get_size(abd) == 0)
		return;
	abd_iterate_func(abd, 0, abd_get_size(abd), abd_explain_memory_span, &to);
	to.parts = abd_explain_trace_new(world->trace, to.count * sizeof(*to.parts));
	to.count = to.off = 0;
	abd_iterate_func(abd, 0, abd_get_size(abd), abd_explain_memory_span, &to);
	shot->parts = to.parts;
	shot->part_count = to.count;
}

static const char *abd_explain_memory_kind(const abd_t *abd)
{
	if (abd_is_gang(abd))
		return "gang";
	if (abd_is_zeros(abd))
		return "zeros";
	return abd_is_linear(abd) && !abd_is_linear_page(abd) ? "linear" : "scatter";
}

static const char *abd_explain_memory_head(struct abd_explain_world *world,
	const struct abd_explain_buffer *buffer, const struct abd_explain_shot *shot)
{
	const char *what = "", *plural = shot->part_count == 1 ? "" : "s";

	if (buffer->parent != NULL)
		what = abd_explain_trace_text(world->trace, "view of %s from %zu, ",
			buffer->parent->name, buffer->parent_off);
	if (shot->is_linear_page)
		return abd_explain_trace_text(world->trace,
			"%sscatter, %zu bytes in one run: so it is linear", what, shot->size);
	if (shot->is_linear)
		return abd_explain_trace_text(
			world->trace, "%slinear, %zu bytes", what, shot->size);
	return abd_explain_trace_text(world->trace, "%s%s, %zu bytes in %zu %s%s: not linear", what,
		shot->kind, shot->size, shot->part_count,
		shot->kind[0] == 's' && buffer->parent == NULL ? "run" : "part", plural);
}

struct abd_explain_shot *abd_explain_memory_shot(
	struct abd_explain_world *world, const struct abd_explain_buffer *buffer)
{
	struct abd_explain_shot *shot = abd_explain_trace_new(world->trace, sizeof(*shot));

	shot->name = buffer->name;
	shot->kind = abd_explain_memory_kind(buffer->abd);
	shot->size = abd_get_size(buffer->abd);
	shot->is_linear = abd_is_linear(buffer->abd);
	shot->is_linear_page = abd_is_linear_page(buffer->abd);
	if (buffer->parent != NULL) {
		shot->of = buffer->parent->name;
		shot->of_off = buffer->parent_off;
	}
	abd_explain_memory_parts(world, shot, buffer->abd);
	shot->head = abd_explain_memory_head(world, buffer, shot);
	return shot;
}

struct abd_explain_shot *abd_explain_memory_shot_piece(
	struct abd_explain_world *world, const void *memory, size_t size)
{
	struct abd_explain_shot *shot = abd_explain_trace_new(world->trace, sizeof(*shot));
	const struct abd_explain_piece *piece = abd_explain_heap_find(memory);

	shot->name = abd_explain_trace_text(world->trace, "heap %u", piece->number);
	shot->kind = "memory";
	shot->size = size;
	shot->is_linear = true;
	shot->head = abd_explain_trace_text(world->trace, "%zu bytes from abd_buf_alloc()", size);
	shot->parts = abd_explain_trace_new(world->trace, sizeof(*shot->parts));
	shot->parts[0] = (struct abd_explain_part){0, size, 0, "", shot->name, -1, -1};
	shot->part_count = 1;
	return shot;
}
