/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws as SVG: one narrow column that can be read on a phone, light or dark like the reader's
 * system. The body is drawn first, because the head contains the height. The file refers to no
 * other file.
 */
#include "abd_explain_draw.h"

#include <stdlib.h>
#include <string.h>

/* In the picture's own units, pixels of a phone that is 360 or more of them wide. */
enum {
	ABD_EXPLAIN_WIDTH = 352,
	ABD_EXPLAIN_MARGIN = 8,
	ABD_EXPLAIN_BOX = ABD_EXPLAIN_WIDTH - 2 * ABD_EXPLAIN_MARGIN,
	ABD_EXPLAIN_BOX_LEAST = 120,
	ABD_EXPLAIN_PART_LEAST = 12,
	ABD_EXPLAIN_LINE = 17,
	ABD_EXPLAIN_HUES = 6,
	ABD_EXPLAIN_POOL_PAGE = 7,
	ABD_EXPLAIN_POOL_PAGES = ABD_EXPLAIN_BOX / ABD_EXPLAIN_POOL_PAGE, /* 48 */
};

/*
 * How many characters fit in a width, by the mean width of a character in a wide font (DejaVu
 * Sans): in titles (15 units high, bold), statements (13, bold), sentences (13), code and labels
 * (11). tests/site/check_width.py measures in a browser that no line is cut.
 */
#define ABD_EXPLAIN_TITLE_FITS(width) ((size_t)((double)(width) / 9.8))
#define ABD_EXPLAIN_BOLD_FITS(width) ((size_t)((double)(width) / 8.8))
#define ABD_EXPLAIN_TEXT_FITS(width) ((size_t)((double)(width) / 7.7))
#define ABD_EXPLAIN_CODE_FITS(width) ((size_t)((double)(width) / 6.8))

static const char abd_explain_svg_style[] =
	"<style>\n"
	":root{--paper:#fff;--ink:#1c2128;--soft:#59636e;--line:#8c959f;--rule:#d8dee4;--bad:#b3261e;"
	"--good:#0969da;--h0:#cfe3ff;--h1:#ffe1b8;--h2:#c9efd2;--h3:#ecd5ff;--h4:#ffd3dc;--h5:#c8f0f0;--none:#eceff2}\n"
	"@media(prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6edf3;--soft:#9da7b1;--line:#6e7681;"
	"--rule:#30363d;--bad:#ff8a80;--good:#6cb6ff;--h0:#1d3f6e;--h1:#5c3d0a;--h2:#1c4d2b;--h3:#47296b;--h4:#66253a;"
	"--h5:#124a4d;--none:#262c33}}\n"
	"text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:var(--ink)}\n"
	".c,.d,.l,.o{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".s{font-weight:600}.c,.d,.o{fill:var(--soft)}.t{font-size:15px;font-weight:700}.b{fill:var(--bad);font-weight:600}\n"
	"rect{stroke:var(--line);stroke-width:1}.p{fill:var(--paper);stroke:none}\n"
	".k{fill:var(--good)}.q{stroke:var(--paper)}.r{stroke:var(--rule)}\n"
	".h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}"
	".hn{fill:var(--none)}.hh{fill:var(--line)}\n"
	"</style>\n";

struct abd_explain_svg {
	FILE *out;
	size_t y;
};

static void abd_explain_svg_escaped(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '&')
			fputs("&amp;", out);
		else if (text[i] == '<')
			fputs("&lt;", out);
		else if (text[i] == '>')
			fputs("&gt;", out);
		else
			fputc(text[i], out);
	}
}

static void abd_explain_svg_text(struct abd_explain_svg *svg, const char *style, size_t x, size_t y,
	const char *text, size_t length)
{
	fprintf(svg->out, "<text class=\"%s\" x=\"%zu\" y=\"%zu\">", style, x, y);
	abd_explain_svg_escaped(svg->out, text, length);
	fputs("</text>\n", svg->out);
}

/* Write text in lines of at most fits characters, broken at blanks if possible. */
static void abd_explain_svg_wrapped(
	struct abd_explain_svg *svg, const char *style, const char *text, size_t fits)
{
	while (*text != '\0') {
		size_t length = strlen(text);

		if (length > fits) {
			length = fits;
			while (length > fits / 2 && text[length] != ' ')
				length--;
			if (text[length] != ' ')
				length = fits;
		}
		svg->y += ABD_EXPLAIN_LINE;
		abd_explain_svg_text(svg, style, ABD_EXPLAIN_MARGIN, svg->y, text, length);
		text += length;
		text += strspn(text, " ");
	}
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Each owner has its own hue; memory without an owner has none. */
static void abd_explain_svg_hue(const struct abd_explain_part *part, char hue[4])
{
	unsigned sum = 0;

	for (const char *at = part != NULL ? part->owner : ""; *at != '\0'; at++)
		sum = sum * 7 + (unsigned)(*at >= 'a' ? *at - 'a' : *at);
	snprintf(hue, 4, "h%c",
		part == NULL || part->owner[0] == '\0' ? 'n'
						       : (char)('0' + sum % ABD_EXPLAIN_HUES));
}

static void abd_explain_svg_cell(
	struct abd_explain_svg *svg, const struct abd_explain_cell *cell, bool is_foreign)
{
	size_t fits = cell->width > 8 ? ABD_EXPLAIN_CODE_FITS(cell->width - 8) : 0;
	size_t x = ABD_EXPLAIN_MARGIN + cell->at;
	char hue[4], text[64];
	const char *label = abd_explain_cells_label(cell, is_foreign, fits, text, sizeof(text));

