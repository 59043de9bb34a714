/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of results. Each has its conditions (parameters), what was measured (figures), and the
 * ratios of these, as objects of the JSON (abd_perf_json.h); everything else is made from that.
 */
#ifndef ABD_PERF_RESULT_H
#define ABD_PERF_RESULT_H

#include "abd_perf_race.h"

#include <jansson.h>
#include <stddef.h>

/** Defines a function that makes its value when it is asked for the first time. */
#define ABD_PERF_ONCE(name, make)     \
	json_t *name(void)            \
	{                             \
		static json_t *value; \
                                      \
		if (value == NULL)    \
			value = make; \
		return value;         \
	}

/** A new result at the end of the list, for the caller to fill. */
json_t *abd_perf_result_add(const char *scenario, const char *group, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * What the present step made was wrong: its results keep their names, and lose their figures. A
 * step without a result gets one.
 */
void abd_perf_result_wrong(const char *scenario);
/** All results. */
json_t *abd_perf_result_list(void);

void abd_perf_result_text(json_t *result, const char *name, const char *text);
void abd_perf_result_number(json_t *result, const char *name, double number);
void abd_perf_result_size(json_t *result, const char *name, size_t size);
void abd_perf_result_figure(
	json_t *result, const char *name, const char *unit, struct abd_perf_summary value);
/** A figure that was counted, or measured once. */
void abd_perf_result_value(json_t *result, const char *name, const char *unit, double value);
/* What somebody published of a ratio. */
struct abd_perf_said {
	const char *claim; /* the claim that it belongs to: "pr8580"; NULL: none */
	double ratio;      /* theirs: of speeds; 0: none */
	const char *text;  /* for people: their figures, and where they stand */
};

/**
 * A ratio of figures, or of a figure and something published. target: at least; 0: none. source:
 * what was published; NULL: nothing. Its verdict follows from its interval (after/finish.py).
 */
void abd_perf_result_ratio(json_t *result, const char *of, const char *against,
	struct abd_perf_summary value, double target, const struct abd_perf_said *source);

/** What a scenario claims: the speed of one of its paths over another's. */
struct abd_perf_claim {
	unsigned of, against; /* numbers of paths */
	double target;
	const struct abd_perf_said *source; /* NULL: nothing was published */
};

/**
 * Add a figure for each path of a race: GB/s if an iteration moves bytes bytes, ns per iteration if
 * bytes is 0.
 */
void abd_perf_result_race(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, double bytes);
/** Add the ratio of two paths by their names; none if one of them is not in the race. */
void abd_perf_result_named(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const char *of, const char *against, double target,
	const struct abd_perf_said *source);
/** Add a ratio for each claim. */
void abd_perf_result_claims(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_claim *claim, unsigned count);

/** The text as JSON has it: bytes that are no UTF-8 are written as \\xff. */
json_t *abd_perf_result_string(const char *text);
json_t *abd_perf_result_summary(const struct abd_perf_summary *summary);

#endif
