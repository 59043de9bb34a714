/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc, if the process has it: arenas of our own, never the host's malloc.
 *
 * Debian's libjemalloc.so exports malloc, free and operator new. Wherever the loader finds it, some
 * of these become the host's: if not malloc, then operator new, as soon as a C program uses a
 * library in C++; and what that one allocates, it may free by the C library's free(). So jemalloc's
 * archive is linked into a companion library, libabd_jemalloc.so, which exports nothing but one
 * struct of calls. Programs link the companion beside libabd (the package's flags do), and libabd
 * refers to the struct by a weak reference. dlopen() can't load the companion, because too little
 * static TLS is left by then for jemalloc. In a host that opens libabd so, or is linked without the
 * companion, libabd maps regions for runs itself and takes other memory from the C library.
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
