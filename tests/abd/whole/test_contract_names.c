/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line about a broken contract names the call that the user made, and never a call that the
 * library made on the way. That a call names itself for each pointer that is NULL is what
 * tests/nulls.py makes a test of.
 */
#include "abd_quarantine.h"
#include "abd_test.h"

#pragma GCC diagnostic ignored "-Wunused-result" /* nothing is returned */

/*
 * A call that is left in its middle, as no engine's handler leaves it, keeps what it has allocated.
 * AddressSanitizer would report that.
 */
#ifdef ABD_ASAN
void __lsan_disable(void);
void __lsan_enable(void);
#define breaks_and_leaks(name, ...)                 \
	do {                                        \
		__lsan_disable();                   \
		abd_test_breaks(name, __VA_ARGS__); \
		__lsan_enable();                    \
	} while (0)
#else
#define breaks_and_leaks abd_test_breaks
#endif

enum { SIZE = 20000 };

static abd_t *abd, *linear, *zeros, *mixed;
static char flat[2 * SIZE];

static void begin(void)
{
	abd = abd_alloc(SIZE, false);
	linear = abd_alloc_linear(SIZE, false);
	zeros = abd_get_zeros(SIZE);
	/* The first piece can be written, the second can't. */
	mixed = abd_alloc_gang();
	cr_assert(abd != NULL && linear != NULL && zeros != NULL && mixed != NULL);
	cr_assert_eq(abd_gang_add(mixed, abd_alloc_linear(16, false), true), 0);
	cr_assert_eq(abd_gang_add(mixed, abd_get_zeros(2 * SIZE), true), 0);
	abd_zero(abd, SIZE);
	abd_zero(linear, SIZE);
}

static void end(void)
{
	abd_free(mixed);
	abd_free(zeros);
	abd_free(linear);
	abd_free(abd);
}

static int visit(void *buf, size_t size, void *priv)
{
	return 0;
}

static int visit_const(const void *buf, size_t size, void *priv)
{
	return 0;
}

static int visit2(void *a, void *b, size_t size, void *priv)
{
	return 0;
}

TestSuite(abd_contract_names, .init = begin, .fini = end);

Test(abd_contract_names, making_and_ending)
{
	struct iovec holes[2] = {{flat, 10}, {NULL, 10}};
	abd_t child;

	child = (abd_t){0};
	abd_test_breaks(abd_free, &child);
	abd_test_breaks(abd_free_const, abd);
	abd_test_breaks(abd_buf_free, flat, 0);
	abd_test_breaks(abd_buf_free_marked, flat, 0, true);
	abd_test_breaks(abd_get_offset, abd, SIZE + 1);
	abd_test_breaks(abd_get_offset_const, abd, 1, SIZE);
	abd_test_breaks(abd_get_offset_size, abd, 1, SIZE);
	abd_test_breaks(abd_get_offset_struct, &child, abd, 1, SIZE);
	abd_test_breaks(abd_gang_add, abd, linear, false);
	abd_test_breaks(abd_from_iov, holes, 2);
}

Test(abd_contract_names, converting)
{
	size_t covered;

	abd_test_breaks(abd_to_buf, mixed);
	abd_test_breaks(abd_to_buf_const, mixed);
	abd_test_breaks(abd_to_iov, abd, 1, SIZE, NULL, 0, &covered);
	abd_test_breaks(abd_borrow_buf, abd, SIZE + 1);
	abd_test_breaks(abd_borrow_buf_copy, abd, SIZE + 1);
	abd_test_breaks(abd_borrow_buf_const, abd, SIZE + 1);
	abd_test_breaks(abd_return_buf, linear, flat, 10);
	abd_test_breaks(abd_return_buf_const, linear, flat, 10);
	abd_test_breaks(abd_return_buf_copy, linear, flat, 10);
	abd_test_breaks(abd_take_ownership_of_buf, linear, false);
	abd_test_breaks(abd_release_ownership_of_buf, mixed);

#if !ABD_CHECKED
	/* Nothing can be returned to zeros, whose copy was borrowed. Checked builds end the borrow
	 * first, and the copy with it is lost. */
	void *buf = abd_borrow_buf_copy(mixed, 100);

	abd_test_breaks(abd_return_buf_copy, mixed, buf, 100);
	abd_return_buf(mixed, buf, 100); /* the copy is still out */
#endif
}

