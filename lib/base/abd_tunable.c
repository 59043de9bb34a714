/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the values of tunables, from calls and from the environment.
 */
#include "abd_tunable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int abd_tunable_set(const struct abd_tunable *tunable, const char *value)
{
	uint64_t number;

	if (tunable->set != NULL)
		return tunable->set(value);
	if (!abd_tunable_parse(value, tunable->low, tunable->high, &number))
		return -EINVAL;
	if (tunable->bytes == sizeof(uint32_t))
		__atomic_store_n((uint32_t *)tunable->number, (uint32_t)number, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n((uint64_t *)tunable->number, number, __ATOMIC_SEQ_CST);
	if (tunable->changed != NULL)
		tunable->changed();
	return 0;
}

const char *abd_tunable_get(const struct abd_tunable *tunable, char *text, size_t size)
{
	uint64_t number;

	if (tunable->get != NULL)
		return tunable->get(text, size);
	number = tunable->bytes == sizeof(uint32_t)
			 ? __atomic_load_n((const uint32_t *)tunable->number, __ATOMIC_SEQ_CST)
			 : __atomic_load_n((const uint64_t *)tunable->number, __ATOMIC_SEQ_CST);
	snprintf(text, size, "%llu", (unsigned long long)number);
	return text;
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
	/*
	 * Called when a layer starts; the host must not call setenv() at the same time. NULL in a
	 * set-user-ID program, whose environment is somebody else's.
	 */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	return secure_getenv(variable);
}

/* "ABD_MAX_ORDER=11 ABD_FLUSH=none", as much of it as fits. */
static char abd_tunable_ignored_text[ABD_TUNABLE_IGNORED];
static pthread_mutex_t abd_tunable_ignored_lock = PTHREAD_MUTEX_INITIALIZER;

/* Several choices read the variable of their group: it is noted once. */
void abd_tunable_ignored(const char *name, const char *value)
{
	char variable[64], entry[ABD_TUNABLE_IGNORED];
	char *text = abd_tunable_ignored_text;
	size_t used;

	abd_tunable_variable(name, variable, sizeof(variable));
	used = (size_t)snprintf(entry, sizeof(entry), "%s=%s", variable, value);
	pthread_mutex_lock(&abd_tunable_ignored_lock);
	if (used < sizeof(entry) && strstr(text, entry) == NULL) {
		used = strlen(text);
		strncat(text, used > 0 ? " " : "", ABD_TUNABLE_IGNORED - used - 1);
		strncat(text, entry, ABD_TUNABLE_IGNORED - strlen(text) - 1);
	}
	pthread_mutex_unlock(&abd_tunable_ignored_lock);
}

const char *abd_tunable_ignored_get(char *text, size_t size)
{
	pthread_mutex_lock(&abd_tunable_ignored_lock);
	snprintf(text, size, "%s", abd_tunable_ignored_text);
	pthread_mutex_unlock(&abd_tunable_ignored_lock);
	return text;
}

void abd_tunable_from_environment(const struct abd_tunables *tunables)
{
	for (size_t i = 0; i < tunables->count; i++) {
		const struct abd_tunable *tunable = &tunables->table[i];
		const char *value = abd_tunable_environment(tunable->name);

		if (value != NULL && abd_tunable_set(tunable, value) != 0)
			abd_tunable_ignored(tunable->name, value);
	}
}
