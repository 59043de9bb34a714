/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffers that a script made, and where they lie in memory.
 *
 * What is drawn comes from the library: abd_iterate_func() hands out a buffer's pieces, and a
 * piece's address shows whose run it is. The counters tell neighbouring runs apart: an allocation
 * raises scatter_order[n] by its number of runs of order n, and a buffer's runs are in falling
 * order. Nothing here reads private fields.
 *
 * Besides this, only dependencies are recorded, so that no undefined call is made: freeing a parent
 * before its view, for instance.
 */
#ifndef ABD_EXPLAIN_WORLD_H
#define ABD_EXPLAIN_WORLD_H

#include "abd_explain_cache.h"
#include "abd_explain_trace.h"

#include <abd/abd.h>

struct abd_explain_buffer;

/* A buffer in a gang. */
struct abd_explain_child {
	struct abd_explain_buffer *buffer;
	bool is_owned;
};

struct abd_explain_buffer {
	const char *name;
	abd_t *abd;     /* NULL: it was freed */
	unsigned ended; /* the line that freed it; 0: it lives */
	bool is_wrapped;
	struct abd_explain_buffer *parent; /* of a view */
	size_t parent_off;
	unsigned view_count, gang_count, borrow_count; /* what depends on it */
	struct abd_explain_child *children;            /* of a gang */
	size_t child_count;
	struct abd_explain_buffer *next; /* older */
};

/* Memory that is borrowed. */
struct abd_explain_borrow {
	struct abd_explain_buffer *buffer;
	void *memory;
	size_t size;
	bool is_copy;
	struct abd_explain_borrow *next; /* older */
};

/* What a page of the pool holds. */
struct abd_explain_page {
	const char *owner; /* NULL: free, or held to fragment the pool */
	unsigned first;    /* of its run */
	int run, order;
};

/* A piece of memory from abd_buf_alloc(), which this program's allocator serves. */
struct abd_explain_piece {
	char *memory;
	size_t size;
	unsigned number;
	const char *owner; /* NULL until a buffer has it */
	struct abd_explain_piece *next;
};

struct abd_explain_world {
	struct abd_explain_trace *trace;
	struct abd_explain_buffer *buffers; /* newest first, with the freed ones */
	struct abd_explain_borrow *borrows; /* newest first */
	unsigned buffer_count;
	struct abd_explain_cache *cache; /* NULL until a script makes one */
	char *pool_base;                 /* NULL until first needed */
	size_t page_count;
	struct abd_explain_page *pages;
	abd_t **held; /* per page: a run that fragments the pool and begins there, or NULL */
	struct abd_stats before; /* at the start of this step */
	/* to subtract: counts from before the script, and of what fragments the pool */
	struct abd_stats base;
};

void abd_explain_world_begin(struct abd_explain_world *world, struct abd_explain_trace *trace);

/** Free all buffers and borrows, and set tunables back to their values at the start. */
void abd_explain_world_reset(struct abd_explain_world *world);
void abd_explain_world_end(struct abd_explain_world *world);

struct abd_explain_buffer *abd_explain_world_find(
	struct abd_explain_world *world, const char *name);
struct abd_explain_buffer *abd_explain_world_newest(struct abd_explain_world *world);

/** The name that comes next: a, b, ... z, a1, ... */
const char *abd_explain_world_name(struct abd_explain_world *world);

/** Register a buffer that was just made, and learn where its runs are. */
struct abd_explain_buffer *abd_explain_world_add(
	struct abd_explain_world *world, const char *name, abd_t *abd);
void abd_explain_world_adopt(struct abd_explain_world *world, struct abd_explain_buffer *gang,
	struct abd_explain_buffer *child, bool is_owned);

/** Why freeing this buffer now would be undefined, or NULL. */
const char *abd_explain_world_why_not_free(
	struct abd_explain_world *world, const struct abd_explain_buffer *buffer);
void abd_explain_world_ended(
	struct abd_explain_world *world, struct abd_explain_buffer *buffer, unsigned line);

/** How the counters changed since the last call. */
struct abd_explain_delta *abd_explain_world_deltas(struct abd_explain_world *world);
/** Don't count what the counters changed since then. */
void abd_explain_world_uncount(struct abd_explain_world *world);
/** All counters that are not 0. */
struct abd_explain_delta *abd_explain_world_counters(struct abd_explain_world *world);

#endif
