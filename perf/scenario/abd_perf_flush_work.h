/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copies that the flush scenario times, and the memory they go to.
 *
 *   fresh  a region larger than the caches (512 MiB) is walked: lines are out of this core's
 *          caches when they are written
 *   hot    the same bytes are written again and again
 * The source is plain memory and stays in the cache as far as it fits.
 */
#ifndef ABD_PERF_FLUSH_WORK_H
#define ABD_PERF_FLUSH_WORK_H

#include <abd/abd.h>

#define ABD_PERF_FLUSH_THREADS_MAX 64

/* A way to copy: a policy of ours by name, or libpmem. */
struct abd_perf_flush_way {
	const char *name;
	const char *policy; /* value of the tunable "flush"; NULL: libpmem */
	/* libpmem: one drain for all runs, by the caller's own loop; else one for each */
	bool one_drain;
};

struct abd_perf_flush_place {
	abd_t *dst;
	char *linear; /* its memory, or NULL when it is in runs */
	size_t size;
};

struct abd_perf_flush_case {
	const struct abd_perf_flush_way *way;
	const struct abd_perf_flush_place *place;
	const char *source;
	size_t size;     /* of one copy */
	unsigned batch;  /* copies per iteration; more than 1: NODRAIN, and one drain behind them */
	bool drain_each; /* in a batch: no NODRAIN, so as many fences as copies */
	unsigned threads;
	size_t region; /* how much of the place a thread walks over */
};

/**
 * Where each thread writes next. One for all ways, so that each of them gets its share of every
 * part of the region: parts differ by several percent, and a way that kept to its own would be
 * measured with them.
 */
extern struct abd_perf_flush_walk {
	size_t at;
	char apart[56]; /* threads' positions on lines of their own */
} abd_perf_flush_walk[ABD_PERF_FLUSH_THREADS_MAX];

/** Ready a way: what it needs set globally. */
void abd_perf_flush_way_use(const struct abd_perf_flush_way *way);
/** One thread's copies: iterations times batch. Returns the ns they took. */
double abd_perf_flush_member(void *arg, unsigned member, uint64_t iterations);
/** abd_perf_flush_way_use() and one thread's copies. */
double abd_perf_flush_alone(void *arg, uint64_t iterations);

/* ---- abd_perf_flush_pmem.c, or _none.c where libpmem is missing ------------------------------ */

extern const bool abd_perf_flush_pmem_here;
/** Non-temporal, which measures best of its flags; drain: wait for it. */
void abd_perf_flush_pmem_copy(void *dst, const void *src, size_t size, bool drain);
void abd_perf_flush_pmem_drain(void);

#endif
