/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ways a cell has on this CPU, and the memory they write to.
 */
#include "abd_perf_flush_way.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

const char *const abd_perf_flush_place_name[] = {"linear", "scattered"};
struct abd_perf_flush_place abd_perf_flush_place[ABD_PERF_FLUSH_PLACES];
char *abd_perf_flush_source;
size_t abd_perf_flush_size;

/* ---- ways ------------------------------------------------------------------------------------ */

/*
 * Policies, the most interesting first. Those that this CPU has are raced, up to the number of
 * paths that a race takes, without --full the first five; of a log six, for the source's is one of
 * them. The last ones can be left out: nt-sse2 copies as nt-avx2 does, and clflush, which flushes
 * one line at a time, can't win.
 */
static const char *const abd_perf_flush_policies[] = {"movdir64b", "nt-avx512", "nt-avx2", "movnti",
	"clwb", "clflushopt", "cvap", "cvac", "nt-sse2", "clflush", NULL};

static bool abd_perf_flush_has(const char *policy)
{
	bool has = abd_tuning_set("flush", policy) == 0;

	abd_perf_place_restore("flush");
	return has;
}

/* One writer after another in 8 bytes: the source's two loops, and what the library makes of it. */
static unsigned abd_perf_flush_ways_words(struct abd_perf_flush_way *ways, const char *found)
{
	unsigned count = 0;

	ways[count++] = (struct abd_perf_flush_way){"AUTO", ABD_PERF_FLUSH_POLICY, found, false};
	ways[count++] =
		(struct abd_perf_flush_way){"AUTO, 4k a call", ABD_PERF_FLUSH_WHOLE, found, false};
	if (abd_perf_flush_has_words)
		ways[count++] = (struct abd_perf_flush_way){
			"movnti by words", ABD_PERF_FLUSH_AROUND, NULL, false};
	if (abd_perf_flush_has_words && abd_perf_flush_has("clwb"))
		ways[count++] = (struct abd_perf_flush_way){
			"clwb by words", ABD_PERF_FLUSH_THROUGH, NULL, false};
	return count;
}

unsigned abd_perf_flush_ways(
	struct abd_perf_flush_way *ways, const struct abd_perf_flush_cell *cell, bool quick)
{
	bool runs = cell->place == ABD_PERF_FLUSH_SCATTERED && cell->size > 4096;
	unsigned few = strcmp(cell->group, "log") == 0 ? 7 : 6;
	const char *found = abd_perf_place_found("flush");
	unsigned count = 0, pmem = abd_perf_flush_pmem_here() ? (runs ? 2 : 1) : 0;

	if (strcmp(cell->group, "writers") == 0)
		return abd_perf_flush_ways_words(ways, found);
	ways[count++] = (struct abd_perf_flush_way){"AUTO", ABD_PERF_FLUSH_POLICY, found, false};
	if (strcmp(cell->group, "drain") == 0) {
		/* Copies with NODRAIN and one drain, and copies with a fence each. */
		ways[0].name = "NODRAIN, one drain";
		ways[1] =
			(struct abd_perf_flush_way){"ordered", ABD_PERF_FLUSH_POLICY, found, true};
		return 2;
	}
	for (unsigned i = 0; abd_perf_flush_policies[i] != NULL &&
			     count + pmem < (quick ? few + pmem : ABD_PERF_PATHS_MAX);
		i++) {
		const char *policy = abd_perf_flush_policies[i];

		if (abd_perf_flush_has(policy))
			ways[count++] = (struct abd_perf_flush_way){
				policy, ABD_PERF_FLUSH_POLICY, policy, false};
	}
	if (pmem > 0)
		ways[count++] =
			(struct abd_perf_flush_way){"libpmem", ABD_PERF_FLUSH_PMEM, NULL, false};
	if (pmem > 1)
		ways[count++] = (struct abd_perf_flush_way){
			"libpmem, own loop", ABD_PERF_FLUSH_PMEM_LOOP, NULL, false};
	return count;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void abd_perf_flush_memory(size_t size, uint64_t seed)
{
	abd_t **dst[] = {&abd_perf_flush_place[ABD_PERF_FLUSH_LINEAR].dst,
		&abd_perf_flush_place[ABD_PERF_FLUSH_SCATTERED].dst};
	char *linear = aligned_alloc(2 * MIB, size);

	abd_perf_flush_size = size;
	abd_perf_flush_source = abd_buf_alloc(ABD_PERF_FLUSH_SOURCE, false);
	abd_perf_flush_place[ABD_PERF_FLUSH_LINEAR].linear = linear;
	/*
	 * On huge pages when the system has some, as the provider's runs are: TLB misses are not
	 * what is measured.
	 */
	if (linear != NULL) {
		madvise(linear, size, MADV_HUGEPAGE);
		*dst[0] = abd_get_from_buf(linear, size);
	}
	if (abd_perf_flush_source == NULL || linear == NULL || *dst[0] == NULL)
		abd_perf_say_die(1, "no memory for a destination of %zu MiB", size / MIB);
	abd_perf_place_alloc(dst[1], 1, size);
	abd_perf_place_shuffle(dst[1], 1);
	for (size_t i = 0; i < ABD_PERF_FLUSH_SOURCE; i++)
		/* never zero, so that a planted byte shows */
		abd_perf_flush_source[i] = (char)(abd_perf_random(&seed) | 1);
	for (unsigned i = 0; i < ABD_PERF_FLUSH_PLACES; i++)
		abd_zero(*dst[i], size);
}

void abd_perf_flush_memory_free(void)
{
	abd_buf_free(abd_perf_flush_source, ABD_PERF_FLUSH_SOURCE);
	for (unsigned i = 0; i < ABD_PERF_FLUSH_PLACES; i++)
		abd_free(abd_perf_flush_place[i].dst);
	free(abd_perf_flush_place[ABD_PERF_FLUSH_LINEAR].linear);
	abd_cache_reap_now();
}