Test(abd_contract_names, operating)
{
	abd_test_breaks(abd_iterate_func, abd, 1, SIZE, visit, NULL);
	abd_test_breaks(abd_iterate_func_const, abd, 1, SIZE, visit_const, NULL);
	abd_test_breaks(abd_iterate_func2, abd, linear, 0, 1, SIZE, visit2, NULL);
	abd_test_breaks(abd_span_begin, &(abd_span_t){0}, abd, 1, SIZE);
	abd_test_breaks(abd_span_begin_const, &(abd_span_const_t){0}, abd, 1, SIZE);
	abd_test_breaks(abd_copy_off, abd, linear, 0, 1, SIZE);
	abd_test_breaks(abd_copy_stream_off, abd, linear, 0, 1, SIZE);
	abd_test_breaks(abd_copy_stream_off, zeros, linear, 0, 0, SIZE);
	abd_test_breaks(abd_copy_off, zeros, linear, 0, 0, SIZE);
	abd_test_breaks(abd_copy, abd, linear, SIZE + 1);
	abd_test_breaks(abd_copy_from_buf_off, abd, flat, 1, SIZE);
	abd_test_breaks(abd_copy_from_buf_off, mixed, flat, 0, 100);
	abd_test_breaks(abd_copy_from_buf, abd, flat, SIZE + 1);
	abd_test_breaks(abd_copy_to_buf_off, flat, abd, 1, SIZE);
	abd_test_breaks(abd_copy_to_buf, flat, abd, SIZE + 1);
	abd_test_breaks(abd_cmp, abd, mixed);
	abd_test_breaks(abd_cmp_buf_off, abd, flat, 1, SIZE);
	abd_test_breaks(abd_cmp_buf, abd, flat, SIZE + 1);
	abd_test_breaks(abd_cmp_zero_off, abd, 1, SIZE);
	abd_test_breaks(abd_cmp_zero, abd, SIZE + 1);
	abd_test_breaks(abd_zero_off, zeros, 0, 1);
	abd_test_breaks(abd_zero, abd, SIZE + 1);
	abd_test_breaks(abd_equal_off, abd, linear, 1, 0, SIZE);
	abd_test_breaks(abd_equal_buf_off, abd, flat, 1, SIZE);
	abd_test_breaks(abd_diff_off, abd, linear, 1, 0, SIZE);
	abd_test_breaks(abd_flush_copy_off, abd, linear, 1, 0, SIZE, 0);
	abd_test_breaks(abd_flush_copy_off, zeros, linear, 0, 0, SIZE, 0);
	abd_test_breaks(abd_flush_copy_to_buf_off, flat, abd, 1, SIZE, 0);
	abd_test_breaks(abd_flush_copy_from_buf_off, mixed, flat, 0, 100, 0);
}

Test(abd_contract_names, coding)
{
	uint64_t checksum[4];
	struct abd_lz4_index index = {1024, 512, 0, 0};
	ssize_t stored = abd_lz4_compress(linear, abd, 0, 0, SIZE);

	cr_assert(stored > 0);
	abd_test_breaks(abd_lz4_compress, abd, linear, 0, 1, SIZE);
#if ABD_CHECKED /* valgrind, too, would report the leak; it runs the build without checks */
	breaks_and_leaks(abd_lz4_compress, mixed, abd, 0, 0, SIZE);
#endif
	abd_test_breaks(abd_lz4_decompress, abd, linear, 0, SIZE, 1, SIZE);
	abd_test_breaks(abd_lz4_decompress, mixed, linear, 0, SIZE, 0, (size_t)stored);
	abd_test_breaks(abd_lz4_decompress_exact, abd, linear, 0, SIZE, 1, SIZE);
	abd_test_breaks(abd_lz4_decompress_to_buf, flat, abd, SIZE, 1, SIZE);
	abd_test_breaks(abd_lz4_decompress_exact_to_buf, flat, abd, SIZE, 1, SIZE);
	abd_test_breaks(abd_lz4_decompress_range_to_buf, flat, abd, 0, SIZE, 1, SIZE);
	abd_test_breaks(abd_lz4_compress_effort, abd, linear, 0, 1, SIZE, 3);
	abd_test_breaks(abd_lz4_compress_indexed, abd, linear, 0, 1, SIZE, 1024, 0, &index);
	abd_test_breaks(
		abd_lz4_decompress_indexed_range_to_buf, flat, abd, 0, SIZE, 1, SIZE, &index);
	abd_test_breaks(abd_lz4_length_get, abd, 1, SIZE);
	abd_test_breaks(abd_lz4_might_pay, abd, 1, SIZE);
	abd_test_breaks(abd_lz4_length_put, mixed, 14, 1);
	abd_test_breaks(abd_fletcher_4, abd, 1, SIZE, checksum);
	abd_test_breaks(abd_fletcher_4_swapped, abd, 1, SIZE, checksum);
	abd_test_breaks(abd_crc32c, abd, 1, SIZE, 0);
	abd_test_breaks(abd_xxh3, abd, 1, SIZE, 0);
}

Test(abd_contract_names, reading_writing_and_asking)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	abd_test_breaks(abd_pread, fd, abd, 1, SIZE, 0);
	abd_test_breaks(abd_pread, fd, zeros, 0, SIZE, 0);
	abd_test_breaks(abd_pwrite, fd, abd, 1, SIZE, 0);
	close(fd);
}

#if ABD_HAS_ARC
Test(abd_contract_names, caching)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = ABD_ARC_CAPACITY_MIN};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_key_t key = {1, {2, 3}, 4};
	abd_arc_hold_t hold = {0};
	abd_arc_fill_t fill = {0};

	cr_assert_not_null(arc);
	abd_test_breaks(abd_arc_hold_dup, &hold, &hold);
	abd_test_breaks(abd_arc_hold_drop, arc, &hold);
	abd_test_breaks(abd_arc_fill_commit, &fill, 10, 10, 0, NULL);
	cr_assert_eq(abd_arc_put(arc, &key, "record", 6), 0);
	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	abd_test_breaks(abd_arc_destroy, arc);
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
}
#endif
