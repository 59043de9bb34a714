/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binary interface in figures: sizes and offsets of public structs, values of constants. A
 * change to any of them breaks programs that were built before, so it needs a new SONAME. Structs
 * that hold their own size may grow at the end. tests/gates/abi compares the whole interface; this
 * test works on every architecture and shows the figures in the source.
 */
#include "abd_test.h"
#include <assert.h>

#define at(type, member, place) \
	static_assert(offsetof(type, member) == (place), #member " of " #type " moved")
#define size(type, bytes) static_assert(sizeof(type) == (bytes), "the size of " #type " changed")
#define value(name, number) static_assert((name) == (number), "the value of " #name " changed")

#if UINTPTR_MAX > UINT32_MAX
size(abd_t, 64);
at(abd_t, abd_flags, 0);
at(abd_t, abd_size, 8);
at(abd_t, abd_parent, 16);
at(abd_t, abd_u, 40);
size(struct abd_allocator, 24);
#else
size(abd_t, 44);
at(abd_t, abd_flags, 0);
at(abd_t, abd_size, 8);
at(abd_t, abd_parent, 12);
at(abd_t, abd_u, 28);
size(struct abd_allocator, 12);
#endif

/* The same everywhere: 8-byte fields only. */
size(struct abd_stats, 8 * 31);
at(struct abd_stats, scatter_order, 8 * 6);
at(struct abd_stats, scatter_multi_chunk, 8 * 22);
at(struct abd_stats, borrow_copy_bytes, 8 * 26);
at(struct abd_stats, resident_regions, 8 * 27);
at(struct abd_stats, resident_pool, 8 * 30);
size(struct abd_pool_stats, 8 * 19);
at(struct abd_pool_stats, free_runs, 8 * 3);

value(ABD_STATS_ORDERS, 16);
value(ABD_FLAG_LINEAR, 1);
value(ABD_FLAG_OWNER, 2);
value(ABD_FLAG_META, 4);
value(ABD_FLAG_MULTI_ZONE, 8);
value(ABD_FLAG_MULTI_CHUNK, 16);
value(ABD_FLAG_LINEAR_PAGE, 32);
value(ABD_FLAG_GANG, 64);
value(ABD_FLAG_GANG_FREE, 128);
value(ABD_FLAG_ALLOCD, 256);
value(ABD_FLAG_FROM_PAGES, 512);
value(ABD_FLUSH_AUTO, 0);
value(ABD_FLUSH_SHARED, 1);
value(ABD_FLUSH_EXCLUSIVE, 2);
value(ABD_FLUSH_NODRAIN, 256);
value(ABD_KEY_INLINE_SIZE, 64);

#if ABD_HAS_ARC
#if UINTPTR_MAX > UINT32_MAX
size(struct abd_arc_config, 88);
at(struct abd_arc_config, flags, 28);
at(struct abd_arc_config, lz4_index_min, 32);
at(struct abd_arc_config, evicted_cb, 40);
size(abd_arc_evicted_t, 72);
at(abd_arc_evicted_t, flags, 56);
at(abd_arc_evicted_t, entry, 64);
size(abd_arc_hold_t, 40);
at(abd_arc_hold_t, compressed, 24);
at(abd_arc_hold_t, entry, 32);
#else
size(struct abd_arc_config, 52);
size(abd_arc_hold_t, 20);
#endif
size(abd_arc_key_t, 32);
at(abd_arc_key_t, birth, 24);
size(struct abd_arc_stats, 8 * 40);
value(ABD_ARC_SECOND_TIME, 2);
value(ABD_ARC_ALIGNED, 4);
value(ABD_ARC_REINDEX, 8);
value(ABD_ARC_NO_GHOSTS, 16);
at(struct abd_arc_stats, capacity_bytes, 8 * 14);
value(ABD_ARC_CHECKSUM, 1);
value(ABD_ARC_METADATA, 1);
value(ABD_ARC_CAPACITY_MIN, 64 << 10);
value(ABD_ARC_RECORD_MAX, 0x7e000000);
#endif

#if ABD_HAS_URING && UINTPTR_MAX > UINT32_MAX
size(struct abd_uring, 40);
at(struct abd_uring, abd_base, 8);
at(struct abd_uring, abd_size, 16);
at(struct abd_uring, abd_home, 24);
at(struct abd_uring, abd_mark, 32);
#elif ABD_HAS_URING
size(struct abd_uring, 24);
#endif

/*
 * What was laid down above was laid down by the compiler of this program; the library says the same
 * of its own.
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
