/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 over every pair of kinds: compressed data comes back, damage is reported, nothing is written
 * outside the room.
 */
#include "abd_test_fixture.h"

#include <lz4.h>

#define SIZE ABD_TEST_KIND_SIZE

/* Half random, half a pattern, so that blocks have literals and matches. */
static void make_compressible(struct abd_test_buffer *b)
{
	size_t at = 0;

	for (size_t i = 0; i < b->piece_count; at += b->piece[i].iov_len, i++)
		for (size_t k = 0; b->writes && k < b->piece[i].iov_len; k++)
			if ((at + k) / 256 % 2 == 0)
				b->model[at + k] = ((uint8_t *)b->piece[i].iov_base)[k] =
					(uint8_t)((at + k) / 512);
}

static void check_outside(struct abd_test_buffer *b, size_t off, size_t room, const char *what)
{
	/* Inside the room anything may be: take it over, then nothing may differ. */
	abd_copy_to_buf_off(b->model + off, b->abd, off, room);
	abd_test_check(abd_test_differs(b) == b->size, "%s of %s wrote byte %zu", what, b->kind,
		abd_test_differs(b));
}

/* The block of n bytes at off of src: nothing but n is the right length, and nothing but the range
 * is written. */
static void check_exact(
	struct abd_test_buffer *dst, struct abd_test_buffer *src, size_t n, size_t off, size_t size)
{
	static const size_t wrong[] = {0, 1, 8999, 9001, 9050};
	char *buf = malloc(9100);

	memset(buf, 0x5a, 9100);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_eq(abd_lz4_decompress_exact(dst->abd, src->abd, 2, wrong[i], off, size),
			-EBADMSG, "%zu of %zu", wrong[i], n);
		check_outside(dst, 2, wrong[i], "decompress_exact");
		cr_assert_eq(abd_lz4_decompress_exact_to_buf(buf, src->abd, wrong[i], off, size),
			-EBADMSG, "%zu of %zu", wrong[i], n);
		for (size_t k = wrong[i]; k < 9100; k++)
			abd_test_check(buf[k] == 0x5a, "byte %zu behind %zu", k, wrong[i]);
		memset(buf, 0x5a, 9100);
	}
	cr_assert_eq(abd_lz4_decompress_exact(dst->abd, src->abd, 2, n, off, size), (ssize_t)n);
	check_outside(dst, 2, n, "decompress_exact");
	cr_assert_eq(abd_lz4_decompress_exact_to_buf(buf, src->abd, n, off, size), (ssize_t)n);
	cr_assert_eq(abd_cmp_buf_off(dst->abd, buf, 2, n), 0);
	cr_assert_eq(buf[n], 0x5a);
	free(buf);
}

static void check_pair(size_t src_kind, size_t dst_kind)
{
	struct abd_test_buffer src, dst, back;
	ssize_t size;

	abd_test_build(&src, src_kind, src_kind + 1);
	abd_test_build(&dst, dst_kind, 2);
	abd_test_build(&back, dst_kind, 3);
	make_compressible(&src);
	if (dst.writes) {
		size_t n = 9000, off = SIZE - (size_t)LZ4_compressBound((int)n) - 1;

		size = abd_lz4_compress(dst.abd, src.abd, off, 5, n);
		cr_assert(size > 0 && (!src.writes || (size_t)size < n), "%s to %s: %zd", src.kind,
			dst.kind, size);
		check_outside(&dst, off, SIZE - off, "compress");
		cr_assert_eq(abd_lz4_decompress(back.abd, dst.abd, 3, n + 50, off, (size_t)size),
			(ssize_t)n);
		cr_assert(abd_equal_off(back.abd, src.abd, 3, 5, n));
		check_outside(&back, 3, n + 50, "decompress");
		/* Room for exactly what there is, and one byte less. */
		cr_assert_eq(
			abd_lz4_decompress(back.abd, dst.abd, 1, n, off, (size_t)size), (ssize_t)n);
		check_outside(&back, 1, n, "decompress");
		cr_assert_eq(abd_lz4_decompress(back.abd, dst.abd, 1, n - 1, off, (size_t)size),
			-EBADMSG);
		check_outside(&back, 1, n - 1, "decompress");
		check_exact(&back, &dst, n, off, (size_t)size);
	}
	abd_test_drop(&back);
	abd_test_drop(&dst);
	abd_test_drop(&src);
}

TestSuite(abd_lz4, .init = begin, .fini = end);

Test(abd_lz4, every_pair_of_kinds_compresses_and_comes_back)
{
	for (size_t i = 0; i < abd_test_kind_count * abd_test_kind_count; i++)
		check_pair(i / abd_test_kind_count, i % abd_test_kind_count);
}

Test(abd_lz4, room_that_is_too_small_is_told)
{
	struct abd_test_buffer src;

	abd_test_build(&src, 5, 1); /* random: it grows */
	for (size_t room = 1; room < 200; room += 7) {
		abd_t *dst = abd_alloc_linear(room, false);

		cr_assert_eq(abd_lz4_compress(dst, src.abd, 0, 0, 1000), -ENOSPC);
		cr_assert_eq(abd_lz4_compress(dst, src.abd, room, 0, 1000), -ENOSPC);
		abd_free(dst);
	}
	abd_test_drop(&src);
}

Test(abd_lz4, nothing_compresses_to_a_token)
{
	abd_t *abd = abd_alloc(5000, false), *dst = abd_alloc(5000, false);
	char byte = 7;

	cr_assert_eq(abd_lz4_compress(dst, abd, 4999, 5000, 0), 1);
	cr_assert_eq(abd_lz4_decompress_to_buf(NULL, dst, 0, 4999, 1), 0);
	cr_assert_eq(abd_lz4_decompress_to_buf(&byte, dst, 1, 4999, 1), 0);
	cr_assert_eq(abd_lz4_decompress(abd, dst, 5000, 0, 4999, 1), 0);
	cr_assert_eq(byte, 7);
	cr_assert_eq(abd_lz4_decompress_to_buf(&byte, dst, 1, 10, 0), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress(abd, dst, 10, 1, 10, 0), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_exact(abd, dst, 5000, 0, 4999, 1), 0);
	cr_assert_eq(abd_lz4_decompress_exact_to_buf(NULL, dst, 0, 4999, 1), 0);
	cr_assert_eq(abd_lz4_decompress_exact_to_buf(&byte, dst, 1, 4999, 1), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_exact(abd, dst, 10, 0, 10, 0), -EBADMSG);
	abd_free(abd);
	abd_free(dst);
}

Test(abd_lz4, sizes_that_lz4_can_not_serve_are_invalid)
{
	abd_t *zeros = abd_get_zeros((size_t)3 << 30), *dst = abd_alloc(5000, false);
	char byte;

	cr_assert_eq(abd_lz4_compress(dst, zeros, 0, 0, LZ4_MAX_INPUT_SIZE + 1u), -EINVAL);
	cr_assert_eq(abd_lz4_decompress_to_buf(&byte, zeros, 1, 0, (size_t)3 << 30), -EINVAL);
	cr_assert_eq(abd_lz4_decompress(dst, zeros, 0, 5000, 0, (size_t)3 << 30), -EINVAL);
	cr_assert_eq(abd_lz4_decompress_exact(dst, zeros, 0, 5000, 0, (size_t)3 << 30), -EINVAL);
	abd_free(dst);
	abd_free(zeros);
}
