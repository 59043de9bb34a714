/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Widths are counted in characters, not bytes: +- is written as one sign of two bytes.
 */
#include "abd_perf_table.h"
#include "abd_perf_say.h"
#include "abd_perf_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_TABLE_COLUMNS 16
#define ABD_PERF_TABLE_TEXT 120

struct abd_perf_table {
	char heading[ABD_PERF_TABLE_COLUMNS][ABD_PERF_TABLE_TEXT];
	bool left[ABD_PERF_TABLE_COLUMNS];
	unsigned columns;
	size_t cells;
	char (*cell)[ABD_PERF_TABLE_TEXT];
};

struct abd_perf_table *abd_perf_table_make(const char *columns)
{
	struct abd_perf_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		abd_perf_say_die(1, "no memory for a table");
	while (table->columns < ABD_PERF_TABLE_COLUMNS) {
		unsigned i = table->columns++;
		size_t length = strcspn(columns, "|");

		table->left[i] = *columns == '<';
		snprintf(table->heading[i], ABD_PERF_TABLE_TEXT, "%.*s",
			(int)length - table->left[i], columns + table->left[i]);
		columns += length;
		if (*columns++ == '\0')
			break;
	}
	return table;
}

void abd_perf_table_cell(struct abd_perf_table *table, const char *format, ...)
{
	va_list arguments;

	table->cell = realloc(table->cell, (table->cells + 1) * sizeof(*table->cell));
	if (table->cell == NULL)
		abd_perf_say_die(1, "no memory for a table");
	va_start(arguments, format);
	vsnprintf(table->cell[table->cells], ABD_PERF_TABLE_TEXT, format, arguments);
	va_end(arguments);
	abd_perf_text_whole(table->cell[table->cells]);
	abd_perf_text_plain(table->cell[table->cells++]);
}

void abd_perf_table_figure(struct abd_perf_table *table, const struct abd_perf_figure *figure)
{
	if (figure == NULL) {
		abd_perf_table_cell(table, "-");
		return;
	}

	double median = figure->value.median;

	abd_perf_table_cell(table, "%.*f ±%.1f%%",
		median < 10    ? 2
		: median < 100 ? 1
			       : 0,
		median, median > 0 ? figure->value.mad / median * 100 : 0);
}

void abd_perf_table_ratio(struct abd_perf_table *table, const struct abd_perf_ratio *ratio)
{
	if (ratio == NULL)
		abd_perf_table_cell(table, "-");
	else if (ratio->value.median < 10)
		abd_perf_table_cell(table, "%.3f [%.3f, %.3f]", ratio->value.median,
			ratio->value.low, ratio->value.high);
	else
		abd_perf_table_cell(table, "%.1f [%.1f, %.1f]", ratio->value.median,
			ratio->value.low, ratio->value.high);
}

static int abd_perf_table_characters(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void abd_perf_table_put(const char *text, int width, bool left, bool last)
{
	int fill = width - abd_perf_table_characters(text);

	if (left)
		printf("%s%*s", text, last ? 0 : fill, "");
	else
		printf("%*s%s", fill, "", text);
	fputs(last ? "\n" : "  ", stdout);
}

void abd_perf_table_print(struct abd_perf_table *table)
{
	int width[ABD_PERF_TABLE_COLUMNS] = {0};
	unsigned columns = table->columns;

	for (size_t i = 0; i < table->cells; i++) {
		int needed = abd_perf_table_characters(table->cell[i]);

		width[i % columns] = needed > width[i % columns] ? needed : width[i % columns];
	}
	for (unsigned i = 0; i < columns; i++) {
		int needed = abd_perf_table_characters(table->heading[i]);

		width[i] = needed > width[i] ? needed : width[i];
	}
	for (unsigned i = 0; i < columns && table->cells > 0; i++)
		abd_perf_table_put(table->heading[i], width[i], table->left[i], i == columns - 1);
	for (size_t i = 0; i < table->cells; i++)
		abd_perf_table_put(table->cell[i], width[i % columns], table->left[i % columns],
			i % columns == columns - 1);
	free(table->cell);
	free(table);
}
