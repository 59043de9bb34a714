/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine and the build: recorded with every result, because a figure means nothing without
 * them.
 */
#ifndef ABD_PERF_ENV_H
#define ABD_PERF_ENV_H

#include "abd_perf_options.h"

#include <jansson.h>

/** Record the facts, once, before measuring. Warns when the machine is busy. */
void abd_perf_env_look(const struct abd_perf_options *options);
/**
 * Record after measuring what other processes did meanwhile. Warns when they were busy. Returns the
 * percent of the CPUs that others used.
 */
double abd_perf_env_look_back(const struct abd_perf_options *options);
/** The facts: {name: text}. */
json_t *abd_perf_env_facts(void);
/** Record where the measured data comes from. A text given twice is recorded once. */
void abd_perf_env_source(const char *origin);
/** These texts. */
json_t *abd_perf_env_sources(void);
/** Print all facts, one per line. */
void abd_perf_env_print(void);

/** Bytes of the first CPU's data cache of a level; 0 when unknown. */
size_t abd_perf_env_cache(unsigned level);
/** Bytes of the largest cache; 32 MiB when unknown. */
size_t abd_perf_env_last_cache(void);
/** "cold": so many bytes do not fit the largest cache; else "warm". */
const char *abd_perf_env_state(size_t bytes);
/** Bytes of memory that this process can have now: what the machine has, within control groups. */
size_t abd_perf_env_memory(void);
/** Bytes of memory that this process occupies; own: without what it shares with others. */
size_t abd_perf_env_resident(bool own);

/** Look for a function of a library that may be installed; *function is NULL where it is not. */
bool abd_perf_env_function(void *function, const char *library, const char *name);

#endif
