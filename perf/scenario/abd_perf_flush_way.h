/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to make a copy durable, the memory that they write to, and one thread's copies.
 */
#ifndef ABD_PERF_FLUSH_WAY_H
#define ABD_PERF_FLUSH_WAY_H

#include "abd_perf_crew.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"

#include <abd/abd.h>

#define ABD_PERF_FLUSH_THREADS_MAX 64

enum { ABD_PERF_FLUSH_LINEAR, ABD_PERF_FLUSH_SCATTERED, ABD_PERF_FLUSH_PLACES };

/* How a way copies: by the library, by libpmem, or 8 bytes after 8 bytes in a loop of its own. */
enum abd_perf_flush_kind {
	ABD_PERF_FLUSH_POLICY,
	ABD_PERF_FLUSH_WHOLE, /* the library; a batch in one call */
	ABD_PERF_FLUSH_PMEM,
	ABD_PERF_FLUSH_PMEM_LOOP, /* the caller's loop drains once after all runs, not after each */
	ABD_PERF_FLUSH_AROUND,    /* non-temporal stores */
	ABD_PERF_FLUSH_THROUGH,   /* plain stores; each line is written back when it is full */
};

struct abd_perf_flush_way {
	const char *name;
	enum abd_perf_flush_kind kind;
	const char *policy; /* value of the tunable "flush" */
	bool drain_each;    /* in a batch: no NODRAIN, so a fence per copy */
};

/* What is measured together: copies of one size, by all ways. */
struct abd_perf_flush_cell {
	const char *group; /* "log", "writers", "size", "threads", "drain" */
	const char *what;
	unsigned place;
	size_t size;    /* of one copy */
	bool hot;       /* the same bytes again and again; else all of the destination in turn */
	unsigned batch; /* copies per iteration; more than 1: NODRAIN, then one drain */
	unsigned threads;
	const struct abd_perf_said *said; /* what the source published; NULL: nothing */
};

struct abd_perf_flush_case {
	const struct abd_perf_flush_way *way;
	const struct abd_perf_flush_cell *cell;
	size_t region; /* bytes of the place that a thread walks over */
};

extern const char *const abd_perf_flush_place_name[ABD_PERF_FLUSH_PLACES];
#define ABD_PERF_FLUSH_SOURCE ((size_t)16 << 20) /* bytes */
extern char *abd_perf_flush_source;
extern struct abd_perf_flush_place {
	abd_t *dst;
	char *linear; /* dst's memory, or NULL when dst is in runs */
} abd_perf_flush_place[ABD_PERF_FLUSH_PLACES];
extern size_t abd_perf_flush_size; /* of each place */
/** The threads of cells with more than one, which abd_perf_flush_run() uses. */
extern struct abd_perf_crew *abd_perf_flush_crew;

/** Whether libpmem is installed on this machine; nothing is copied by it otherwise. */
bool abd_perf_flush_pmem_here(void);
/** Whether there are loops of 8-byte stores for this CPU; of clwb, the policy says. */
extern const bool abd_perf_flush_has_words;
/** The ways of a cell; AUTO is the first one. Returns how many. */
unsigned abd_perf_flush_ways(
	struct abd_perf_flush_way *ways, const struct abd_perf_flush_cell *cell, bool quick);
/** For a path of a race; arg is a case. */
double abd_perf_flush_run_case(void *arg, uint64_t iterations);
/**
 * The cases of a cell, and whether each copies what it should; a line on stderr names one that does
 * not. plant: damage a copy first, which must be noticed.
 */
bool abd_perf_flush_cases(struct abd_perf_flush_case *work, const struct abd_perf_flush_way *ways,
	unsigned count, const struct abd_perf_flush_cell *cell, bool plant);

/** Make source and destinations, of size bytes each. Ends the program when there is no memory. */
void abd_perf_flush_memory(size_t size, uint64_t seed);
void abd_perf_flush_memory_free(void);

#endif
