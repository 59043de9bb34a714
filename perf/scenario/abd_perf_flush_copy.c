/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A copy is by the library under one of its policies, by libpmem, which is looked for when the
 * program runs and chooses its own instructions for this CPU, or by a loop of 8-byte stores.
 */
#include "abd_perf_flush_way.h"
#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE 64

struct abd_perf_crew *abd_perf_flush_crew;

/* A log has one, which its writer takes for each copy, as dm-writecache does. */
static pthread_mutex_t abd_perf_flush_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Where each thread writes next. All ways share one position, so that each gets to every part of
 * the region: the parts' speeds differ by several percent, which would count for a way that stayed
 * in one part.
 */
static struct abd_perf_flush_walk {
	size_t at;
	char apart[56]; /* each thread's position has its own cache line */
} abd_perf_flush_walk[ABD_PERF_FLUSH_THREADS_MAX];

/* ---- libpmem --------------------------------------------------------------------------------- */

/* libpmem.h's flags: do not wait until it is durable; past the cache, libpmem's fastest way. */
enum { PMEM_NODRAIN = 1 << 0, PMEM_NONTEMPORAL = 1 << 1 };

static void *(*pmem_copy)(void *dst, const void *src, size_t size, unsigned flags);
static void (*pmem_drain)(void);

bool abd_perf_flush_pmem_here(void)
{
	return abd_perf_env_function(&pmem_copy, "libpmem.so.1", "pmem_memcpy") &&
	       abd_perf_env_function(&pmem_drain, "libpmem.so.1", "pmem_drain");
}

struct abd_perf_flush_piece {
	const char *from;
	unsigned flags;
};

static int abd_perf_flush_pmem_piece(void *buf, size_t len, void *priv)
{
	struct abd_perf_flush_piece *piece = priv;

	pmem_copy(buf, piece->from, len, piece->flags);
	piece->from += len;
	return 0;
}

/* As a user of libpmem would copy: one call for linear memory, else a loop over the runs. */
static void abd_perf_flush_pmem(
	const struct abd_perf_flush_case *work, const char *source, size_t at, bool drain)
{
	bool loop = work->way->kind == ABD_PERF_FLUSH_PMEM_LOOP;
	struct abd_perf_flush_piece piece = {
		source, PMEM_NONTEMPORAL | (drain && !loop ? 0 : PMEM_NODRAIN)};

	abd_iterate_func(abd_perf_flush_place[work->cell->place].dst, at, work->cell->size,
		abd_perf_flush_pmem_piece, &piece);
	if (drain && loop)
		pmem_drain();
}

/* ---- 8 bytes after 8 bytes ------------------------------------------------------------------- */

#if defined(__x86_64__)
static void abd_perf_flush_words(char *to, const char *source, size_t size, bool through)
{
	for (size_t i = 0; i < size; i += 8) {
		long long word;

		memcpy(&word, source + i, sizeof(word));
		if (through)
			*(volatile long long *)(void *)(to + i) = word;
		else
			_mm_stream_si64((long long *)(void *)(to + i), word);
		if (through && (i + 8) % LINE == 0)
			__asm__ volatile("clwb %0" : "+m"(*(volatile char *)(to + i)));
	}
	_mm_sfence();
}
const bool abd_perf_flush_has_words = true;
#else
static void abd_perf_flush_words(char *to, const char *source, size_t size, bool through)
{
	(void)through;
	memcpy(to, source, size);
}
const bool abd_perf_flush_has_words = false;
#endif

/* ---- copies ---------------------------------------------------------------------------------- */

/* A batch of copies, from position at on; of 8 bytes each the next of the source. */
static void abd_perf_flush_batch(const struct abd_perf_flush_case *work, size_t at)
{
	const struct abd_perf_flush_way *way = work->way;
	const struct abd_perf_flush_cell *cell = work->cell;
	bool drain = cell->batch == 1 || way->drain_each;
	abd_t *dst = abd_perf_flush_place[cell->place].dst;
	const char *source = abd_perf_flush_source;

	for (unsigned i = 0; i < cell->batch; i++, at += cell->size) {
		if (way->kind == ABD_PERF_FLUSH_POLICY)
			abd_flush_copy_from_buf_off(dst, source, at, cell->size,
				drain ? ABD_FLUSH_AUTO : ABD_FLUSH_NODRAIN);
		else
			abd_perf_flush_pmem(work, source, at, drain);
		source += cell->size < LINE ? cell->size : 0;
	}
	if (!drain && way->kind == ABD_PERF_FLUSH_POLICY)
		abd_flush_drain();
	else if (!drain)
		pmem_drain();
}

