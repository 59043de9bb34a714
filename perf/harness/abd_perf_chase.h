/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a line costs that nothing could fetch ahead: the figure that shows whether a set is cold.
 */
#ifndef ABD_PERF_CHASE_H
#define ABD_PERF_CHASE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Link the lines of memory (64 bytes each) to one circle in random order: line i holds the number
 * of its successor in its first four bytes.
 */
void abd_perf_chase_link(uint32_t *memory, size_t lines, uint64_t random);
/** ns per line when lines of that much memory are followed from one to the next. 0: no memory. */
double abd_perf_chase_ns(size_t bytes);

#endif
