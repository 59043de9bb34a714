/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding a range against decoding the whole record: every offset of a small record, random
 * offsets of a large one, by every decoder.
 */
#include "abd_lz4_decode.h"
#include "abd_test.h"

/*
 * Words from a small vocabulary between random bytes: matches near and far, literals short and
 * long.
 */
static abd_t *make_record(size_t size, uint64_t seed)
{
	abd_t *abd = abd_alloc(size, false);
	uint8_t *bytes = malloc(size);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(abd_test_random(&seed) % 8 == 0 ? abd_test_random(&seed)
								     : i / 7 % 50);
	for (size_t i = 0; i + 4096 < size; i += 9000)
		memcpy(bytes + i + 2000, bytes + i / 2, 1500);
	abd_copy_from_buf(abd, bytes, size);
	free(bytes);
	return abd;
}

static void check_range(
	const abd_t *record, const abd_t *block, size_t block_size, size_t off, size_t size)
{
	size_t record_size = abd_get_size(record);
	size_t there = off >= record_size ? 0 : size < record_size - off ? size : record_size - off;
	uint8_t *dst = malloc(size + 16);

	memset(dst, 0xa5, size + 16);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(dst, block, off, size, 0, block_size),
		(ssize_t)there, "%zu +%zu of %zu", off, size, record_size);
	if (there > 0)
		cr_assert(abd_equal_buf_off(record, dst, off, there), "%zu +%zu", off, size);
	for (size_t i = size; i < size + 16; i++)
		cr_assert_eq(dst[i], 0xa5, "written behind the range %zu +%zu", off, size);
	free(dst);
}

static void each_decoder(void (*check)(const abd_t *record, const abd_t *block, size_t block_size),
	size_t record_size)
{
	abd_tuning_set("max_order", "0");
	abd_t *record = make_record(record_size, record_size),
	      *block = abd_alloc(record_size, false);
	ssize_t block_size = abd_lz4_compress(block, record, 0, 0, record_size);

	cr_assert_gt(block_size, 0);
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++)
		if (abd_tuning_set("lz4", abd_lz4_decoders[i]->name) == 0)
			check(record, block, (size_t)block_size);
	abd_tuning_set("lz4", "auto");
	abd_tuning_set("max_order", "10");
	abd_free(record);
	abd_free(block);
}

static void every_offset(const abd_t *record, const abd_t *block, size_t block_size)
{
	for (size_t off = 0; off <= abd_get_size(record) + 2; off++) {
		check_range(record, block, block_size, off, 1);
		check_range(record, block, block_size, off, 33);
		check_range(record, block, block_size, off, abd_get_size(record));
	}
}

Test(abd_lz4_range, every_offset_of_a_small_record_gives_what_is_there)
{
	each_decoder(every_offset, 700);
}

static void random_offsets(const abd_t *record, const abd_t *block, size_t block_size)
{
	uint64_t seed = 5;

	for (int i = 0; i < 300; i++)
		check_range(record, block, block_size,
			(size_t)abd_test_random(&seed) % (abd_get_size(record) + 5000),
			(size_t)abd_test_random(&seed) % 9000);
}

Test(abd_lz4_range, random_offsets_of_a_large_record_give_what_is_there)
{
	each_decoder(random_offsets, 300000);
}

Test(abd_lz4_range, hostile_ranges_ask_for_no_more_memory_than_the_block_can_fill)
{
	abd_t *record = make_record(5000, 1), *block = abd_alloc(5000, false);
	size_t size = (size_t)abd_lz4_compress(block, record, 0, 0, 5000);
	uint8_t byte[8192];

	cr_assert_eq(abd_lz4_decompress_range_to_buf(byte, block, SIZE_MAX, 1, 0, size), 0);
	cr_assert_eq(
		abd_lz4_decompress_range_to_buf(byte, block, SIZE_MAX / 2, SIZE_MAX, 0, size), 0);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(byte, block, 1, SIZE_MAX, 0, size), 4999);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(NULL, block, 0, 0, 0, size), 0);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(NULL, block, 9, 0, 0, size), 0);
	abd_free(record);
	abd_free(block);
}

