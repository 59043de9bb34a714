/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the library reaches jemalloc in a program that asked for it.
 *
 * Debian's libjemalloc.so exports malloc, free and operator new. Wherever the loader finds it, some
 * of these become the host's: if not malloc, then operator new, as soon as a C program uses a
 * library in C++; and what that one allocates, it may free by the C library's free(). So jemalloc's
 * archive is linked into a companion library, libabd_jemalloc.so, which exports nothing but one
 * struct of calls. A program asks for jemalloc by linking the companion (abd::jemalloc,
 * abd-jemalloc.pc), and libabd refers to the struct by a weak reference. Nothing else names the
 * companion: dlopen() can't load it, because too little static TLS is left by then for jemalloc.
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

#endif
