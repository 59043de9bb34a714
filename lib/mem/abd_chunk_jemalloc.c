/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from regions that come from a jemalloc arena of our own, for programs whose memory is
 * watched by jemalloc's statistics, if the program has linked the companion (abd_jemalloc.h).
 * Mapped regions, the default, lie better: jemalloc adds a page to each block, so the next block
 * can't begin where a huge page does. Mapped regions also give their addresses back: jemalloc 5.3
 * can't, since a dalloc hook that unmaps makes it crash when the system reuses the addresses.
 * The arena's pages go back at once: a region has kept them long enough.
 */
#include "abd_jemalloc.h"
#include "abd_region.h"

#include <jemalloc/jemalloc.h>
#include <stdio.h>
#include <sys/mman.h>

#define ABD_HUGE_PAGE ((size_t)2 << 20)

/* Weak: NULL in a process without the companion. */
extern const struct abd_jemalloc_calls abd_jemalloc_calls __attribute__((weak));

static unsigned abd_jemalloc_arena;
static bool abd_jemalloc_ready;
static extent_hooks_t abd_jemalloc_hooks; /* the default hooks, except alloc */
static extent_hooks_t *abd_jemalloc_hooks_default;

/*
 * New address space for runs: aligned to a huge page, and huge pages are requested for it.
 * Otherwise compare and copy over 4 KiB chunks at random addresses lose up to half their speed to
 * page walks.
 */
static void *abd_jemalloc_extent_alloc(extent_hooks_t *hooks, void *address, size_t size,
	size_t alignment, bool *zero, bool *commit, unsigned arena)
{
	if (size >= ABD_HUGE_PAGE && alignment < ABD_HUGE_PAGE)
		alignment = ABD_HUGE_PAGE;

	void *extent = abd_jemalloc_hooks_default->alloc(
		hooks, address, size, alignment, zero, commit, arena);

	if (extent != NULL && size >= ABD_HUGE_PAGE)
		madvise(extent, size, MADV_HUGEPAGE); /* advice only */
	return extent;
}

/* One question about our arena. */
static bool abd_jemalloc_ask(const char *what, void *old, size_t old_size, void *value, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.%s", abd_jemalloc_arena, what);
	return abd_jemalloc_calls.mallctl(name, old, old != NULL ? &old_size : NULL, value, size) ==
	       0;
}

/*
 * The hooks come after the arena: jemalloc makes it in 2 MiB of its own and uses a few pages of
 * them, so a huge page there would be resident for nothing. There is no second, lazy stage (muzzy):
 * the system would still count its pages as ours.
 */
static void abd_jemalloc_start(void)
{
	size_t size = sizeof(abd_jemalloc_arena);
	extent_hooks_t *hooks = &abd_jemalloc_hooks;
	ssize_t at_once = 0;

	if (&abd_jemalloc_calls == NULL ||
		abd_jemalloc_calls.mallctl("arenas.create", &abd_jemalloc_arena, &size, NULL, 0) !=
			0 ||
		!abd_jemalloc_ask("extent_hooks", &abd_jemalloc_hooks_default,
			sizeof(abd_jemalloc_hooks_default), NULL, 0))
		return;
	abd_jemalloc_hooks = *abd_jemalloc_hooks_default;
	abd_jemalloc_hooks.alloc = abd_jemalloc_extent_alloc;
	abd_jemalloc_ready =
		abd_jemalloc_ask("extent_hooks", NULL, 0, &hooks, sizeof(hooks)) &&
		abd_jemalloc_ask("dirty_decay_ms", NULL, 0, &at_once, sizeof(at_once)) &&
		abd_jemalloc_ask("muzzy_decay_ms", NULL, 0, &at_once, sizeof(at_once));
}

/* Whether the process has jemalloc and it made our arena: constant for the life of the process. */
static bool abd_chunk_jemalloc_supported(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_jemalloc_start);
	return abd_jemalloc_ready;
}

static int abd_jemalloc_flags(void)
{
	return (int)(MALLOCX_LG_ALIGN(ABD_REGION_SHIFT) | MALLOCX_ARENA(abd_jemalloc_arena) |
		     MALLOCX_TCACHE_NONE);
}

static void *abd_chunk_jemalloc_map(size_t *size)
{
	return abd_jemalloc_calls.mallocx(*size, abd_jemalloc_flags());
}

static bool abd_chunk_jemalloc_unmap(void *base, size_t size)
{
	abd_jemalloc_calls.sdallocx(base, size, abd_jemalloc_flags());
	return true;
}

static struct abd_region_heap abd_chunk_jemalloc_heap =
	ABD_REGION_HEAP(abd_chunk_jemalloc_map, abd_chunk_jemalloc_unmap, true);

const struct abd_chunk_provider abd_chunk_jemalloc = {
	.name = "jemalloc",
	.supported = abd_chunk_jemalloc_supported,
	.heap = &abd_chunk_jemalloc_heap,
};
