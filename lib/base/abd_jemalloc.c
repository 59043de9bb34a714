/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our arenas in jemalloc.
 * Decay: unused pages of small memory go back after 10 s, so that a cache which shrinks and grows
 * again does not pay a page fault each time. There is no second, lazy stage (muzzy): the system
 * would still count its pages as ours. Regions go back at once, because lib/chunk has kept them
 * long enough.
 * The addresses stay reserved: jemalloc 5.3 can't give them back. A dalloc hook that unmaps makes
 * it crash when the system reuses the addresses.
 */
#include "abd_jemalloc.h"

#include <jemalloc/jemalloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#define ABD_HUGE_PAGE ((size_t)2 << 20)

/* Weak: NULL in a process without the companion. */
extern const struct abd_jemalloc_calls abd_jemalloc_calls __attribute__((weak));

static unsigned abd_jemalloc_index[ABD_JEMALLOC_ARENAS];
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

	/*
	 * Only advice: without huge pages the system uses small ones. jemalloc makes an arena in
	 * 2 MiB of its own and uses a few pages of them: a huge page there would be resident for
	 * nothing.
	 */
	if (extent != NULL && size >= ABD_HUGE_PAGE && abd_jemalloc_ready)
		madvise(extent, size, MADV_HUGEPAGE);
	return extent;
}

static bool abd_jemalloc_set(unsigned arena, const char *what, void *value, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.%s", arena, what);
	return abd_jemalloc_calls.mallctl(name, NULL, NULL, value, size) == 0;
}

static bool abd_jemalloc_arena_make(
	enum abd_jemalloc_arena which, ssize_t dirty_ms, extent_hooks_t *hooks)
{
	size_t size = sizeof(abd_jemalloc_index[which]);
	ssize_t muzzy_ms = 0;

	return abd_jemalloc_calls.mallctl("arenas.create", &abd_jemalloc_index[which], &size,
		       hooks != NULL ? (void *)&hooks : NULL,
		       hooks != NULL ? sizeof(hooks) : 0) == 0 &&
	       abd_jemalloc_set(
		       abd_jemalloc_index[which], "dirty_decay_ms", &dirty_ms, sizeof(dirty_ms)) &&
	       abd_jemalloc_set(
		       abd_jemalloc_index[which], "muzzy_decay_ms", &muzzy_ms, sizeof(muzzy_ms));
}

/* Copy the default hooks from an arena that has them. */
static bool abd_jemalloc_hooks_make(unsigned arena)
{
	size_t size = sizeof(abd_jemalloc_hooks_default);
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.extent_hooks", arena);
	if (abd_jemalloc_calls.mallctl(name, &abd_jemalloc_hooks_default, &size, NULL, 0) != 0)
		return false;
	abd_jemalloc_hooks = *abd_jemalloc_hooks_default;
	abd_jemalloc_hooks.alloc = abd_jemalloc_extent_alloc;
	return true;
}

static void abd_jemalloc_start(void)
{
	if (&abd_jemalloc_calls == NULL)
		return;
	abd_jemalloc_ready = abd_jemalloc_arena_make(ABD_JEMALLOC_SMALL, 10000, NULL) &&
			     abd_jemalloc_hooks_make(abd_jemalloc_index[ABD_JEMALLOC_SMALL]) &&
			     abd_jemalloc_arena_make(ABD_JEMALLOC_RUNS, 0, &abd_jemalloc_hooks);
}

bool abd_jemalloc_present(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_jemalloc_start);
	return abd_jemalloc_ready;
}

static int abd_jemalloc_flags(enum abd_jemalloc_arena arena, size_t alignment)
{
	/* No thread cache in jemalloc: our magazines do that. */
	return (int)(MALLOCX_LG_ALIGN(abd_log2(alignment)) |
		     MALLOCX_ARENA(abd_jemalloc_index[arena]) | MALLOCX_TCACHE_NONE);
}

void *abd_jemalloc_alloc(enum abd_jemalloc_arena arena, size_t size, size_t alignment)
{
	return abd_jemalloc_calls.mallocx(size, abd_jemalloc_flags(arena, alignment));
}

void abd_jemalloc_free(enum abd_jemalloc_arena arena, void *block, size_t size, size_t alignment)
{
	abd_jemalloc_calls.sdallocx(block, size, abd_jemalloc_flags(arena, alignment));
}

static void abd_jemalloc_tell(const char *what)
{
	ABD_KEEP_ERRNO;

	for (unsigned i = 0; i < ABD_JEMALLOC_ARENAS && abd_jemalloc_present(); i++)
		abd_jemalloc_set(abd_jemalloc_index[i], what, NULL, 0);
}

void abd_jemalloc_purge(void)
{
	abd_jemalloc_tell("purge");
}

void abd_jemalloc_decay(void)
{
	abd_jemalloc_tell("decay");
}
