/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressing with effort and with an index, from and to buffers: what comes out depends on the
 * bytes alone, and only the room is written.
 */
#include "test_lz4_block.h"

#include <abd/tuning.h>
#include <limits.h>

enum { SIZE = 90000, GROUP = 16384 };

static uint8_t record[SIZE], block[SIZE + 2000];

enum { PLAIN = -1 }; /* an effort: without groups */

static ssize_t compress(
	abd_t *dst, const abd_t *src, size_t src_off, int effort, struct abd_lz4_index *index)
{
	return effort == PLAIN
		       ? abd_lz4_compress(dst, src, 0, src_off, SIZE)
		       : abd_lz4_compress_indexed(dst, src, 0, src_off, SIZE, GROUP, effort, index);
}

/* The record from byte off on in runs of up to 4 KiB << order. */
static abd_t *record_in_runs(size_t off, unsigned order)
{
	char text[2] = {(char)('0' + order), 0};
	abd_t *abd;

	abd_tuning_set("max_order", text);
	abd = abd_alloc(off + SIZE, false);
	abd_tuning_set("max_order", "10");
	abd_copy_from_buf_off(abd, record, off, SIZE);
	return abd;
}

/* Compress the record in pieces of up to most bytes, or in runs, into pieces of up to most. */
static void check_pieces(const uint8_t *expected, size_t size, const struct abd_lz4_index *wanted,
	size_t index_size, size_t most, int effort, uint64_t *seed)
{
	bool runs = most % 2 == 0;
	size_t off = runs ? most % 10000 : 0;
	abd_t *src = runs ? record_in_runs(off, (unsigned)most / 2 % 4)
			  : test_record_in_pieces(record, SIZE, most, seed);
	abd_t *dst = test_record_in_pieces(block, sizeof(block), most, seed);
	struct abd_lz4_index *index = calloc(1, index_size);

	abd_test_check(compress(dst, src, off, effort, index) == (ssize_t)size,
		"pieces up to %zu: another size", most);
	abd_test_check(abd_cmp_buf_off(dst, expected, 0, size) == 0 &&
			       memcmp(index, wanted, index_size) == 0,
		"pieces up to %zu: another block, or index", most);
	free(index);
	abd_free(src);
	abd_free(dst);
}

static void check_segmentation(int effort, size_t cases)
{
	size_t index_size = abd_lz4_index_size(SIZE, GROUP), size;
	struct abd_lz4_index *index = calloc(1, index_size);
	uint8_t *expected = malloc(sizeof(block));
	abd_t *src, *dst;
	uint64_t seed = 5;

	for (size_t at = 0; at < SIZE; at += 15000)
		test_record_fill(record + at, 15000, (unsigned)(at / 15000), at);
	src = abd_get_from_buf(record, SIZE);
	dst = abd_get_from_buf(expected, sizeof(block));
	size = (size_t)compress(dst, src, 0, effort, index);
	cr_assert_eq(test_block_fault(expected, size, record, SIZE, effort == PLAIN ? NULL : index),
		NULL);
	cr_assert(effort == PLAIN || abd_lz4_index_check(index, index_size, size) == 0);
	for (size_t i = 0; i < cases; i++)
		check_pieces(expected, size, index, index_size,
			16 + abd_test_random_below(&seed, i % 3 == 0 ? 3000 : 40000), effort,
			&seed);
	abd_free(src);
	abd_free(dst);
	free(expected);
	free(index);
}

Test(abd_lz4_compress, a_thousand_ways_to_split_the_same_bytes_give_the_same_block)
{
	check_segmentation(PLAIN, abd_test_share(1000));
	check_segmentation(0, abd_test_share(700));
	check_segmentation(3, abd_test_share(300));
}