static void abd_perf_flush_one(const struct abd_perf_flush_case *work, size_t at, size_t size)
{
	enum abd_perf_flush_kind kind = work->way->kind;

	if (kind == ABD_PERF_FLUSH_AROUND || kind == ABD_PERF_FLUSH_THROUGH)
		abd_perf_flush_words(abd_perf_flush_place[work->cell->place].linear + at,
			abd_perf_flush_source, size, kind == ABD_PERF_FLUSH_THROUGH);
	else if (kind == ABD_PERF_FLUSH_WHOLE)
		abd_flush_copy_from_buf_off(abd_perf_flush_place[work->cell->place].dst,
			abd_perf_flush_source, at, size, ABD_FLUSH_AUTO);
	else
		abd_perf_flush_batch(work, at);
}

/* One thread's copies. Returns the ns they took. */
static double abd_perf_flush_member(void *arg, unsigned member, uint64_t iterations)
{
	const struct abd_perf_flush_case *work = arg;
	bool locked = strcmp(work->cell->group, "log") == 0;
	size_t size = work->cell->size * work->cell->batch, at = abd_perf_flush_walk[member].at;
	double start = abd_perf_clock_ns();

	for (; iterations > 0; iterations--) {
		at = at <= work->region - size ? at : 0;
		if (locked)
			pthread_mutex_lock(&abd_perf_flush_lock);
		abd_perf_flush_one(work, member * work->region + at, size);
		if (locked)
			pthread_mutex_unlock(&abd_perf_flush_lock);
		at += size;
	}
	abd_perf_flush_walk[member].at = at;
	return abd_perf_clock_ns() - start;
}

double abd_perf_flush_run_case(void *arg, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;

	if (work->way->policy != NULL)
		abd_perf_place_tune("flush", work->way->policy);
	/* The copies of several threads, each of which times itself. */
	return work->cell->threads > 1 ? abd_perf_crew_run(abd_perf_flush_crew,
						 abd_perf_flush_member, work, iterations)
				       : abd_perf_flush_member(work, 0, iterations);
}

/* Whether the first iteration's bytes came where they should. */
static bool abd_perf_flush_right(struct abd_perf_flush_case *work, bool plant)
{
	const struct abd_perf_flush_cell *cell = work->cell;
	abd_t *dst = abd_perf_flush_place[cell->place].dst;
	bool same = true;

	abd_zero_off(dst, 0, cell->size * cell->batch);
	memset(abd_perf_flush_walk, 0, sizeof(abd_perf_flush_walk));
	if (work->way->policy != NULL)
		abd_perf_place_tune("flush", work->way->policy);
	abd_perf_flush_member(work, 0, 1);
	if (plant)
		abd_copy_from_buf_off(dst, "", cell->size - 1, 1);
	for (size_t i = 0; i < cell->batch; i++)
		same = same &&
		       abd_equal_buf_off(dst,
			       abd_perf_flush_source + (cell->size < LINE ? i * cell->size : 0),
			       i * cell->size, cell->size);
	if (!same)
		abd_perf_say_warn("flush: %s copied %zu bytes wrong", work->way->name, cell->size);
	return same;
}

bool abd_perf_flush_cases(struct abd_perf_flush_case *work, const struct abd_perf_flush_way *ways,
	unsigned count, const struct abd_perf_flush_cell *cell, bool plant)
{
	size_t region = abd_perf_flush_size / cell->threads & ~(size_t)4095;
	bool right = true;

	for (unsigned i = 0; i < count; i++) {
		work[i] = (struct abd_perf_flush_case){
			&ways[i], cell, cell->hot ? cell->size * cell->batch : region};
		right = abd_perf_flush_right(&work[i], plant) && right;
	}
	memset(abd_perf_flush_walk, 0, sizeof(abd_perf_flush_walk));
	return right;
}
