/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binary interface as programs meet it. What the headers say of it on 64 bits stands in
 * libabd-x86_64.txt, to which tests/made holds them; what differs on 32 bits is said here. A change
 * to any of it breaks programs that were built before, so it needs a new SONAME. Structs that hold
 * their own size may grow at the end.
 */
#include "abd_test.h"
#include <assert.h>

#if UINTPTR_MAX == UINT32_MAX
#define size(type, bytes) static_assert(sizeof(type) == (bytes), "the size of " #type " changed")
size(abd_t, 40);
static_assert(offsetof(abd_t, abd_u) == 28, "fields of abd_t moved");
size(struct abd_allocator, 12);
size(struct abd_stats, 8 * 33);
#if ABD_HAS_ARC
size(struct abd_arc_config, 52);
size(abd_arc_hold_t, 20);
size(abd_arc_key_t, 32);
#endif
#if ABD_HAS_URING
size(struct abd_uring, 24);
#endif
#endif

/*
 * What the compiler of this program takes a record for, the library takes it for as well.
 */
Test(abd_abi, the_library_fills_records_of_the_size_that_headers_say)
{
	struct {
		struct abd_stats stats;
		uint64_t behind;
	} s = {.behind = 0x5555555555555555u};
	struct {
		struct abd_pool_stats stats;
		uint64_t behind;
	} p = {.behind = 0x5555555555555555u};

	cr_assert_eq(abd_stats_get(&s.stats, sizeof(s)), 0);
	cr_assert_eq(s.behind, 0, "the library's record is longer than the header's");
	s.behind = 1;
	cr_assert_eq(abd_stats_get(&s.stats, sizeof(s.stats)), 0);
	cr_assert_eq(s.behind, 1);
	cr_assert_eq(abd_pool_stats_get(&p.stats, sizeof(p)), 0);
	cr_assert_eq(p.behind, 0, "the library's record is longer than the header's");
}

static int fill(void *buf, size_t size, void *value)
{
	memset(buf, *(const int *)value, size);
	return 0;
}

/* A buffer in the caller's struct is written no further than the header says. */
Test(abd_abi, a_callers_struct_is_as_long_as_the_library_takes_it_for)
{
	struct {
		unsigned char before[64];
		abd_t abd;
		unsigned char behind[64];
	} s;
	int value = 7;
	unsigned char guard[64];

	memset(guard, 0x55, sizeof(guard));
	memset(&s, 0x55, sizeof(s));
	cr_assert_eq(abd_alloc_linear_struct(&s.abd, 100, true), &s.abd);
	cr_assert_eq(abd_get_size(&s.abd), 100);
	cr_assert_eq(abd_iterate_func(&s.abd, 0, 100, fill, &value), 0);
	cr_assert_eq(((char *)abd_to_buf(&s.abd))[99], 7);
	abd_free(&s.abd);
	cr_assert_arr_eq(s.before, guard, sizeof(guard));
	cr_assert_arr_eq(s.behind, guard, sizeof(guard));
}
