/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --filter: which steps are measured. A step is what one line of progress names; one that is not
 * wanted is neither shown nor raced.
 */
#ifndef ABD_PERF_FILTER_H
#define ABD_PERF_FILTER_H

#include <stdbool.h>

/**
 * Take an extended regular expression; NULL: all steps are wanted. Ends the program where it is
 * none.
 */
void abd_perf_filter_set(const char *expression);
/** The next step begins; whether it is wanted. */
bool abd_perf_filter_step(const char *scenario, const char *step);
/** Whether the present step is wanted. */
bool abd_perf_filter_passes(void);
/** How many steps were wanted so far. */
unsigned abd_perf_filter_count(void);

#endif
