/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws as text: at most 100 columns of plain ASCII.
 */
#include "abd_explain_draw.h"

#include <stdlib.h>
#include <string.h>

enum {
	ABD_EXPLAIN_COLUMNS = 100,
	ABD_EXPLAIN_INDENT = 3,
	/* one column is for the rule that closes a box */
	ABD_EXPLAIN_INNER = ABD_EXPLAIN_COLUMNS - ABD_EXPLAIN_INDENT - 1,
	ABD_EXPLAIN_NARROW = 3,
	ABD_EXPLAIN_BOX_LEAST = 24,
	ABD_EXPLAIN_POOL_ROW = 64,
};

/* A line of a drawing; any column can be written at any time. */
struct abd_explain_line {
	char text[ABD_EXPLAIN_COLUMNS + 1];
};

static void abd_explain_line_blank(struct abd_explain_line *line)
{
	memset(line->text, ' ', ABD_EXPLAIN_COLUMNS);
	line->text[ABD_EXPLAIN_COLUMNS] = '\0';
}

static void abd_explain_line_put(struct abd_explain_line *line, size_t at, const char *text)
{
	size_t length = strlen(text);

	at += ABD_EXPLAIN_INDENT;
	if (at + length <= ABD_EXPLAIN_COLUMNS)
		memcpy(line->text + at, text, length);
}

static void abd_explain_line_print(FILE *out, struct abd_explain_line *line)
{
	size_t length = ABD_EXPLAIN_COLUMNS;

	while (length > 0 && line->text[length - 1] == ' ')
		length--;
	fprintf(out, "%.*s\n", (int)length, line->text);
}