	abd_explain_svg_hue(cell->part, hue);
	fprintf(svg->out,
		"<rect class=\"%s\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"34\" rx=\"3\"/>\n",
		hue, x, svg->y, cell->width);
	abd_explain_svg_text(svg, "l", x + 4, svg->y + 14, label, strlen(label));
	if (cell->part != NULL && cell->part->run >= 0 && strlen(cell->part->place) <= fits)
		abd_explain_svg_text(
			svg, "o", x + 4, svg->y + 28, cell->part->place, strlen(cell->part->place));
}

static void abd_explain_svg_offsets(
	struct abd_explain_svg *svg, const struct abd_explain_cells *cells)
{
	char text[24], end[24];
	size_t free_from = 0;
	size_t end_length = (size_t)snprintf(end, sizeof(end), "%zu", cells->size);
	size_t end_at = cells->width - 7 * end_length;

	for (size_t i = 0; i < cells->count; i++) {
		size_t length = (size_t)snprintf(text, sizeof(text), "%zu", cells->cells[i].off);
		size_t at = cells->cells[i].at;

		if (at < free_from || at + 7 * length + 7 > end_at)
			continue;
		abd_explain_svg_text(svg, "o", ABD_EXPLAIN_MARGIN + at, svg->y + 12, text, length);
		free_from = at + 7 * length + 7;
	}
	abd_explain_svg_text(svg, "o", ABD_EXPLAIN_MARGIN + end_at, svg->y + 12, end, end_length);
	svg->y += 16;
}

static void abd_explain_svg_mark(struct abd_explain_svg *svg, const struct abd_explain_cells *cells,
	const struct abd_explain_mark *mark)
{
	size_t from = abd_explain_cells_at(cells, mark->off);
	size_t to = abd_explain_cells_at(cells, mark->off + mark->size);
	char text[96];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s: %zu to %zu", mark->what,
		mark->off, mark->off + mark->size);
	size_t wide = 7 * length, x;

	if (to < from + 3)
		to = from + 3;
	fprintf(svg->out,
		"<rect class=\"k\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"5\" rx=\"2\" stroke=\"none\"/>\n",
		ABD_EXPLAIN_MARGIN + from, svg->y + 2, to - from);
	x = from + wide <= ABD_EXPLAIN_BOX ? from : ABD_EXPLAIN_BOX - wide;
	abd_explain_svg_text(svg, "o", ABD_EXPLAIN_MARGIN + x, svg->y + 18, text, length);
	svg->y += 22;
}

static void abd_explain_svg_shot(
	struct abd_explain_svg *svg, const struct abd_explain_shot *shot, size_t largest)
{
	struct abd_explain_cells cells;
	bool is_foreign = abd_explain_cells_are_foreign(shot);
	char head[256];

