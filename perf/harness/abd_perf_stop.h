/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctrl-C: the first ends measuring after the present round and keeps what was measured. The second
 * ends the program at once.
 */
#ifndef ABD_PERF_STOP_H
#define ABD_PERF_STOP_H

#include <stdbool.h>

void abd_perf_stop_install(void);
bool abd_perf_stop_wanted(void);

#endif
