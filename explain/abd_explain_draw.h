/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace is drawn as text, as SVG and as JSON. Each drawing depends on the trace alone.
 */
#ifndef ABD_EXPLAIN_DRAW_H
#define ABD_EXPLAIN_DRAW_H

#include "abd_explain_trace.h"

#include <stdio.h>

typedef void abd_explain_draw_t(FILE *out, const struct abd_explain_trace *trace);

abd_explain_draw_t abd_explain_text;
abd_explain_draw_t abd_explain_svg;
abd_explain_draw_t abd_explain_json;

/**
 * Draw into a file: first into a temporary file beside it, which is renamed when it is complete.
 * path may be NULL, which does nothing, or "-", the standard output. On failure, prints why and
 * returns false.
 */
bool abd_explain_draw_to(
	const char *path, abd_explain_draw_t *draw, const struct abd_explain_trace *trace);

/** "counters: borrow_cnt +1, ..."; the caller frees it. NULL if there are none. */
char *abd_explain_draw_deltas(const struct abd_explain_delta *deltas);
/** What to print before the notes of a step that failed; NULL if it succeeded. */
const char *abd_explain_draw_outcome(const struct abd_explain_step *step);

/* ---- cells: how a buffer's parts share the width --------------------------------------------- */

enum { ABD_EXPLAIN_CELLS = 24 };

/* One part, or all the parts in the middle that are left out. */
struct abd_explain_cell {
	size_t off, size;
	size_t at, width;                    /* in the drawing's unit */
	const struct abd_explain_part *part; /* NULL: skipped parts are left out */
	size_t skipped;
};

struct abd_explain_cells {
	size_t size, width;
	size_t count;
	struct abd_explain_cell cells[ABD_EXPLAIN_CELLS];
};

/** Lay out a buffer's parts over width; no cell is narrower than least. */
void abd_explain_cells_make(struct abd_explain_cells *cells, const struct abd_explain_shot *shot,
	size_t width, size_t least);
/**
 * The size of a step's largest buffer, and the width of a buffer beside it: all buffers of a step
 * are drawn to one scale.
 */
size_t abd_explain_cells_largest(const struct abd_explain_step *step);
size_t abd_explain_cells_scale(size_t size, size_t largest, size_t width, size_t least);
/** Where an offset of the buffer lies in the drawing. */
size_t abd_explain_cells_at(const struct abd_explain_cells *cells, size_t off);

/**
 * A part's label: its longest name that fits in room, from "a run 0, order 1" down to "0".
 */
const char *abd_explain_cells_label(
	const struct abd_explain_cell *cell, bool is_foreign, size_t room, char *text, size_t size);
/** Whether labels must name the owner: some part belongs to another buffer. */
bool abd_explain_cells_are_foreign(const struct abd_explain_shot *shot);

#endif
