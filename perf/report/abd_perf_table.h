/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table for people: cells are collected, then printed with each column as wide as it needs to be.
 */
#ifndef ABD_PERF_TABLE_H
#define ABD_PERF_TABLE_H

#include "abd_perf_result.h"

struct abd_perf_table;

/** columns: headings separated by |; one that starts with < is aligned left. */
struct abd_perf_table *abd_perf_table_make(const char *columns);
/** The next cell, row by row. */
void abd_perf_table_cell(struct abd_perf_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** "3.21 ±0.4%": median and MAD; "-" for NULL. */
void abd_perf_table_figure(struct abd_perf_table *table, const struct abd_perf_figure *figure);
/** "1.058 [1.055, 1.061]"; "-" for NULL. */
void abd_perf_table_ratio(struct abd_perf_table *table, const struct abd_perf_ratio *ratio);
/** Print and free. A table without rows prints nothing. */
void abd_perf_table_print(struct abd_perf_table *table);

#endif
