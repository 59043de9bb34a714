/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes what the system answers the library: calls fail, and CPUs lack features. The linker sends
 * the library's calls here (--wrap, in tests/CMakeLists.txt); the C library's own calls are not
 * affected.
 * What the library chooses once per process needs a test in a new process: see abd_test_child.h.
 */
#ifndef ABD_TEST_WRAP_H
#define ABD_TEST_WRAP_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum abd_test_call {
	ABD_TEST_MMAP,
	ABD_TEST_KEY_CREATE,
	ABD_TEST_SETSPECIFIC,
	ABD_TEST_SYSINFO,
	ABD_TEST_GETRANDOM,
	ABD_TEST_CALLS,
};

/**
 * From here on only the n-th of these calls fails; the next call has number 1. n = 0: no call
 * fails.
 */
void abd_test_wrap_fail(enum abd_test_call call, unsigned n);

/**
 * From here on the system takes no memory back: it refuses munmap() (1), MADV_DONTNEED in either
 * form (2), both (3); 0: nothing.
 */
void abd_test_wrap_refuse(unsigned what);

/** From here on now() gives this clock's time, in ns. NULL: the system gives it again. */
void abd_test_wrap_clock(clockid_t clock, int64_t (*now)(void));

/** Hide CPU features from the library: bit n hides number n of enum abd_cpu_feature. */
void abd_test_cpu_hide(uint32_t features);

/** From here on sysinfo() reports this much more swap than the machine has, in its own units. */
void abd_test_wrap_swap(unsigned long more);

/**
 * From here on these calls of the library set errno as well, though they succeed: madvise(),
 * munmap(), free(), aligned_alloc(), nanosleep() and syscall(). 0: no more. Returns how often they
 * did so since the last call.
 */
unsigned abd_test_wrap_errno(int error);

/** From here on count how often this mutex is taken. Returns how often the one before was. */
unsigned abd_test_wrap_locks(pthread_mutex_t *mutex);

/**
 * From here on this is called where the library begins to wait for readers. NULL: nothing is. Only
 * where liburcu does it: builds for ThreadSanitizer and MemorySanitizer have another in its place.
 */
void abd_test_wrap_synchronize(void (*function)(void));

#endif
