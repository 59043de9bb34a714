/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of results. Each has its conditions (parameters), what was measured (figures), and the
 * ratios of these. The JSON is made from this list, and everything else from the JSON.
 */
#ifndef ABD_PERF_RESULT_H
#define ABD_PERF_RESULT_H

#include "abd_perf_race.h"

#include <stdbool.h>
#include <stddef.h>

#define ABD_PERF_PARAMETERS 12
#define ABD_PERF_FIGURES 10
#define ABD_PERF_RATIOS 10

struct abd_perf_parameter {
	const char *name;
	char text[96];
	double number; /* also for machines to sort by, if is_number */
	bool is_number;
};

struct abd_perf_figure {
	const char *name;
	const char *unit;
	struct abd_perf_summary value;
};

struct abd_perf_ratio {
	const char *of, *against; /* names of figures, or of something published */
	struct abd_perf_summary value;
	enum abd_perf_verdict verdict;
	double target;      /* at least; 0: none */
	const char *source; /* what the source found; NULL: nothing published */
};

struct abd_perf_result {
	const char *scenario;
	const char *group; /* results of one group make one table */
	char name[96];
	struct abd_perf_parameter parameter[ABD_PERF_PARAMETERS];
	struct abd_perf_figure figure[ABD_PERF_FIGURES];
	struct abd_perf_ratio ratio[ABD_PERF_RATIOS];
	unsigned parameters, figures, ratios;
};

/**
 * A new result at the end of the list, for the caller to fill. The pointer is valid until the next
 * call.
 */
struct abd_perf_result *abd_perf_result_add(const char *scenario, const char *group,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t abd_perf_result_count(void);
const struct abd_perf_result *abd_perf_result_get(size_t i);

void abd_perf_result_text(struct abd_perf_result *result, const char *name, const char *text);
void abd_perf_result_number(struct abd_perf_result *result, const char *name, double number);
void abd_perf_result_size(struct abd_perf_result *result, const char *name, size_t size);
void abd_perf_result_figure(struct abd_perf_result *result, const char *name, const char *unit,
	struct abd_perf_summary value);
/** A ratio measured in rounds; its verdict follows from its interval. */
struct abd_perf_ratio *abd_perf_result_ratio(struct abd_perf_result *result, const char *of,
	const char *against, struct abd_perf_summary value);

/** What a scenario claims: the speed of one of its paths over another's. */
struct abd_perf_claim {
	unsigned of, against; /* numbers of paths */
	double target;        /* at least; 0: none */
	const char *source;   /* what was published; NULL: nothing */
};

/**
 * Add a figure for each path of a race: GB/s if an iteration moves bytes bytes, ns per iteration if
 * bytes is 0.
 */
void abd_perf_result_race(struct abd_perf_result *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, double bytes);
/** Add a ratio for each claim. */
void abd_perf_result_claims(struct abd_perf_result *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_claim *claim, unsigned count);

/** "met", "missed", "can't tell", or "" without a target. */
const char *abd_perf_result_target_text(const struct abd_perf_ratio *ratio);

#endif
