/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine and the build a figure belongs to: recorded with every run, because a figure without
 * them says nothing.
 */
#ifndef ABD_PERF_ENV_H
#define ABD_PERF_ENV_H

#include "abd_perf_options.h"

struct abd_perf_env {
	const char *name;
	char text[200];
};

/** Look at the machine, once; warns when it is busy. */
void abd_perf_env_look(const struct abd_perf_options *options);
/** Look again after the run: what others did meanwhile; warns when they were busy. */
void abd_perf_env_look_back(const struct abd_perf_options *options);
/** The i-th fact; NULL behind the last. */
const struct abd_perf_env *abd_perf_env_get(unsigned i);
/** Record where the bytes come from that are measured with; each text once. */
void abd_perf_env_source(const char *origin);
/** The i-th of these; NULL behind the last. */
const char *abd_perf_env_source_get(unsigned i);
/** Print them all, one per line. */
void abd_perf_env_print(void);

/** Bytes of a data cache of the first CPU, by level; 0 where the system doesn't tell. */
size_t abd_perf_env_cache(unsigned level);
/** Bytes of the largest cache; 32 MiB where the system doesn't tell. */
size_t abd_perf_env_last_cache(void);
/** Bytes of memory that could be had now. */
size_t abd_perf_env_memory(void);

#endif
