/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making tables of runs.
 */
#include "abd_runs.h"
#include "abd_walk.h"

struct abd_runs_map {
	struct iovec *table;
	size_t count, room, covered;
};

static inline bool abd_runs_map_segment(void *priv, const struct abd_segment *segment)
{
	struct abd_runs_map *op = priv;

	if (op->count == op->room)
		return false;
	if (op->table != NULL)
		op->table[op->count] = (struct iovec){segment->a, segment->size};
	op->count++;
	op->covered += segment->size;
	return true;
}

static const struct abd_body abd_runs_map_body = {.segment = abd_runs_map_segment, .writes = true};

size_t abd_runs_map(const char *writer, const abd_t *abd, size_t off, size_t size,
	struct iovec *table, size_t room, size_t *covered)
{
	struct abd_runs_map op = {.table = table, .room = room};
	struct abd_side a = abd_side(abd, off);

	abd_walk(writer, &a, NULL, size, 0, abd_runs_map_body, &op);
	*covered = op.covered;
	return op.count;
}

static bool abd_runs_is_table(const abd_t *abd)
{
	return !abd_is_linear(abd) && !abd_is_gang(abd) && !abd_is_zeros(abd);
}

static bool abd_runs_long(
	struct abd_runs *runs, const char *writer, const abd_t *abd, size_t off, size_t size)
{
	struct iovec *table;
	size_t covered;

	runs->count = abd_runs_map(writer, abd, off, size, NULL, SIZE_MAX, &covered);
	runs->owned_size = runs->count * sizeof(*table);
	table = abd_mem_cache_alloc(runs->owned_size);
	if (table == NULL)
		return false;
	abd_runs_map(writer, abd, off, size, table, runs->count, &covered);
	runs->runs = table;
	return true;
}

/* writer: the call that writes, or NULL. */
static bool abd_runs_make(
	struct abd_runs *runs, const char *writer, const abd_t *abd, size_t off, size_t size)
{
	size_t covered;

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
	runs->count = abd_runs_map(writer, abd, off, size, runs->local, ABD_RUNS_LOCAL, &covered);
	return covered == size || abd_runs_long(runs, writer, abd, off, size);
}

bool abd_runs_read(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size)
{
	return abd_runs_make(runs, NULL, abd, off, size);
}

bool abd_runs_write(struct abd_runs *runs, const char *call, abd_t *abd, size_t off, size_t size)
{
	return abd_runs_make(runs, call, abd, off, size);
}
