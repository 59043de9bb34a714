/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comparing costs by the length of a name, 1 to 64; and lengths mixed, which a branch
 * predictor can't guess.
 */
#ifndef ABD_PERF_NAMES_LENGTH_H
#define ABD_PERF_NAMES_LENGTH_H

#include "abd_perf_names_set.h"

#define ABD_PERF_NAMES_LENGTH_MAX 64

/**
 * Whether all methods agree at every length about equal names and about names that differ in one
 * byte; says which doesn't.
 */
bool abd_perf_names_length_check(void);
unsigned abd_perf_names_length_steps(const struct abd_perf_options *options);
/** Returns an exit status. */
int abd_perf_names_length_run(
	const struct abd_perf_names_set *set, const struct abd_perf_options *options);
void abd_perf_names_length_print(void);

#endif
