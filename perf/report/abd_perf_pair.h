/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two runs, benchmark by benchmark: what run B is worth against run A.
 *
 * A benchmark is a figure or a ratio under its conditions. Its ratio is that of speeds, B over A,
 * so above 1 is better; the interval is the widest that both intervals allow, [low B / high A, high
 * B / low A], since the two were measured apart. Of figures it spans two: that of the figures, and
 * that of the figures in units of the reference loop. The CPU's clock moves the first for
 * arithmetic and the second for memory; a change of code moves both. Ratios were taken within
 * rounds and need no such care.
 * Invariant: a run against itself has no verdict but "can't tell", for every such interval holds 1.
 */
#ifndef ABD_PERF_PAIR_H
#define ABD_PERF_PAIR_H

#include "abd_perf_stat.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct abd_perf_pair {
	const char *scenario, *group, *unit; /* unit: "ratio" for a ratio */
	char name[256]; /* with its conditions where the name alone names several */
	char figure[96];
	struct abd_perf_summary a, b; /* in unit */
	struct abd_perf_summary ratio;
	enum abd_perf_verdict verdict;
	/*
	 * how far from 1 the ratio surely is: of logarithms, the interval's nearer end; 0: not
	 * surely
	 */
	double weight;
};

struct abd_perf_pairs {
	json_t *a, *b;
	struct abd_perf_pair *pair; /* the most important first */
	size_t count, only_a, only_b;
	double margin; /* what a ratio must differ from 1 by, beside its interval */
};

/** Read a run's JSON. NULL where it is none; fault then says why. */
json_t *abd_perf_pair_read(const char *path, char *fault, size_t room);
/** The same, but ends the program with a message when it is none. */
json_t *abd_perf_pair_load(const char *path);
/**
 * Pair them up. filter: an extended regular expression on "SCENARIO: NAME, FIGURE", or NULL. Takes
 * both documents over.
 */
void abd_perf_pair_make(struct abd_perf_pairs *pairs, json_t *a, json_t *b, const char *filter);
void abd_perf_pair_free(struct abd_perf_pairs *pairs);

/** "faster", "slower", "can't tell"; of bytes "smaller" and "larger". */
const char *abd_perf_pair_verdict_text(const struct abd_perf_pair *pair);
/** Facts of the machines, builds and options that differ: {name: [of a, of b]}. */
json_t *abd_perf_pair_differences(const struct abd_perf_pairs *pairs);
/** All of it: format "abd-perf-compare-1". */
json_t *abd_perf_pair_json(const struct abd_perf_pairs *pairs);

#endif
