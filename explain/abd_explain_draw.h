/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace, drawn: as text, as SVG, as JSON. Each is a function of the trace alone.
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
 * Draw into a file: into one beside it that takes its name when it is complete. path may be NULL,
 * which does nothing, or -, the standard output. Returns false after saying what went wrong.
 */
bool abd_explain_draw_to(
	const char *path, abd_explain_draw_t *draw, const struct abd_explain_trace *trace);

/** "counters: borrow_cnt +1, ...", for free(); NULL if there are none. */
char *abd_explain_draw_deltas(const struct abd_explain_delta *deltas);
/** What to say before the notes of a step that did not go well; NULL if it did. */
const char *abd_explain_draw_outcome(const struct abd_explain_step *step);

/* ---- cells: how a buffer's parts share the width --------------------------------------------- */

enum { ABD_EXPLAIN_CELLS = 24 };

/* One part, or the many in the middle that are too many to draw. */
struct abd_explain_cell {
	size_t off, size;
	size_t at, width;                    /* in the drawing's unit */
	const struct abd_explain_part *part; /* NULL: left out, skipped of them */
	size_t skipped;
};

struct abd_explain_cells {
	size_t size, width;
	size_t count;
	struct abd_explain_cell cells[ABD_EXPLAIN_CELLS];
};

/** Lay a buffer's parts out over width, none narrower than least. */
void abd_explain_cells_make(struct abd_explain_cells *cells, const struct abd_explain_shot *shot,
	size_t width, size_t least);
/**
 * The size of a step's largest buffer, and the width of one beside it: all of a step's are drawn to
 * one scale.
 */
size_t abd_explain_cells_largest(const struct abd_explain_step *step);
size_t abd_explain_cells_scale(size_t size, size_t largest, size_t width, size_t least);
/** Where an offset of the buffer lies in the drawing. */
size_t abd_explain_cells_at(const struct abd_explain_cells *cells, size_t off);

/**
 * What a part is called, the longest of its names that fits: "a run 0, order 1, pages 0-1" ... "0".
 */
const char *abd_explain_cells_label(
	const struct abd_explain_cell *cell, bool is_foreign, size_t room, char *text, size_t size);
/** Whether parts have to say whose they are: not in the buffer that owns them all. */
bool abd_explain_cells_are_foreign(const struct abd_explain_shot *shot);

#endif
