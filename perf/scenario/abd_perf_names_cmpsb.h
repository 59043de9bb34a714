/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86's string compare, which Linux's memcmp() was there in 2010. Elsewhere it is absent, and
 * nothing is put in its place.
 */
#ifndef ABD_PERF_NAMES_CMPSB_H
#define ABD_PERF_NAMES_CMPSB_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__)
enum { ABD_PERF_NAMES_HAVE_CMPSB = 1 };

static inline __attribute__((always_inline)) bool abd_perf_names_cmpsb(
	const void *a, const void *b, size_t size)
{
	bool equal;

	/* The first compare sets the flag for size 0, where the instruction leaves it alone. */
	__asm__ volatile("cmpq %%rcx, %%rcx\n\trepe cmpsb"
			 : "+S"(a), "+D"(b), "+c"(size), "=@ccz"(equal)
			 :
			 : "memory");
	return equal;
}
#else
enum { ABD_PERF_NAMES_HAVE_CMPSB = 0 };

static inline bool abd_perf_names_cmpsb(const void *a, const void *b, size_t size)
{
	(void)a;
	(void)b;
	(void)size;
	return false;
}
#endif

#endif
