/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the system answers the library, bent: calls that fail, and CPUs that lack features. The
 * linker sends these calls to us (--wrap, in tests/CMakeLists.txt); those of the C library's own
 * are not touched.
 * What is chosen once per process wants a process of its own; see abd_test_child.h.
 */
#ifndef ABD_TEST_WRAP_H
#define ABD_TEST_WRAP_H

#include <stdint.h>

enum abd_test_call {
	ABD_TEST_MMAP,
	ABD_TEST_KEY_CREATE,
	ABD_TEST_SETSPECIFIC,
	ABD_TEST_SYSINFO,
	ABD_TEST_GETRANDOM,
	ABD_TEST_CALLS,
};

/** Let the n-th of these calls fail from here on, the next being 1, and no other; 0: none. */
void abd_test_wrap_fail(enum abd_test_call call, unsigned n);

/** Let this answer, in ns, whoever asks for a thread's CPU time; NULL: the system again. */
void abd_test_wrap_cpu_time(int64_t (*now)(void));

/** CPU features the library is not told of: bit n for number n of enum abd_cpu_feature. */
void abd_test_cpu_hide(uint32_t features);

/** More swap than the machine has, in sysinfo()'s units. */
void abd_test_wrap_swap(unsigned long more);

#endif