/* Where sizes have 32 bits, 255 times this block's size is less than the offset. */
Test(abd_lz4_range, a_range_of_a_large_block_gives_what_is_there)
{
	enum { RECORD = 16800000, OFF = 10000000 };
	uint8_t *bytes = malloc(RECORD), range[100];
	uint64_t seed = 1;

	for (size_t i = 0; i < RECORD; i++)
		bytes[i] = (uint8_t)abd_test_random(&seed);

	abd_t *record = abd_get_from_buf(bytes, RECORD), *block = abd_alloc(RECORD + 70000, false);
	ssize_t size = abd_lz4_compress(block, record, 0, 0, RECORD);

	cr_assert_gt(size, 16843010);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(range, block, OFF, 100, 0, (size_t)size), 100);
	cr_assert(memcmp(range, bytes + OFF, 100) == 0);
	abd_free(record);
	abd_free(block);
	free(bytes);
}

Test(abd_lz4_range, damage_before_the_range_is_told)
{
	abd_t *record = make_record(9000, 2), *block = abd_alloc(9000, false);
	size_t size = (size_t)abd_lz4_compress(block, record, 0, 0, 9000);
	uint8_t byte[100];

	/* A first match that reaches back before the record. */
	abd_copy_from_buf_off(block, "\x00\xff\xff\x00", 0, 4);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(byte, block, 5000, 100, 0, size), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(byte, block, 0, 100, 0, size), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(byte, block, 5000, 100, 0, 0), -EBADMSG);
	abd_free(record);
	abd_free(block);
}

/* Past the record's end there is nothing, and finding that out takes no memory. */
static void past_the_end(const abd_t *record, const abd_t *block, size_t block_size)
{
	size_t size = abd_get_size(record);
	const size_t far[] = {size, size + 1, size + 4096, (size_t)16 << 20, ((size_t)16 << 20) + 1,
		(size_t)INT32_MAX, (size_t)INT32_MAX + 1, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
	uint8_t dst[100];

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		ssize_t got;

		abd_test_fault_at(0);
		got = abd_lz4_decompress_range_to_buf(dst, block, far[i], 100, 0, block_size);
		abd_test_fault_end();
		cr_assert_eq(got, 0, "%zu of %zu: %zd", far[i], size, got);
	}
	/* A range that begins within is short, however far it would reach. */
	check_range(record, block, block_size, size - 1, 100);
	abd_test_fault_at(0);
	cr_assert_eq(
		abd_lz4_decompress_range_to_buf(dst, block, size - 1, 100, 0, block_size), -ENOMEM);
	abd_test_fault_end();
}

/* A block that is cut, wherever, says how much it holds as far as it goes. */
static void cut_anywhere(const abd_t *record, const abd_t *block, size_t block_size)
{
	size_t empty = 0, least = abd_get_size(record) / 2;
	uint8_t dst[8];

	for (size_t cut = 1; cut <= block_size; cut++) {
		ssize_t got;

		abd_test_fault_at(0);
		got = abd_lz4_decompress_range_to_buf(dst, block, least, 8, 0, cut);
		abd_test_fault_end();
		cr_assert(got == 0 || got == -ENOMEM, "cut at %zu: %zd", cut, got);
		empty += got == 0;
	}
	cr_assert(empty > 0 && empty < block_size);
}

Test(abd_lz4_range, past_the_end_there_is_nothing_and_no_memory_is_needed)
{
	char reserve[32];

	snprintf(reserve, sizeof(reserve), "%s", abd_tuning_get("thread_cache_bytes"));
	abd_tuning_set("thread_cache_bytes", "0"); /* reserves can't be refused */
	abd_cache_reap_now();
	each_decoder(past_the_end, 70000);
	each_decoder(cut_anywhere, 3000);
	abd_tuning_set("thread_cache_bytes", reserve);
}
