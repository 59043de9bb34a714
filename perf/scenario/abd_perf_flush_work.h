/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copies that the flush scenario times, and the memory they go to.
 *
 *   fresh  the threads walk over 512 MiB (128 MiB without --full): lines are no longer in this
 *          core's own caches when they are written
 *   hot    the same bytes are written again and again
 * The source is ordinary memory, which stays in the cache if it fits.
 */
#ifndef ABD_PERF_FLUSH_WORK_H
#define ABD_PERF_FLUSH_WORK_H

#include <abd/abd.h>

#define ABD_PERF_FLUSH_THREADS_MAX 64

/* A way to copy: a policy of ours by name, or libpmem. */
struct abd_perf_flush_way {
	const char *name;
	const char *policy; /* value of the tunable "flush"; NULL: libpmem */
	/* libpmem: the caller's loop drains once after all runs; else once after each */
	bool one_drain;
};

struct abd_perf_flush_place {
	abd_t *dst;
	char *linear; /* dst's memory, or NULL when dst is in runs */
	size_t size;
};

struct abd_perf_flush_case {
	const struct abd_perf_flush_way *way;
	const struct abd_perf_flush_place *place;
	const char *source;
	size_t size;     /* of one copy */
	unsigned batch;  /* copies per iteration; more than 1: NODRAIN, then one drain */
	bool drain_each; /* in a batch: no NODRAIN, so a fence per copy */
	unsigned threads;
	size_t region; /* bytes of the place that a thread walks over */
};

/**
 * Where each thread writes next. All ways share one position, so that each gets to every part of
 * the region: the parts' speeds differ by several percent, which would count for a way that stayed
 * in one part.
 */
extern struct abd_perf_flush_walk {
	size_t at;
	char apart[56]; /* each thread's position has its own cache line */
} abd_perf_flush_walk[ABD_PERF_FLUSH_THREADS_MAX];

/** Set the tunables that a way needs. */
void abd_perf_flush_way_use(const struct abd_perf_flush_way *way);
/** Make one thread's copies: iterations times batch. Returns the ns they took. */
double abd_perf_flush_member(void *arg, unsigned member, uint64_t iterations);
/** abd_perf_flush_way_use() and one thread's copies. */
double abd_perf_flush_alone(void *arg, uint64_t iterations);

/** Whether libpmem is installed on this machine; nothing is copied by it otherwise. */
bool abd_perf_flush_pmem_here(void);

#endif
