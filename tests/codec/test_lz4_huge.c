/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record of more than 2 GiB, a size that no int holds. All its bytes are alike, so it can be
 * decoded into the same 2 MiB over and over.
 */
#include "abd_lz4_decode.h"
#include "abd_test.h"

#include <assert.h>

#define PIECE ((size_t)2 << 20)
/* 2.1 GiB, as match of one byte: 255 and 255 and so on. */
#define EXTENSIONS ((size_t)8800000)
#define RECORD_SIZE (1 + 15 + 4 + 255 * EXTENSIONS + 12)

/* Not where each line is counted or watched: there this takes minutes. */
static bool is_fast(void)
{
#if defined(NDEBUG) && !defined(ABD_COVERAGE)
	return sizeof(void *) == 8 && getenv("ABD_TEST_EMULATOR") == NULL;
#else
	return false;
#endif
}

static uint8_t *same_memory_over_and_over(size_t size)
{
	uint8_t *map =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int file = memfd_create("test_lz4_huge", 0);

	cr_assert(map != MAP_FAILED && file >= 0 && ftruncate(file, PIECE) == 0);
	for (size_t off = 0; off < size; off += PIECE)
		cr_assert(mmap(map + off, abd_min(PIECE, size - off), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_FIXED, file, 0) == map + off);
	close(file);
	return map;
}

/* One literal, a match of it that is as long as all the rest, twelve literals. */
static abd_t *make_block(size_t *size)
{
	uint8_t *bytes = malloc(EXTENSIONS + 32), *to = bytes;
	abd_t *abd = abd_alloc(EXTENSIONS + 32, false);

	*to++ = 0x1f;
	*to++ = 'x';
	*to++ = 1;
	*to++ = 0;
	memset(to, 255, EXTENSIONS);
	to += EXTENSIONS;
	*to++ = 0;
	*to++ = 12 << 4;
	memset(to, 'x', 12);
	to += 12;
	*size = (size_t)(to - bytes);
	abd_copy_from_buf_off(abd, bytes, 0, *size);
	free(bytes);
	return abd;
}

static void check_huge(const abd_t *block, size_t block_size, uint8_t *dst, size_t room)
{
	uint8_t end[100];

	/* Whole; with too little room; as far as wanted. */
	cr_assert_eq(
		abd_lz4_decompress_to_buf(dst, block, room, 0, block_size), (ssize_t)RECORD_SIZE);
	cr_assert_eq(
		abd_lz4_decompress_to_buf(dst, block, RECORD_SIZE - 1, 0, block_size), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(dst, block, 0, (size_t)5 << 29, 0, block_size),
		(ssize_t)RECORD_SIZE);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(
			     dst, block, 0, ((size_t)1 << 31) + 5, 0, block_size),
		((ssize_t)1 << 31) + 5);
	/* Past the end. */
	cr_assert_eq(
		abd_lz4_decompress_range_to_buf(end, block, RECORD_SIZE, 100, 0, block_size), 0);
	cr_assert_eq(
		abd_lz4_decompress_range_to_buf(end, block, SIZE_MAX >> 26, 100, 0, block_size), 0);
}

Test(abd_lz4_huge, a_record_of_more_than_2_gib_is_decoded_whole_and_in_part)
{
	size_t block_size, room = (RECORD_SIZE + 4096 + PIECE) / PIECE * PIECE;
	uint8_t *dst;
	abd_t *block;

	if (!is_fast())
		return;
	static_assert(RECORD_SIZE > (size_t)1 << 31, "more than an int counts");
	dst = same_memory_over_and_over((size_t)5 << 29);
	block = make_block(&block_size);
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++)
		if (abd_tuning_set("lz4", abd_lz4_decoders[i]->name) == 0)
			check_huge(block, block_size, dst, room);
	abd_tuning_set("lz4", "auto");
	if (getenv("ABD_TEST_LONG") != NULL) { /* 2 GiB of memory */
		uint8_t end[100];

		cr_assert_eq(abd_lz4_decompress_range_to_buf(
				     end, block, (size_t)1 << 31, 100, 0, block_size),
			100);
		cr_assert(end[0] == 'x' && end[99] == 'x');
		cr_assert_eq(abd_lz4_decompress_range_to_buf(
				     end, block, RECORD_SIZE - 7, 100, 0, block_size),
			7);
	}
	abd_free(block);
	munmap(dst, (size_t)5 << 29);
}
