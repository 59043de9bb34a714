/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tunable: a name, and how to set and show it. Each layer has a table of its own; lib/tuning
 * collects them.
 * Invariant: a value from the environment is applied before the layer first uses the tunable, and
 * never after a call has set it.
 */
#ifndef ABD_TUNABLE_H
#define ABD_TUNABLE_H

#include "abd_base.h"

#include <pthread.h>

struct abd_tunable {
	const char *name;
	int (*set)(const char *value);               /* 0 or -EINVAL */
	const char *(*get)(char *text, size_t size); /* may use text for the answer */
};

struct abd_tunables {
	const struct abd_tunable *table;
	size_t count;
	void (*start)(void); /* applies the environment once; callable any number of times */
};

/* Room for all values of the environment that are not used. */
enum { ABD_TUNABLE_IGNORED = 256 };

/** Parse a decimal number. False: text is not one, or the number is outside [low, high]. */
bool abd_tunable_parse(const char *text, uint64_t low, uint64_t high, uint64_t *value);

/**
 * The value of ABD_<NAME> in the environment; NULL: there is none, or the program is set-user-ID.
 * Only the first 59 letters of name count.
 */
const char *abd_tunable_environment(const char *name);

/** Note that the environment's value of the tunable is not used. Threads: any. */
void abd_tunable_ignored(const char *name, const char *value);

/** Write what was noted so: "ABD_MAX_ORDER=11 ABD_FLUSH=none". Returns text. Threads: any. */
const char *abd_tunable_ignored_get(char *text, size_t size);

/**
 * Set every tunable of the table that the environment has a value for. An invalid value is noted as
 * ignored.
 */
void abd_tunable_from_environment(const struct abd_tunables *tunables);

#endif
