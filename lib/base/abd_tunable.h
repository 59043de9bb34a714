/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tunable: a name, and where its number lies, or how to set and show it. Each layer has a table
 * of its own; lib/tuning collects them.
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
	/* In place of both: a number, which is read and written atomically. */
	void *number;
	size_t bytes;          /* that it has: 4 or 8 */
	uint64_t low, high;    /* what it may be */
	void (*changed)(void); /* called after it was set; NULL: nothing */
};

#define ABD_TUNABLE_NUMBER(variable) .number = &(variable), .bytes = sizeof(variable)

struct abd_tunables {
	const struct abd_tunable *table;
	size_t count;
	void (*start)(void); /* applies the environment once; callable any number of times */
};

/* Room for all values of the environment that are not used. */
enum { ABD_TUNABLE_IGNORED = 256 };

/** Set a tunable. 0; -EINVAL: value is none that it takes, and nothing has changed. */
int abd_tunable_set(const struct abd_tunable *tunable, const char *value);
/** Show it. The answer may stand in text. */
const char *abd_tunable_get(const struct abd_tunable *tunable, char *text, size_t size);

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
