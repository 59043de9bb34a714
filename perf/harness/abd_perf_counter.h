/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the processor and the kernel count while this thread works (perf_event_open(2)), each event
 * by itself: where a kernel or a virtual machine has not all of them, the others are still counted.
 */
#ifndef ABD_PERF_COUNTER_H
#define ABD_PERF_COUNTER_H

#include <stdint.h>

enum { ABD_PERF_COUNTERS = 6 };

/** Names, in the order of the values below. */
extern const char *const abd_perf_counter_name[ABD_PERF_COUNTERS];

/** Open what this machine has, on the calling thread. Returns the text of the fact "counters". */
const char *abd_perf_counter_open(void);
/** What was counted until now; 0 where there is no counter. */
void abd_perf_counter_read(uint64_t value[ABD_PERF_COUNTERS]);

#endif
