/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few helpers that every layer uses.
 * Invariant: nothing here has state.
 */
#ifndef ABD_BASE_H
#define ABD_BASE_H

#include <abd/export.h>

#include <pthread.h>
#include <string.h>

#define ABD_LIKELY(x) __builtin_expect(!!(x), 1)
#define ABD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ABD_COLD __attribute__((cold, noinline))
#define ABD_NOINLINE __attribute__((noinline))

static inline void abd_errno_restore(const int *kept)
{
	errno = *kept;
}

/**
 * From here to the end of the block errno is kept. It stands wherever memory goes back: round
 * system calls, allocators and callbacks that may be reached by a free, a release or a reap.
 */
#define ABD_KEEP_ERRNO \
	__attribute__((cleanup(abd_errno_restore), unused)) const int abd_errno_kept = errno

static inline int abd_cancel_disable(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void abd_cancel_restore(const int *kept)
{
	pthread_setcancelstate(*kept, NULL);
}

/**
 * From here to the end of the block a cancelled thread does not end: it would leave its locks and
 * its half-done work behind. It stands wherever a cancellation point of POSIX is called.
 */
#define ABD_NO_CANCEL                                                                    \
	__attribute__((cleanup(abd_cancel_restore), unused)) const int abd_cancel_kept = \
		abd_cancel_disable()

static inline size_t abd_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/**
 * size rounded up to a multiple of unit, a power of two. The caller makes sure that it can't wrap.
 */
static inline size_t abd_round_up(size_t size, size_t unit)
{
	return (size + unit - 1) & ~(unit - 1);
}

/**
 * Copy a struct to a caller that may know a shorter or longer version of it: copy what both know,
 * and zero the rest of the caller's.
 */
static inline void abd_record_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
	size_t known = abd_min(to_size, from_size);

	memcpy(to, from, known);
	memset((char *)to + known, 0, to_size - known);
}

/** Position of the highest bit set, from 0. x > 0. */
static inline unsigned abd_log2(size_t x)
{
	return (unsigned)(8 * sizeof(unsigned long) - 1) - (unsigned)__builtin_clzl(x);
}

#endif
