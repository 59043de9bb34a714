/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86's string compare instruction, which Linux's memcmp() used on x86 in 2010. Other machines have
 * no such way.
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

	/* cmpq sets the zero flag for size 0, where repe cmpsb leaves the flags unchanged. */
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
