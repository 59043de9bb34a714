/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of blocks with an index: by every decoder, from pieces of every length, and with indexes
 * that lie.
 */
#include "abd_lz4_decode.h"
#include "test_lz4_block.h"

#include <limits.h>

enum { SIZE = 200000, GUARD = 32 };

static uint8_t record[SIZE], back[SIZE + GUARD];

struct indexed {
	abd_t *block;
	size_t size, index_size;
	struct abd_lz4_index *index;
};

/* Compress the record, and put the block into pieces of up to most bytes. */
static void compress(struct indexed *to, size_t size, size_t group_size, int effort, size_t most)
{
	size_t room = size + size / 200 + 64;
	uint8_t *bytes = malloc(room);
	abd_t *src = abd_get_from_buf(record, size), *dst = abd_get_from_buf(bytes, room);
	uint64_t seed = most;

	to->index_size = abd_lz4_index_size(size, group_size);
	to->index = malloc(to->index_size);
	to->size = (size_t)abd_lz4_compress_indexed(
		dst, src, 0, 0, size, group_size, effort, to->index);
	to->block = test_record_in_pieces(bytes, to->size, most, &seed);
	abd_free(src);
	abd_free(dst);
	free(bytes);
}

static void drop(struct indexed *from)
{
	abd_free(from->block);
	free(from->index);
}

static void check_range(const struct indexed *from, size_t record_size, size_t off, size_t size)
{
	size_t there = off >= record_size ? 0 : size < record_size - off ? size : record_size - off;
	ssize_t got;

	memset(back + size, 0xa5, GUARD);
	got = abd_lz4_decompress_indexed_range_to_buf(
		back, from->block, off, size, 0, from->size, from->index);
	abd_test_check(got == (ssize_t)there, "%zu +%zu of %zu: %zd", off, size, record_size, got);
	abd_test_check(there == 0 || memcmp(back, record + off, there) == 0,
		"%zu +%zu: other bytes", off, size);
	for (size_t i = size; i < size + GUARD; i++)
		abd_test_check(back[i] == 0xa5, "written behind the range %zu +%zu", off, size);
}

static void check_record(size_t size, size_t group_size, int effort, size_t most, uint64_t *seed)
{
	struct indexed from;

	compress(&from, size, group_size, effort, most);
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++) {
		if (abd_tuning_set("lz4", abd_lz4_decoders[i]->name) != 0)
			continue;
		check_range(&from, size, 0, size);
		for (size_t at = 0; at < size; at += group_size) {
			check_range(&from, size, at, 1);
			if (at % 16384 == 0)
				check_range(&from, size, at, size - at);
			check_range(&from, size, at + group_size - 1, 2);
		}
		for (int k = 0; k < 20; k++)
			check_range(&from, size, abd_test_random_below(seed, size + 100),
				abd_test_random_below(seed, k % 4 == 0 ? size : 5000));
	}
	abd_tuning_set("lz4", "auto");
	drop(&from);
}

Test(abd_lz4_decompress_indexed, ranges_of_all_kinds_of_data_come_back)
{
	static const size_t sizes[] = {1, 1024, 65536, 70001, 131072, SIZE};
	uint64_t seed = 1;
	size_t cases = abd_test_share(TEST_RECORD_KINDS * 6);

	for (size_t i = 0; i < cases; i++) {
		size_t size = sizes[i / TEST_RECORD_KINDS];

		test_record_fill(record, size, (unsigned)(i % TEST_RECORD_KINDS), i);
		check_record(size, 1024, 0, 4096, &seed);
		check_record(size, 16384, 3, 300, &seed);
		check_record(size, 65536, 3, 100000, &seed);
	}
}

/* Noise in front of each 64 KiB: literals that reach past hubs, groups and 64 KiB. */
Test(abd_lz4_decompress_indexed, groups_in_which_no_sequence_begins_come_back)
{
	uint64_t seed = 2;

	test_record_fill(record, SIZE, 0, 1);
	test_record_fill(record + 60000, 30000, 2, 1);
	test_record_fill(record + 131072, 3000, 2, 2);
	check_record(SIZE, 16384, 0, 4096, &seed);
	check_record(SIZE, 4096, 3, 4096, &seed);
	test_record_fill(record + 100000, 100000, 2, 3);
	check_record(SIZE, 16384, 3, 4096, &seed);
}

