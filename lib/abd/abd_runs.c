/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making tables of runs.
 */
#include "abd_runs.h"
#include "abd_iter.h"

/* Write the spans of iter into table. Returns how many there are, which may be more than room. */
static size_t abd_runs_fill(struct abd_iter *iter, struct iovec *table, size_t room)
{
	size_t count = 0;

	for (; iter->len > 0; count++) {
		if (count < room)
			table[count] = (struct iovec){iter->addr, iter->len};
		abd_iter_advance(iter, iter->len);
	}
	return count;
}

static bool abd_runs_is_table(const abd_t *abd)
{
	return !abd_is_linear(abd) && !abd_is_gang(abd) && !abd_is_zeros(abd);
}

static bool abd_runs_long(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size)
{
	struct iovec *table;
	struct abd_iter iter;

	runs->owned_size = runs->count * sizeof(*table);
	table = abd_mem_cache_alloc(runs->owned_size);
	if (table == NULL)
		return false;
	abd_iter_begin(&iter, abd, off, size);
	abd_runs_fill(&iter, table, runs->count);
	runs->runs = table;
	return true;
}

static bool abd_runs_make(
	struct abd_runs *runs, const abd_t *abd, struct abd_iter *iter, size_t off, size_t size)
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
	runs->count = abd_runs_fill(iter, runs->local, ABD_RUNS_LOCAL);
	return runs->count <= ABD_RUNS_LOCAL || abd_runs_long(runs, abd, off, size);
}

bool abd_runs_read(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;

	abd_iter_begin(&iter, abd, off, size);
	return abd_runs_make(runs, abd, &iter, off, size);
}

bool abd_runs_write(struct abd_runs *runs, const char *call, abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;

	abd_iter_begin_write(&iter, call, abd, off, size);
	return abd_runs_make(runs, abd, &iter, off, size);
}
