/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making tables of runs.
 */
#include "abd_runs.h"
#include "abd_walk.h"

struct abd_runs_fill {
	struct iovec *table;
	size_t count, room;
};

static inline bool abd_runs_fill_segment(void *priv, const struct abd_segment *segment)
{
	struct abd_runs_fill *op = priv;

	if (op->count < op->room)
		op->table[op->count] = (struct iovec){segment->a, segment->size};
	op->count++;
	return true;
}

static const struct abd_body abd_runs_fill_body = {
	.segment = abd_runs_fill_segment, .writes = true};

/* Write the segments of a range into table. Returns how many there are, maybe more than room. */
static size_t abd_runs_fill(const char *writer, const abd_t *abd, size_t off, size_t size,
	struct iovec *table, size_t room)
{
	struct abd_runs_fill op = {.table = table, .room = room};
	struct abd_side a = abd_side(abd, off);

	abd_walk(writer, &a, NULL, size, 0, abd_runs_fill_body, &op);
	return op.count;
}

static bool abd_runs_is_table(const abd_t *abd)
{
	return !abd_is_linear(abd) && !abd_is_gang(abd) && !abd_is_zeros(abd);
}

static bool abd_runs_long(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size)
{
	struct iovec *table;

	runs->owned_size = runs->count * sizeof(*table);
	table = abd_mem_cache_alloc(runs->owned_size);
	if (table == NULL)
		return false;
	abd_runs_fill(NULL, abd, off, size, table, runs->count);
	runs->runs = table;
	return true;
}

/* writer: the call that writes, or NULL. */
static bool abd_runs_make(
	struct abd_runs *runs, const char *writer, const abd_t *abd, size_t off, size_t size)
{
	runs->skip = 0;
	runs->owned_size = 0;
	runs->runs = runs->local;
	if (abd_runs_is_table(abd) && size > (ABD_RUNS_LOCAL - 1) * ABD_CHUNK_SIZE &&
		ABD_SCATTER(abd).abd_run_count > ABD_RUNS_LOCAL) {
		size_t run = abd_scatter_seek(abd, ABD_SCATTER(abd).abd_offset + off, &runs->skip);

		runs->runs = &ABD_SCATTER(abd).abd_runs[run];
		runs->count = ABD_SCATTER(abd).abd_run_count - run;
		return true;
	}
	runs->count = abd_runs_fill(writer, abd, off, size, runs->local, ABD_RUNS_LOCAL);
	return runs->count <= ABD_RUNS_LOCAL || abd_runs_long(runs, abd, off, size);
}

bool abd_runs_read(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size)
{
	return abd_runs_make(runs, NULL, abd, off, size);
}

bool abd_runs_write(struct abd_runs *runs, const char *call, abd_t *abd, size_t off, size_t size)
{
	return abd_runs_make(runs, call, abd, off, size);
}
