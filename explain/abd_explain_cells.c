/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cells are as wide as their parts are large, except that small parts stay visible. If there are
 * too many parts, only the first and the last are drawn.
 */
#include "abd_explain_draw.h"

#include <string.h>

enum { ABD_EXPLAIN_HEAD = 8, ABD_EXPLAIN_TAIL = 3 };

static void abd_explain_cells_fill(
	struct abd_explain_cells *cells, const struct abd_explain_shot *shot, size_t most)
{
	size_t count = shot->part_count;
	bool all = count <= most && count <= ABD_EXPLAIN_CELLS;

	for (size_t i = 0; i < count; i++) {
		const struct abd_explain_part *part = &shot->parts[i];
		struct abd_explain_cell *cell = &cells->cells[cells->count];

		if (all || i < ABD_EXPLAIN_HEAD || i >= count - ABD_EXPLAIN_TAIL) {
			*cell = (struct abd_explain_cell){part->off, part->size, 0, 0, part, 0};
			cells->count++;
		} else if (i == ABD_EXPLAIN_HEAD) {
			*cell = (struct abd_explain_cell){part->off, part->size, 0, 0, NULL, 1};
			cells->count++;
		} else {
			cell[-1].size += part->size;
			cell[-1].skipped++;
		}
	}
}

/* In floating point, because a size times a width could exceed 64 bits. */
static size_t abd_explain_cells_scaled(const struct abd_explain_cells *cells, size_t off)
{
	return (size_t)((double)off / (double)cells->size * (double)cells->width);
}

static struct abd_explain_cell *abd_explain_cells_widest(struct abd_explain_cells *cells)
{
	struct abd_explain_cell *widest = cells->cells;

	for (size_t i = 1; i < cells->count; i++)
		if (cells->cells[i].width > widest->width)
			widest = &cells->cells[i];
	return widest;
}

/* Widen narrow cells to least, and take that from the widest cells. */
static void abd_explain_cells_fit(struct abd_explain_cells *cells, size_t least)
{
	size_t used = 0, at = 0;

	for (size_t i = 0; i < cells->count; i++) {
		struct abd_explain_cell *cell = &cells->cells[i];

		cell->width = abd_explain_cells_scaled(cells, cell->off + cell->size) -
			      abd_explain_cells_scaled(cells, cell->off);
		if (cell->width < least)
			cell->width = least;
		used += cell->width;
	}
	for (; used > cells->width; used--)
		abd_explain_cells_widest(cells)->width--;
	for (size_t i = 0; i < cells->count; i++) {
		cells->cells[i].at = at;
		at += cells->cells[i].width;
	}
}

void abd_explain_cells_make(struct abd_explain_cells *cells, const struct abd_explain_shot *shot,
	size_t width, size_t least)
{
	memset(cells, 0, sizeof(*cells));
	cells->size = shot->size;
	cells->width = width;
	if (shot->part_count == 0)
		return;
	abd_explain_cells_fill(cells, shot, width / least);
	abd_explain_cells_fit(cells, least);
}

size_t abd_explain_cells_at(const struct abd_explain_cells *cells, size_t off)
{
	for (size_t i = 0; i < cells->count; i++) {
		const struct abd_explain_cell *cell = &cells->cells[i];

		if (off < cell->off + cell->size)
			return cell->at + (size_t)((double)(off - cell->off) / (double)cell->size *
						   (double)cell->width);
	}
	return cells->width;
}

size_t abd_explain_cells_largest(const struct abd_explain_step *step)
{
	size_t largest = 1;

	for (const struct abd_explain_shot *shot = step->shots; shot != NULL; shot = shot->next)
		if (shot->size > largest)
			largest = shot->size;
	return largest;
}

size_t abd_explain_cells_scale(size_t size, size_t largest, size_t width, size_t least)
{
	size_t scaled = (size_t)((double)size / (double)largest * (double)width);

	return scaled > least ? scaled : least;
}

bool abd_explain_cells_are_foreign(const struct abd_explain_shot *shot)
{
	for (size_t i = 0; i < shot->part_count; i++)
		if (strcmp(shot->parts[i].owner, shot->name) != 0 &&
			shot->parts[i].owner[0] != '\0')
			return true;
	return false;
}

static const char *abd_explain_cells_skipped(size_t skipped, size_t room, char *text, size_t size)
{
	static const char *const formats[] = {"... %zu more ...", "... %zu ...", "..."};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, size, formats[i], skipped);
#pragma GCC diagnostic pop
		if (strlen(text) <= room)
			return text;
	}
	return "";
}

/* Write the nth longest name of a part into text. False: it has fewer names. */
static bool abd_explain_cells_name(const struct abd_explain_part *part, const char *owner,
	unsigned nth, char *text, size_t size)
{
	const char *space = owner[0] != '\0' ? " " : "", *dot = owner[0] != '\0' ? "." : "";

	if (part->run < 0) {
		snprintf(text, size, "%s", nth == 0 || owner[0] == '\0' ? part->place : owner);
		return nth < 2;
	}
	if (nth == 0)
		snprintf(text, size, "%s%srun %d, order %d", owner, space, part->run, part->order);
	else if (nth == 1)
		snprintf(text, size, "%s%srun %d", owner, space, part->run);
	else
		snprintf(text, size, "%s%s%d", owner, dot, part->run);
	return nth < 3;
}

const char *abd_explain_cells_label(
	const struct abd_explain_cell *cell, bool is_foreign, size_t room, char *text, size_t size)
{
	if (cell->part == NULL)
		return abd_explain_cells_skipped(cell->skipped, room, text, size);
	for (unsigned nth = 0; abd_explain_cells_name(
		     cell->part, is_foreign ? cell->part->owner : "", nth, text, size);
		nth++)
		if (strlen(text) <= room)
			return text;
	return "";
}