/* Each answer is -EBADMSG or bytes, and only the range is written. */
static size_t check_lie(const struct indexed *from, uint64_t *seed)
{
	size_t refused = 0;

	for (int i = 0; i < 6; i++) {
		size_t off = abd_test_random_below(seed, SIZE);
		size_t size = abd_test_random_below(seed, i % 3 == 0 ? SIZE : 5000);
		ssize_t got;

		memset(back + size, 0xa5, GUARD);
		got = abd_lz4_decompress_indexed_range_to_buf(
			back, from->block, off, size, 0, from->size, from->index);
		abd_test_check(got == -EBADMSG || (got >= 0 && (size_t)got <= size), "%zd", got);
		for (size_t k = size; k < size + GUARD; k++)
			abd_test_check(back[k] == 0xa5, "written behind the range");
		refused += got < 0;
	}
	return refused;
}

Test(abd_lz4_decompress_indexed, an_index_that_lies_is_refused_or_harmless)
{
	static const uint32_t values[] = {
		0, 1, 511, 1024, 16384, 65536, 0x7fffffff, 0x80000000, 0xffff0000, UINT32_MAX};
	struct indexed from;
	struct abd_lz4_index *sound;
	uint64_t seed = 3;
	size_t refused = 0, words, cases = abd_test_share(3000);

	test_record_fill(record, SIZE, 0, 1);
	test_record_fill(record + 90000, 20000, 2, 1);
	compress(&from, SIZE, 16384, 3, 1000);
	sound = malloc(from.index_size);
	memcpy(sound, from.index, from.index_size);
	words = from.index_size / 4;
	for (size_t i = 0; i < cases; i++) {
		/* count, the third word, may only shrink: it says how much memory there is. */
		size_t word = abd_test_random_below(&seed, words);
		uint32_t value = values[abd_test_random_below(&seed, 10)];

		if (i % 2 == 0)
			value = ((uint32_t *)from.index)[word] +
				(uint32_t)abd_test_random_below(&seed, 9) - 4;
		if (word != 2 || value < sound->count)
			((uint32_t *)from.index)[word] = value;
		refused += check_lie(&from, &seed);
		if (i % 4 == 3)
			memcpy(from.index, sound, from.index_size);
	}
	cr_assert_gt(refused, cases / 4);
	free(sound);
	drop(&from);
}

/*
 * A group in several runs of input and behind its hub, damaged, by every decoder: what the first
 * one says of it, all say, and nothing behind dst_size is written.
 */
static bool check_damaged(const struct indexed *from, const uint8_t *bytes, size_t size,
	size_t most, size_t dst_size, size_t stop)
{
	static uint8_t first[32768];
	uint8_t *dst = back + 32768;
	ssize_t expected = -1, got;
	struct iovec runs[64];
	size_t count = 0;

	for (size_t at = 0; at < size; at += most)
		runs[count++] = (struct iovec){
			(void *)(uintptr_t)(bytes + at), most < size - at ? most : size - at};
	ABD_TEST_EACH(abd_lz4_decoder, decoder, abd_lz4_decoders) {
		size_t sure;

		memset(dst + dst_size, 0xa5, GUARD);
		got = decoder->decode(
			dst, dst_size, stop, runs, 0, size, back, from->index->hub_size);
		for (size_t k = dst_size; k < dst_size + GUARD; k++)
			abd_test_check(dst[k] == 0xa5, "%s: written behind", decoder->name);
		if (expected == -1) {
			expected = got;
			memcpy(first, dst, dst_size);
		}
		abd_test_check(got == expected || stop < dst_size, "%s: %zd, not %zd",
			decoder->name, got, expected);
		sure = got < 0 || expected < 0 ? 0 : (size_t)(got < expected ? got : expected);
		sure = sure < stop ? sure : stop;
		abd_test_check(memcmp(first, dst, sure) == 0, "%s: other bytes", decoder->name);
	}
	return expected < 0;
}

