/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the values of tunables, from calls and from the environment.
 */
#include "abd_tunable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

bool abd_tunable_parse(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t number = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;

		uint64_t digit = (uint64_t)(*text - '0');

		if (number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*value = number;
	return number >= low && number <= high;
}

static void abd_tunable_variable(const char *name, char *variable, size_t size)
{
	size_t used = (size_t)snprintf(variable, size, "ABD_");

	for (; *name != '\0' && used < size - 1; name++)
		variable[used++] = (char)toupper((unsigned char)*name);
	variable[used] = '\0';
}

const char *abd_tunable_environment(const char *name)
{
	char variable[64];

	abd_tunable_variable(name, variable, sizeof(variable));
	/* Called when a layer starts; the host must not call setenv() at the same time. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	return getenv(variable);
}

void abd_tunable_ignored(const char *name, const char *value)
{
	char variable[64];

	abd_tunable_variable(name, variable, sizeof(variable));
	fprintf(stderr, "abd: %s=%s is ignored: not a value it can take\n", variable, value);
}

void abd_tunable_from_environment(const struct abd_tunables *tunables)
{
	for (size_t i = 0; i < tunables->count; i++) {
		const struct abd_tunable *tunable = &tunables->table[i];
		const char *value = abd_tunable_environment(tunable->name);

		if (value != NULL && tunable->set(value) != 0)
			abd_tunable_ignored(tunable->name, value);
	}
}
