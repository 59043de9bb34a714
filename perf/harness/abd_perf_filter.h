/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --filter: which steps are measured. One line of progress names one step. A step that is not
 * wanted is neither shown nor raced.
 */
#ifndef ABD_PERF_FILTER_H
#define ABD_PERF_FILTER_H

#include <stdbool.h>

/**
 * Take an extended regular expression; NULL: all steps are wanted. Ends the program when the
 * expression is wrong.
 */
void abd_perf_filter_set(const char *expression);
/** Begin the next step. Returns whether it is wanted. */
bool abd_perf_filter_step(const char *scenario, const char *step);
/** Whether the present step is wanted. */
bool abd_perf_filter_passes(void);
/** How many steps were wanted so far. */
unsigned abd_perf_filter_count(void);

#endif
