/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf compare A.json B.json`: what changed from one run to another.
 */
#ifndef ABD_PERF_DIFF_H
#define ABD_PERF_DIFF_H

#include "abd_perf_pair.h"

/**
 * The command. Returns 0; 2 when something became slower by more than --fail-if-slower allows.
 * Wrong input and flags end the program.
 */
int abd_perf_diff(int argc, char **argv);
/**
 * What it prints: how the machines differ, the benchmarks that surely changed, or all of them, and
 * their sum.
 */
void abd_perf_diff_print(const struct abd_perf_pairs *pairs, bool all);

#endif
