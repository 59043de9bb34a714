/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several processes measure the same rows. Where memory came to lie differs from process to
 * process and moves figures by more than any round shows, so a figure's spread is that between
 * processes.
 */
#ifndef ABD_PERF_MERGE_H
#define ABD_PERF_MERGE_H

#include <jansson.h>

/**
 * Add one process's results to those of the first one: each figure and ratio gets that process's
 * median in "processes". Rows of one name are matched in their order.
 */
void abd_perf_merge_add(json_t *results, const json_t *more);
/**
 * Summarise over the processes, once all were added: the median of their medians; an interval that
 * holds all of their intervals, or with 6 and more processes the 95 % interval of their medians; a
 * ratio's verdict from that.
 */
void abd_perf_merge_end(json_t *results);

#endif
