/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc, if the process has it: arenas of our own, never the host's malloc.
 *
 * Debian's libjemalloc exports malloc, free and operator new, so whatever puts it before the C
 * library (or libstdc++) in the loader's search makes it the host's allocator; and it can't be
 * opened late, for want of static TLS. So libabd does not link it. A companion, libabd_jemalloc.so,
 * does, and exports one record of calls; programs link the companion beside libabd (the package's
 * flags do), which places jemalloc behind everything the program itself needs. libabd sees the
 * record through a weak reference: a host that opens libabd late, or is linked without the
 * companion, maps regions of its own for runs and takes the rest from the C library.
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
	ABD_JEMALLOC_RUNS,  /* chunk memory, on huge pages where the system gives them */
	ABD_JEMALLOC_ARENAS,
};

/** Whether jemalloc is there and gave us our arenas; constant for the life of the process. */
bool abd_jemalloc_present(void);

/**
 * Contract for both: abd_jemalloc_present(). A block is freed with the size and alignment it was
 * asked for.
 */
void *abd_jemalloc_alloc(enum abd_jemalloc_arena arena, size_t size, size_t alignment);
void abd_jemalloc_free(enum abd_jemalloc_arena arena, void *block, size_t size, size_t alignment);

/**
 * Give the arenas' unused pages back to the system now; without jemalloc there is nothing to do.
 */
void abd_jemalloc_purge(void);

/** Time has passed: give back what has been unused for long, as an arena that is called now and
 * then does by itself. */
void abd_jemalloc_decay(void);

#endif
