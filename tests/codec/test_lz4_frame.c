/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ZFS's length in front of a block, its rule of an eighth, and a block exchanged that way.
 */
#include "abd_test.h"

Test(abd_lz4_frame, an_eighth_must_be_saved)
{
	cr_assert(abd_lz4_pays(8192, 7168));
	cr_assert_not(abd_lz4_pays(8192, 7169));
	cr_assert(abd_lz4_pays(8, 7));
	cr_assert_not(abd_lz4_pays(8, 8));
	cr_assert_not(abd_lz4_pays(0, 0));
	cr_assert(abd_lz4_pays(SIZE_MAX, 1));
}

Test(abd_lz4_frame, the_length_is_big_endian_wherever_runs_end)
{
	abd_test_provider_begin();
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer buffer;
		size_t offsets[ABD_TEST_OFFSETS];

		abd_test_build(&buffer, kind, kind);

		size_t count = abd_test_offsets(&buffer, offsets);

		for (size_t i = 0; buffer.writes && i < count; i++) {
			const uint8_t want[4] = {0, 0, 0x01, 0x02};
			size_t off = offsets[i];

			if (off + 4 + 0x102 > buffer.size)
				break;
			abd_lz4_length_put(buffer.abd, off, 0x102);
			cr_assert_eq(abd_cmp_buf_off(buffer.abd, want, off, 4), 0, "%s %zu",
				buffer.kind, off);
			cr_assert_eq(abd_lz4_length_get(buffer.abd, off, 4 + 0x102), 0x102);
			cr_assert_eq(abd_lz4_length_get(buffer.abd, off, 4 + 0x101), -EBADMSG,
				"a length that says more than there is");
		}
		abd_test_drop(&buffer);
	}
	abd_test_provider_end();
}

Test(abd_lz4_frame, each_byte_of_the_length_counts)
{
	static const uint32_t lengths[] = {1, 1 << 8, 1 << 16, 1 << 24, 0x1020304};
	enum { BLOCK = 0x1020304 };
	abd_t *header = abd_alloc_linear(ABD_LZ4_LENGTH_SIZE, false), *zeros = abd_get_zeros(BLOCK),
	      *framed = abd_alloc_gang();

	cr_assert_eq(abd_gang_add(framed, header, true), 0);
	cr_assert_eq(abd_gang_add(framed, zeros, true), 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		abd_lz4_length_put(framed, 0, lengths[i]);
		cr_assert_eq(
			(size_t)abd_lz4_length_get(framed, 0, 4 + (size_t)lengths[i]), lengths[i]);
		cr_assert_eq(abd_lz4_length_get(framed, 0, 3 + (size_t)lengths[i]), -EBADMSG);
	}
	abd_free(framed);
}

Test(abd_lz4_frame, too_few_bytes_for_a_length_are_damage)
{
	uint8_t bytes[8] = {0xff, 0xff, 0xff, 0xff};
	abd_t abd;

	abd_get_from_buf_struct(&abd, bytes, sizeof(bytes));
	for (size_t size = 0; size < 4; size++)
		cr_assert_eq(abd_lz4_length_get(&abd, 0, size), -EBADMSG);
	cr_assert_eq(abd_lz4_length_get(&abd, 0, 8), -EBADMSG, "4 GiB in 8 bytes");
	cr_assert_eq(abd_lz4_length_get(&abd, 4, 4), 0);
	abd_free(&abd);
}

Test(abd_lz4_frame, a_block_goes_out_and_comes_back_with_its_length_in_front)
{
	enum { SIZE = 20000 };
	abd_t *record = abd_alloc(SIZE, false), *framed = abd_alloc(SIZE, false),
	      *back = abd_alloc(SIZE, false);
	ssize_t block, length;

	for (size_t i = 0; i < SIZE; i += 10)
		abd_copy_from_buf_off(record, "ten bytes!", i, 10);
	block = abd_lz4_compress(framed, record, ABD_LZ4_LENGTH_SIZE, 0, SIZE);
	cr_assert_gt(block, 0);
	cr_assert(abd_lz4_pays(SIZE, (size_t)block + ABD_LZ4_LENGTH_SIZE));
	abd_lz4_length_put(framed, 0, (uint32_t)block);

	/* As read from a disk: padded to a sector, so only the length says where the block ends. */
	length = abd_lz4_length_get(framed, 0, ((size_t)block + 4 + 511) / 512 * 512);
	cr_assert_eq(length, block);
	cr_assert_eq(abd_lz4_decompress(back, framed, 0, SIZE, ABD_LZ4_LENGTH_SIZE, (size_t)length),
		SIZE);
	cr_assert(abd_equal(record, back));
	abd_free(record);
	abd_free(framed);
	abd_free(back);
}
