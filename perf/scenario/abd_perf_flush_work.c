/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies in every way, to linear and scattered destinations. libpmem, for comparison, is looked for
 * when the program runs; it chooses its own instructions for this CPU.
 */
#include "abd_perf_flush_work.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"

#include <dlfcn.h>
#include <string.h>

/* libpmem.h's flags: do not wait until it is durable; past the cache, libpmem's fastest way. */
enum { PMEM_NODRAIN = 1 << 0, PMEM_NONTEMPORAL = 1 << 1 };

static void *(*pmem_copy)(void *dst, const void *src, size_t size, unsigned flags);
static void (*pmem_drain)(void);

bool abd_perf_flush_pmem_here(void)
{
	void *library = dlopen("libpmem.so.1", RTLD_NOW), *copy, *drain;

	if (library == NULL)
		return false;
	copy = dlsym(library, "pmem_memcpy");
	drain = dlsym(library, "pmem_drain");
	memcpy(&pmem_copy, &copy, sizeof(copy));
	memcpy(&pmem_drain, &drain, sizeof(drain));
	return copy != NULL && drain != NULL;
}

static void abd_perf_flush_pmem_copy(void *dst, const void *src, size_t size, bool drain)
{
	pmem_copy(dst, src, size, PMEM_NONTEMPORAL | (drain ? 0 : PMEM_NODRAIN));
}

struct abd_perf_flush_walk abd_perf_flush_walk[ABD_PERF_FLUSH_THREADS_MAX];

void abd_perf_flush_way_use(const struct abd_perf_flush_way *way)
{
	if (way->policy != NULL)
		abd_perf_place_tune("flush", way->policy);
}

struct abd_perf_flush_piece {
	const char *from;
	bool drain;
};

static int abd_perf_flush_pmem_piece(void *buf, size_t len, void *priv)
{
	struct abd_perf_flush_piece *piece = priv;

	abd_perf_flush_pmem_copy(buf, piece->from, len, piece->drain);
	piece->from += len;
	return 0;
}

/* As a user of libpmem would copy: one call for linear memory, else a loop over the runs. */
static void abd_perf_flush_pmem(const struct abd_perf_flush_case *work, size_t at, bool drain)
{
	const struct abd_perf_flush_place *place = work->place;
	struct abd_perf_flush_piece piece = {work->source, drain && !work->way->one_drain};

	if (place->linear != NULL) {
		abd_perf_flush_pmem_copy(place->linear + at, work->source, work->size, drain);
		return;
	}
	abd_iterate_func(place->dst, at, work->size, abd_perf_flush_pmem_piece, &piece);
	if (drain && work->way->one_drain)
		pmem_drain();
}

static void abd_perf_flush_drain(const struct abd_perf_flush_case *work)
{
	if (work->way->policy != NULL)
		abd_flush_drain();
	else
		pmem_drain();
}

double abd_perf_flush_member(void *arg, unsigned member, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;
	bool drain = work->batch == 1 || work->drain_each;
	unsigned flags = drain ? ABD_FLUSH_AUTO : ABD_FLUSH_NODRAIN;
	size_t begin = member * work->region, end = begin + work->region;
	size_t at = begin + (abd_perf_flush_walk[member].at < work->region
					    ? abd_perf_flush_walk[member].at
					    : 0);
	double start = abd_perf_clock_ns();

	for (; iterations > 0; iterations--) {
		for (unsigned i = 0; i < work->batch; i++) {
			at = at <= end - work->size ? at : begin;
			if (work->way->policy != NULL)
				abd_flush_copy_from_buf_off(
					work->place->dst, work->source, at, work->size, flags);
			else
				abd_perf_flush_pmem(work, at, drain);
			at += work->size;
		}
		if (!drain)
			abd_perf_flush_drain(work);
	}
	abd_perf_flush_walk[member].at = at - begin;
	return abd_perf_clock_ns() - start;
}

double abd_perf_flush_alone(void *arg, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;

	abd_perf_flush_way_use(work->way);
	return abd_perf_flush_member(work, 0, iterations);
}