Test(abd_lz4_decompress_indexed, every_decoder_says_the_same_of_a_damaged_group)
{
	static uint8_t bytes[32768];
	size_t cases = abd_test_share(20000), refused = 0;
	struct indexed from;
	uint64_t seed = 5;

	for (size_t i = 0; i < cases; i++) {
		if (i % 100 == 0) {
			if (i > 0)
				drop(&from);
			test_record_fill(record, 65536, (unsigned)(i / 100 % TEST_RECORD_KINDS), i);
			compress(&from, 65536, 16384, (int)(i / 100 % 2) * 3, 1 << 20);
		}

		uint32_t begin = from.index->points[2].stored;
		size_t left = from.size - begin;
		size_t size = abd_test_random_below(&seed, left < 20000 ? left + 1 : 20001);
		size_t dst_size = i % 4 == 0 ? abd_test_random_below(&seed, 3000) : 20000;
		size_t stop = i % 5 == 0   ? ABD_LZ4_STOP_WHOLE
			      : i % 5 == 1 ? abd_test_random_below(&seed, dst_size + 1)
					   : ABD_LZ4_STOP_PREFIX;
		size_t most =
			i % 3 == 0 ? size / 60 + 1 + abd_test_random_below(&seed, 400) : 32768;

		/* The hub lies where it is in the record; dst is the group's place. */
		memcpy(back, record, from.index->hub_size);
		memset(back + from.index->hub_size, 0, ABD_LZ4_HUB_MARGIN);
		abd_copy_to_buf_off(bytes, from.block, begin, size);
		for (size_t k = abd_test_random_below(&seed, 4); k > 0 && size > 0; k--)
			bytes[abd_test_random_below(&seed, size)] =
				i % 2 == 0 ? 0xff : (uint8_t)abd_test_random_below(&seed, 256);
		refused += check_damaged(&from, bytes, size, most, dst_size, stop);
	}
	drop(&from);
	cr_assert_gt(refused, cases / 10);
}

Test(abd_lz4_decompress_indexed, a_match_may_not_reach_out_of_the_hub_by_its_length)
{
	static uint8_t bytes[1000];
	struct abd_lz4_index index = {16384, 4096, 3, 0};
	struct indexed from = {.index = &index};
	/* A literal; a match 20 bytes ahead of the hub's end, of 19 bytes and ext more. */
	size_t offset = 32768 + 1 - (index.hub_size - 20);

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = 0x1f;
	bytes[2] = (uint8_t)offset;
	bytes[3] = (uint8_t)(offset >> 8);
	bytes[5] = 0xf0; /* literals to the end */
	memset(bytes + 6, 255, 3);
	bytes[9] = (uint8_t)(sizeof(bytes) - 10 - 15 - 3 * 255);
	for (unsigned ext = 0; ext < 60; ext++) {
		bytes[4] = (uint8_t)ext;
		cr_assert_eq(check_damaged(&from, bytes, sizeof(bytes), sizeof(bytes), 20000,
				     ABD_LZ4_STOP_PREFIX),
			ext > 1, "%u", ext);
	}
}

