/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expression is matched against "SCENARIO: STEP" by the C library, ignoring case.
 */
#include "abd_perf_filter.h"
#include "abd_perf_say.h"

#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>

static regex_t abd_perf_filter_expression;
static bool abd_perf_filter_given, abd_perf_filter_wanted = true;
static unsigned abd_perf_filter_steps;

void abd_perf_filter_set(const char *expression)
{
	char text[128];
	int error;

	if (abd_perf_filter_given)
		regfree(&abd_perf_filter_expression);
	abd_perf_filter_given = false;
	if (expression == NULL)
		return;
	error = regcomp(
		&abd_perf_filter_expression, expression, REG_EXTENDED | REG_NOSUB | REG_ICASE);
	if (error != 0) {
		regerror(error, &abd_perf_filter_expression, text, sizeof(text));
		abd_perf_say_die(EX_USAGE, "--filter: '%s': %s", expression, text);
	}
	abd_perf_filter_given = true;
}

bool abd_perf_filter_step(const char *scenario, const char *step)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", scenario, step);
	abd_perf_filter_wanted = !abd_perf_filter_given ||
				 regexec(&abd_perf_filter_expression, text, 0, NULL, 0) == 0;
	abd_perf_filter_steps += abd_perf_filter_wanted;
	return abd_perf_filter_wanted;
}

bool abd_perf_filter_passes(void)
{
	return abd_perf_filter_wanted;
}

unsigned abd_perf_filter_count(void)
{
	return abd_perf_filter_steps;
}
