/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctrl-C: the first asks everybody to come to an end and keeps what was measured, the second ends
 * at once.
 */
#ifndef ABD_PERF_STOP_H
#define ABD_PERF_STOP_H

#include <stdbool.h>

void abd_perf_stop_install(void);
bool abd_perf_stop_wanted(void);

#endif