	svg->y += 6;
	snprintf(head, sizeof(head), "%s: %s", shot->name, shot->head);
	abd_explain_svg_wrapped(svg, "n", head, ABD_EXPLAIN_TEXT_FITS(ABD_EXPLAIN_BOX));
	svg->y += 7;
	if (shot->part_count == 0)
		return;
	abd_explain_cells_make(&cells, shot,
		abd_explain_cells_scale(
			shot->size, largest, ABD_EXPLAIN_BOX, ABD_EXPLAIN_BOX_LEAST),
		ABD_EXPLAIN_PART_LEAST);
	for (size_t i = 0; i < cells.count; i++)
		abd_explain_svg_cell(svg, &cells.cells[i], is_foreign);
	svg->y += 34;
	abd_explain_svg_offsets(svg, &cells);
	for (size_t i = 0; i < shot->mark_count; i++)
		if (shot->marks[i].size > 0)
			abd_explain_svg_mark(svg, &cells, &shot->marks[i]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void abd_explain_svg_pool(struct abd_explain_svg *svg, const char *pool)
{
	svg->y += 10;
	for (size_t page = 0, count = strlen(pool); page < count; page++)
		fprintf(svg->out,
			"<rect class=\"q %s\" x=\"%zu\" y=\"%zu\" width=\"7\" height=\"7\"/>\n",
			pool[page] == '.'   ? "hn"
			: pool[page] == '#' ? "hh"
					    : "k",
			ABD_EXPLAIN_MARGIN + page % ABD_EXPLAIN_POOL_PAGES * ABD_EXPLAIN_POOL_PAGE,
			svg->y + page / ABD_EXPLAIN_POOL_PAGES * ABD_EXPLAIN_POOL_PAGE);
	svg->y += (strlen(pool) + ABD_EXPLAIN_POOL_PAGES - 1) / ABD_EXPLAIN_POOL_PAGES *
		  ABD_EXPLAIN_POOL_PAGE;
	abd_explain_svg_wrapped(svg, "d",
		"a square for each page of 4096 bytes: blue is ours, grey is held by others",
		ABD_EXPLAIN_CODE_FITS(ABD_EXPLAIN_BOX));
}

static void abd_explain_svg_deltas(
	struct abd_explain_svg *svg, const struct abd_explain_delta *deltas)
{
	char *text = abd_explain_draw_deltas(deltas);

	if (text == NULL)
		return;
	svg->y += 3;
	abd_explain_svg_wrapped(svg, "d", text, ABD_EXPLAIN_CODE_FITS(ABD_EXPLAIN_BOX));
	free(text);
}

static void abd_explain_svg_step(
	struct abd_explain_svg *svg, const struct abd_explain_step *step, unsigned number)
{
	const char *outcome = abd_explain_draw_outcome(step);
	size_t largest = abd_explain_cells_largest(step);
	char head[512];

	if (step->statement[0] != '\0') {
		snprintf(head, sizeof(head), "%u  %s", number, step->statement);
		abd_explain_svg_wrapped(svg, "s", head, ABD_EXPLAIN_BOLD_FITS(ABD_EXPLAIN_BOX));
		if (step->call != NULL)
			abd_explain_svg_wrapped(
				svg, "c", step->call, ABD_EXPLAIN_CODE_FITS(ABD_EXPLAIN_BOX));
	}
	for (const struct abd_explain_shot *shot = step->shots; shot != NULL; shot = shot->next)
		abd_explain_svg_shot(svg, shot, largest);
	if (step->pool != NULL)
		abd_explain_svg_pool(svg, step->pool);
	if (outcome != NULL)
		abd_explain_svg_wrapped(svg, "b", outcome, ABD_EXPLAIN_BOLD_FITS(ABD_EXPLAIN_BOX));
	for (const struct abd_explain_note *note = step->notes; note != NULL; note = note->next)
		abd_explain_svg_wrapped(
			svg, "n", note->text, ABD_EXPLAIN_TEXT_FITS(ABD_EXPLAIN_BOX));
	abd_explain_svg_deltas(svg, step->deltas);
}

static void abd_explain_svg_steps(
	struct abd_explain_svg *svg, const struct abd_explain_trace *trace)
{
	unsigned number = 0;

	for (const struct abd_explain_step *step = trace->steps; step != NULL; step = step->next) {
		if (step->is_chapter) {
			abd_explain_svg_wrapped(
				svg, "t", step->statement, ABD_EXPLAIN_TITLE_FITS(ABD_EXPLAIN_BOX));
			number = 0;
		} else {
			number += step->statement[0] != '\0';
			abd_explain_svg_step(svg, step, number);
		}
		if (step->next != NULL && step->statement[0] != '\0') {
			svg->y += 12;
			fprintf(svg->out, "<path class=\"r\" d=\"M%d %zuh%d\"/>\n",
				ABD_EXPLAIN_MARGIN, svg->y, ABD_EXPLAIN_BOX);
			svg->y += 4;
		}
	}
}

/* What a screen reader says: the statements. */
static void abd_explain_svg_title(FILE *out, const struct abd_explain_trace *trace)
{
	fputs("<title>", out);
	for (const struct abd_explain_step *step = trace->steps; step != NULL; step = step->next) {
		abd_explain_svg_escaped(out, step->statement, strlen(step->statement));
		if (step->next != NULL && step->statement[0] != '\0')
			fputs(step->is_chapter ? ": " : "; ", out);
	}
	fputs("</title>\n", out);
}

void abd_explain_svg(FILE *out, const struct abd_explain_trace *trace)
{
	char *body = NULL;
	size_t size;
	struct abd_explain_svg svg = {open_memstream(&body, &size), 6};

	if (svg.out == NULL)
		return;
	abd_explain_svg_steps(&svg, trace);
	fclose(svg.out);
	svg.y += 14;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" role=\"img\">\n",
		ABD_EXPLAIN_WIDTH, svg.y, ABD_EXPLAIN_WIDTH, svg.y);
	abd_explain_svg_title(out, trace);
	fputs(abd_explain_svg_style, out);
	fprintf(out, "<rect class=\"p\" width=\"%d\" height=\"%zu\"/>\n", ABD_EXPLAIN_WIDTH, svg.y);
	fwrite(body, 1, size, out);
	fputs("</svg>\n", out);
	free(body);
}