Test(abd_lz4_compress, one_byte_too_few_is_told_and_left_alone)
{
	struct abd_lz4_index *index = malloc(abd_lz4_index_size(SIZE, GROUP));

	for (unsigned kind = 0; kind < TEST_RECORD_KINDS; kind++)
		for (int effort = 0; effort <= 3; effort += 3) {
			abd_t *src = abd_get_from_buf(record, SIZE), *dst;
			size_t size;

			test_record_fill(record, SIZE, kind, kind);
			dst = abd_get_from_buf(block, sizeof(block));
			size = (size_t)abd_lz4_compress_indexed(
				dst, src, 3, 0, SIZE, GROUP, effort, index);
			abd_free(dst);
			block[3 + size - 1] = block[3 + size] = 0xa5;
			dst = abd_get_from_buf(block, 3 + size - 1);
			cr_assert_eq(abd_lz4_compress_indexed(
					     dst, src, 3, 0, SIZE, GROUP, effort, index),
				-ENOSPC);
			cr_assert_eq(block[3 + size - 1], 0xa5);
			abd_free(dst);
			dst = abd_get_from_buf(block, 3 + size);
			cr_assert_eq(abd_lz4_compress_indexed(
					     dst, src, 3, 0, SIZE, GROUP, effort, index),
				(ssize_t)size);
			cr_assert_eq(block[3 + size], 0xa5);
			abd_free(dst);
			abd_free(src);
		}
	free(index);
}

Test(abd_lz4_compress, effort_is_the_same_call_below_3_and_smaller_from_there)
{
	abd_t *src = abd_get_from_buf(record, SIZE), *dst = abd_get_from_buf(block, sizeof(block));
	ssize_t plain, deep;

	test_record_fill(record, SIZE, 0, 9);
	plain = abd_lz4_compress(dst, src, 0, 0, SIZE);
	for (int effort = 0; effort < 3; effort++)
		cr_assert_eq(abd_lz4_compress_effort(dst, src, 0, 0, SIZE, effort), plain);
	deep = abd_lz4_compress_effort(dst, src, 0, 0, SIZE, 3);
	cr_assert_lt(deep, plain);
	cr_assert_eq(test_block_fault(block, (size_t)deep, record, SIZE, NULL), NULL);
	cr_assert_lt(abd_lz4_compress_effort(dst, src, 0, 0, SIZE, 12), deep);
	abd_free(src);
	abd_free(dst);
}

/* What the address space can't serve can be said with zeros, which take no memory. */
Test(abd_lz4_compress, what_can_not_be_is_told)
{
	abd_t *src = abd_get_zeros(0x7e000001u), *dst = abd_get_from_buf(block, sizeof(block));
	struct abd_lz4_index index;

	cr_assert_eq(abd_lz4_compress_effort(dst, src, 0, 0, 0x7e000001u, 3), -EINVAL);
	cr_assert_eq(
		abd_lz4_compress_indexed(dst, src, 0, 0, 0x7e000001u, GROUP, 0, &index), -EINVAL);
	cr_assert_eq(abd_lz4_compress_indexed(dst, src, 0, 0, 100, 1000, 0, &index), -EINVAL);
	static const int no_efforts[] = {-1, 13, INT_MIN, INT_MAX};

	for (size_t i = 0; i < 4; i++) {
		cr_assert_eq(abd_lz4_compress_effort(dst, src, 0, 0, 100, no_efforts[i]), -EINVAL);
		cr_assert_eq(
			abd_lz4_compress_indexed(dst, src, 0, 0, 100, GROUP, no_efforts[i], &index),
			-EINVAL);
	}
	cr_assert_eq(abd_lz4_compress_indexed(dst, src, 0, 0, 0, GROUP, 0, &index), 1);
	cr_assert_eq(index.count, 0);
	for (int effort = 0; effort <= 3; effort += 3)
		abd_test_expect_contract(
			(void)abd_lz4_compress_effort(dst, src, sizeof(block) + 1, 0, 1, effort),
			"abd_lz4_compress_effort: range");
	abd_test_expect_contract(
		(void)abd_lz4_compress_indexed(dst, src, sizeof(block) + 1, 0, 0, GROUP, 0, &index),
		"abd_lz4_compress_indexed: range");
	abd_test_expect_contract(
		(void)abd_lz4_compress_indexed(dst, src, 0, 0, 0, GROUP, 0, NULL), "NULL");
	abd_free(src);
	abd_free(dst);
}