#define REFUSED(field, value, off)                                                           \
	do {                                                                                 \
		uint32_t before = from.index->field;                                         \
		from.index->field = (value);                                                 \
		cr_assert_eq(abd_lz4_decompress_indexed_range_to_buf(                        \
				     back, from.block, off, 4096, 0, from.size, from.index), \
			-EBADMSG, "%s = %s", #field, #value);                                \
		from.index->field = before;                                                  \
	} while (0)

Test(abd_lz4_decompress_indexed, what_an_index_says_is_checked_before_it_is_used)
{
	struct indexed from;

	test_record_fill(record, SIZE, 0, 1);
	compress(&from, SIZE, 16384, 0, 4096);
	REFUSED(group_size, 0, 100);
	REFUSED(group_size, 0x80000000u, 100);
	REFUSED(hub_size, 16385, 100);
	REFUSED(points[0].logical, 101, 100);
	REFUSED(points[6].logical, 6 * 16384 - 1, 7 * 16384 - 1);
	REFUSED(points[6].stored, (uint32_t)from.size + 1, 7 * 16384 - 1);
	REFUSED(points[4].logical, 4 * 16384 - 1, 7 * 16384 - 1);
	REFUSED(points[4].logical, UINT32_MAX, 7 * 16384 - 1);
	REFUSED(points[4].stored, UINT32_MAX, 7 * 16384 - 1);
	REFUSED(points[8].stored, UINT32_MAX, 8 * 16384 - 100);
	REFUSED(points[8].logical, 0, 8 * 16384 - 100);
	/* The block ends before the range, or within the hub; a match reaches out of the hub. */
	REFUSED(points[6].stored, (uint32_t)from.size, 7 * 16384 - 100);
	REFUSED(points[4].stored, (uint32_t)from.size, 7 * 16384 - 100);
	REFUSED(points[4].stored, from.index->points[12].stored, 7 * 16384 - 100);
	REFUSED(hub_size, 100, 7 * 16384 - 100);
	drop(&from);
}

Test(abd_lz4_decompress_indexed, ends_and_errors_are_those_of_ranges)
{
	struct indexed from;

	test_record_fill(record, SIZE, 0, 1);
	compress(&from, SIZE, 16384, 0, 4096);
	check_range(&from, SIZE, SIZE, 10);
	check_range(&from, SIZE, SIZE - 1, 10);
	check_range(&from, SIZE, 50000, 0);
	cr_assert_eq(abd_lz4_decompress_indexed_range_to_buf(
			     back, from.block, SIZE_MAX, SIZE_MAX, 0, from.size, from.index),
		0);
	cr_assert_eq(abd_lz4_decompress_indexed_range_to_buf(
			     NULL, from.block, 9, 0, 0, from.size, from.index),
		0);
	cr_assert_eq(
		abd_lz4_decompress_indexed_range_to_buf(back, from.block, 0, 10, 0, 0, from.index),
		-EBADMSG);
	/* A block that is cut short of the range. */
	cr_assert_eq(abd_lz4_decompress_indexed_range_to_buf(
			     back, from.block, 60000, 100, 0, 20000, from.index),
		-EBADMSG);
	abd_test_expect_contract((void)abd_lz4_decompress_indexed_range_to_buf(
					 back, from.block, 0, 1, 1, from.size, from.index),
		"abd_lz4_decompress_indexed_range_to_buf: range");
	abd_test_expect_contract((void)abd_lz4_decompress_indexed_range_to_buf(
					 NULL, from.block, 0, 1, 0, from.size, from.index),
		"NULL");
	abd_test_expect_contract((void)abd_lz4_decompress_indexed_range_to_buf(
					 back, from.block, 0, 1, 0, from.size, NULL),
		"NULL");
	drop(&from);
}

Test(abd_lz4_decompress_indexed, no_memory_for_a_list_of_many_pieces_is_said)
{
	struct indexed from;
	char reserve[32];

	test_record_fill(record, SIZE, 0, 1);
	compress(&from, SIZE, 16384, 0, 300);
	snprintf(reserve, sizeof(reserve), "%s", abd_tuning_get("thread_cache_bytes"));
	abd_tuning_set("thread_cache_bytes", "0"); /* reserves can't be refused */
	abd_test_fault_at(0);
	cr_expect_eq(abd_lz4_decompress_indexed_range_to_buf(
			     back, from.block, 0, 10, 0, from.size, from.index),
		-ENOMEM);
	abd_test_fault_end();
	abd_tuning_set("thread_cache_bytes", reserve);
	check_range(&from, SIZE, 0, 10);
	drop(&from);
}

#if SIZE_MAX > UINT32_MAX
Test(abd_lz4_decompress_indexed, a_block_of_2_gib_is_refused)
{
	abd_t *zeros = abd_get_zeros((size_t)INT_MAX + 1);
	struct abd_lz4_index index = {16384, 8192, 0, 0};

	cr_assert_eq(abd_lz4_decompress_indexed_range_to_buf(
			     back, zeros, 0, 10, 0, (size_t)INT_MAX + 1, &index),
		-EINVAL);
	abd_free(zeros);
}
#endif