/* Write words, with a new line before the last column is passed. */
static void abd_explain_text_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text != '\0') {
		size_t length = strcspn(text, " ");

		if (column > 0 && column + 1 + length > ABD_EXPLAIN_COLUMNS - ABD_EXPLAIN_INDENT) {
			fputc('\n', out);
			column = 0;
		}
		fprintf(out, "%*s%.*s", column == 0 ? ABD_EXPLAIN_INDENT : 1, "", (int)length,
			text);
		column += length + (column > 0);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static void abd_explain_text_rule(FILE *out, const struct abd_explain_cells *cells)
{
	struct abd_explain_line line;

	abd_explain_line_blank(&line);
	memset(line.text + ABD_EXPLAIN_INDENT, '-', cells->width);
	for (size_t i = 0; i < cells->count; i++)
		abd_explain_line_put(&line, cells->cells[i].at, "+");
	abd_explain_line_put(&line, cells->width, "+");
	abd_explain_line_print(out, &line);
}

static void abd_explain_text_labels(FILE *out, const struct abd_explain_cells *cells,
	const struct abd_explain_shot *shot, bool places)
{
	bool is_foreign = abd_explain_cells_are_foreign(shot);
	struct abd_explain_line line;

	abd_explain_line_blank(&line);
	for (size_t i = 0; i < cells->count; i++) {
		const struct abd_explain_cell *cell = &cells->cells[i];
		size_t room = cell->width > 2 ? cell->width - 2 : cell->width - 1;
		char text[64];
		const char *label =
			abd_explain_cells_label(cell, is_foreign, room, text, sizeof(text));

		if (places) {
			label = cell->part != NULL && cell->part->run >= 0 ? cell->part->place : "";
			if (strlen(label) > room)
				label = "";
		}
		abd_explain_line_put(&line, cell->at, "|");
		abd_explain_line_put(&line, cell->at + (cell->width > 2 ? 2 : 1), label);
	}
	abd_explain_line_put(&line, cells->width, "|");
	abd_explain_line_print(out, &line);
}

/* Write the parts' offsets, as far as there is room, and the end of the last part. */
static void abd_explain_text_ruler(FILE *out, const struct abd_explain_cells *cells)
{
	struct abd_explain_line line;
	char text[24], end[24];
	size_t free_from = 0;
	int end_length = snprintf(end, sizeof(end), "%zu", cells->size);

	abd_explain_line_blank(&line);
	size_t end_at = cells->width + 1 - (size_t)end_length;

	for (size_t i = 0; i < cells->count; i++) {
		size_t at = cells->cells[i].at;
		size_t length = (size_t)snprintf(text, sizeof(text), "%zu", cells->cells[i].off);

		if (at < free_from || at + length >= end_at)
			continue;
		abd_explain_line_put(&line, at, text);
		free_from = at + length + 1;
	}
	abd_explain_line_put(&line, end_at, end);
	abd_explain_line_print(out, &line);
}

/* Write [==== b: 0 to 8 ====] under the mark's range, or the text beside it if it does not fit. */
static void abd_explain_text_mark(
	FILE *out, const struct abd_explain_cells *cells, const struct abd_explain_mark *mark)
{
	size_t from = abd_explain_cells_at(cells, mark->off);
	size_t to = abd_explain_cells_at(cells, mark->off + mark->size);
	struct abd_explain_line line;
	char text[96];

	abd_explain_line_blank(&line);
	if (to <= from)
		to = from + 1;
	memset(line.text + ABD_EXPLAIN_INDENT + from, '=', to - from);
	abd_explain_line_put(&line, from, "[");
	abd_explain_line_put(&line, to, "]");
	snprintf(text, sizeof(text), " %s: %zu to %zu ", mark->what, mark->off,
		mark->off + mark->size);
	size_t length = strlen(text);

	if (length + 2 < to - from)
		abd_explain_line_put(&line, from + (to - from - length) / 2, text);
	else if (to + length < ABD_EXPLAIN_INNER)
		abd_explain_line_put(&line, to + 1, text);
	else if (from > length + 1)
		abd_explain_line_put(&line, from - length, text);
	abd_explain_line_print(out, &line);
}

static void abd_explain_text_shot(FILE *out, const struct abd_explain_shot *shot, size_t largest)
{
	struct abd_explain_cells cells;

	fprintf(out, "\n%*s%s: %s\n", ABD_EXPLAIN_INDENT, "", shot->name, shot->head);
	if (shot->part_count == 0)
		return;
	abd_explain_cells_make(&cells, shot,
		abd_explain_cells_scale(
			shot->size, largest, ABD_EXPLAIN_INNER, ABD_EXPLAIN_BOX_LEAST),
		ABD_EXPLAIN_NARROW);
	abd_explain_text_rule(out, &cells);
	abd_explain_text_labels(out, &cells, shot, false);
	if (shot->parts[0].run >= 0 || shot->part_count > 1)
		abd_explain_text_labels(out, &cells, shot, true);
	abd_explain_text_rule(out, &cells);
	abd_explain_text_ruler(out, &cells);
	for (size_t i = 0; i < shot->mark_count; i++)
		if (shot->marks[i].size > 0)
			abd_explain_text_mark(out, &cells, &shot->marks[i]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void abd_explain_text_pool(FILE *out, const char *pool)
{
	fprintf(out,
		"\n%*sthe pool, a character for each page of 4096 bytes: . free, # held by others\n",
		ABD_EXPLAIN_INDENT, "");
	for (size_t at = 0, size = strlen(pool), row = ABD_EXPLAIN_POOL_ROW; at < size; at += row) {
		if (at < row || strncmp(pool + at, pool + at - row, row) != 0)
			fprintf(out, "%*s%5zu  %.*s\n", ABD_EXPLAIN_INDENT, "", at, (int)row,
				pool + at);
		else if (at < 2 * row || strncmp(pool + at, pool + at - 2 * row, row) != 0)
			fprintf(out, "%*s  ...  as above\n", ABD_EXPLAIN_INDENT, "");
	}
}

static void abd_explain_text_deltas(FILE *out, const struct abd_explain_delta *deltas)
{
	char *text = abd_explain_draw_deltas(deltas);

	if (text == NULL)
		return;
	fputc('\n', out);
	abd_explain_text_wrapped(out, text);
	free(text);
}

static void abd_explain_text_notes(FILE *out, const struct abd_explain_step *step)
{
	const char *outcome = abd_explain_draw_outcome(step);

	if (step->notes == NULL)
		return;
	if (step->statement[0] != '\0')
		fputc('\n', out);
	if (outcome != NULL)
		fprintf(out, "%*s%s\n", ABD_EXPLAIN_INDENT, "", outcome);
	for (const struct abd_explain_note *note = step->notes; note != NULL; note = note->next)
		abd_explain_text_wrapped(out, note->text);
}

static void abd_explain_text_step(FILE *out, const struct abd_explain_step *step, unsigned number)
{
	if (step->statement[0] != '\0') {
		fprintf(out, "%-2u %s\n", number, step->statement);
		if (step->call != NULL)
			abd_explain_text_wrapped(out, step->call);
	}
	for (const struct abd_explain_shot *shot = step->shots; shot != NULL; shot = shot->next)
		abd_explain_text_shot(out, shot, abd_explain_cells_largest(step));
	if (step->pool != NULL)
		abd_explain_text_pool(out, step->pool);
	abd_explain_text_notes(out, step);
	abd_explain_text_deltas(out, step->deltas);
}

void abd_explain_text(FILE *out, const struct abd_explain_trace *trace)
{
	unsigned number = 0;

	for (const struct abd_explain_step *step = trace->steps; step != NULL; step = step->next) {
		if (step != trace->steps)
			fputc('\n', out);
		if (step->is_chapter) {
			fprintf(out, "%s\n", step->statement);
			number = 0;
			continue;
		}
		number += step->statement[0] != '\0';
		abd_explain_text_step(out, step, number);
	}
}
