/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc, if the process has it: arenas of our own, never the host's malloc.
 *
 * Debian's libjemalloc exports malloc, free and operator new. If the loader finds it before the C
 * library (or libstdc++), it becomes the host's allocator. And dlopen() can't load it, because too
 * little static TLS is left by then. So libabd does not link it. A companion library,
 * libabd_jemalloc.so, links it and exports one struct of calls. Programs link the companion beside
 * libabd (the package's flags do), which places jemalloc behind everything the program itself
 * needs. libabd refers to the struct by a weak reference. In a host that opens libabd by dlopen(),
 * or is linked without the companion, libabd maps regions for runs itself and takes other memory
 * from the C library.
 */
#ifndef ABD_JEMALLOC_H
#define ABD_JEMALLOC_H

#include "abd_base.h"

struct abd_jemalloc_calls {
	void *(*mallocx)(size_t size, int flags);
	void (*sdallocx)(void *block, size_t size, int flags);
	int (*mallctl)(
		const char *name, void *old, size_t *old_size, void *new_value, size_t new_size);
};

enum abd_jemalloc_arena {
	ABD_JEMALLOC_SMALL, /* structs, tables, linear buffers */
	ABD_JEMALLOC_RUNS,  /* memory of runs, on huge pages if the system gives them */
	ABD_JEMALLOC_ARENAS,
};

/**
 * Whether the process has jemalloc and it made our arenas; constant for the life of the process.
 */
bool abd_jemalloc_present(void);

/**
 * Contract for both: abd_jemalloc_present(). A block is freed with the size and alignment that it
 * was allocated with.
 */
void *abd_jemalloc_alloc(enum abd_jemalloc_arena arena, size_t size, size_t alignment);
void abd_jemalloc_free(enum abd_jemalloc_arena arena, void *block, size_t size, size_t alignment);

/** Give the arenas' unused pages back to the system now. Does nothing without jemalloc. */
void abd_jemalloc_purge(void);

/** Give back pages that have been unused for long. An arena that is in use does so by itself. */
void abd_jemalloc_decay(void);

#endif
