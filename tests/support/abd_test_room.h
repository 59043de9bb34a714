/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory between pages that can't be touched, for tests of kernels: what reads or writes outside of
 * it ends the test.
 */
#ifndef ABD_TEST_ROOM_H
#define ABD_TEST_ROOM_H

#include "abd_test.h"

enum { ABD_TEST_ROOM = 16384 };

/** ABD_TEST_ROOM bytes. */
static inline void *abd_test_room_map(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *base =
		mmap(NULL, ABD_TEST_ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(base != MAP_FAILED);
	cr_assert_eq(mprotect(base + page, ABD_TEST_ROOM, PROT_READ | PROT_WRITE), 0);
	return base + page;
}

static inline void abd_test_room_unmap(void *room)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap((char *)room - page, ABD_TEST_ROOM + 2 * page);
}

static inline bool abd_test_is_all(const void *p, size_t size, char byte)
{
	for (size_t i = 0; i < size; i++)
		if (((const char *)p)[i] != byte)
			return false;
	return true;
}

#endif
