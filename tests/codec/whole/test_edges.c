/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The codec at its edges: sizes that an lz4 block can't have, records in more runs than a table on
 * the stack holds, memory that is refused at each site, calls that break their contract.
 */
#include "abd_fletcher.h"
#include "abd_lz4_decode.h"
#include "abd_test_fixture.h"

#include <limits.h>
#include <lz4.h>

enum {
	PAGES = 100, /* more runs than are kept on the stack */
	SIZE = PAGES * 4096,
};

static uint8_t *data;

static void make_data(void)
{
	uint64_t random = 7;

	data = malloc(SIZE);
	cr_assert_not_null(data);
	abd_test_random_fill(&random, data, SIZE);
	for (size_t i = 0; i < SIZE; i += 512)
		memset(data + i, 'x', 100);
}

static abd_t *scattered(size_t size)
{
	abd_t *abd;

	abd_tuning_set("max_order", "0");
	abd = abd_alloc(size, false);
	cr_assert(abd != NULL && !abd_is_linear(abd));
	return abd;
}

/* A gang of so many pieces, which has no table of runs to lend. */
static abd_t *gang_of(size_t pieces, size_t size)
{
	abd_t *gang = abd_alloc_gang();

	for (size_t i = 0; i < pieces; i++)
		cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(size / pieces, false), true), 0);
	return gang;
}

/* src holds a block of data at off; decode it to linear memory and to runs, by every decoder. */
static void check_decodes(const abd_t *src, size_t off, size_t size)
{
	uint8_t *buf = malloc(SIZE);
	abd_t *dst = scattered(SIZE + 5);

	for (const struct abd_lz4_decoder *const *d = abd_lz4_decoders; *d != NULL; d++) {
		if (abd_tuning_set("lz4", (*d)->name) != 0)
			continue;
		cr_assert_str_eq(abd_test_tunable("lz4"), (*d)->name);
		memset(buf, 0, SIZE);
		cr_assert_eq(abd_lz4_decompress_to_buf(buf, src, SIZE, off, size), SIZE, "%s",
			(*d)->name);
		cr_assert(memcmp(buf, data, SIZE) == 0, "%s", (*d)->name);
		abd_zero(dst, SIZE);
		cr_assert_eq(
			abd_lz4_decompress(dst, src, 5, SIZE, off, size), SIZE, "%s", (*d)->name);
		cr_assert_eq(abd_cmp_buf_off(dst, data, 5, SIZE), 0, "%s", (*d)->name);
	}
	abd_tuning_set("lz4", "auto");
	abd_free(dst);
	free(buf);
}

TestSuite(abd_codec_edges, .init = begin, .fini = end);

Test(abd_codec_edges, a_record_in_a_hundred_runs_or_children_is_decoded)
{
	abd_t *from, *block, *gang;
	ssize_t size;

	make_data();
	from = scattered(SIZE);
	block = scattered(SIZE + (2 << 12));
	gang = gang_of(PAGES, SIZE + 2 * PAGES);
	abd_copy_from_buf(from, data, SIZE);
	for (size_t off = 0; off < 5000; off += 4999) {
		size = abd_lz4_compress(block, from, off, 0, SIZE);
		cr_assert_gt(size, 70 * 4096);
		check_decodes(block, off, (size_t)size);
	}
	size = abd_lz4_compress(gang, from, 3, 0, SIZE);
	cr_assert_gt(size, 70 * 4096);
	check_decodes(gang, 3, (size_t)size);
	abd_free(from);
	abd_free(block);
	abd_free(gang);
	free(data);
}

/*
 * Each decoder may need memory of its own; whatever is refused, it says so and leaves nothing
 * behind.
 */
Test(abd_codec_edges, memory_refused_while_decoding_is_told_at_every_site)
{
	abd_t *gang, *from, *dst;
	uint8_t *buf = malloc(SIZE);
	ssize_t size;

	make_data();
	from = scattered(SIZE);
	dst = gang_of(PAGES, SIZE);
	gang = gang_of(PAGES, SIZE + 2 * PAGES);
	abd_copy_from_buf(from, data, SIZE);
	size = abd_lz4_compress(gang, from, 3, 0, SIZE);
	cr_assert_gt(size, 0);
	for (const struct abd_lz4_decoder *const *d = abd_lz4_decoders; *d != NULL; d++) {
		ssize_t got[3] = {-ENOMEM, -ENOMEM, -ENOMEM};

		if (abd_tuning_set("lz4", (*d)->name) != 0)
			continue;
		for (size_t n = 0; got[0] == -ENOMEM || got[1] == -ENOMEM || got[2] == -ENOMEM;
			n++) {
			size_t sites[3];

			cr_assert_lt(n, 10, "%s", (*d)->name);
			abd_test_fault_at(n);
			got[0] = abd_lz4_decompress(dst, gang, 0, SIZE, 3, (size_t)size);
			sites[0] = abd_test_fault_end();
			abd_test_fault_at(n);
			got[1] = abd_lz4_decompress_to_buf(buf, gang, SIZE, 3, (size_t)size);
			sites[1] = abd_test_fault_end();
			abd_test_fault_at(n);
			got[2] = abd_lz4_decompress_range_to_buf(buf, gang, 9, 50, 3, (size_t)size);
			sites[2] = abd_test_fault_end();
			cr_assert_eq(got[0], n < sites[0] ? -ENOMEM : SIZE, "%s", (*d)->name);
			cr_assert_eq(got[1], n < sites[1] ? -ENOMEM : SIZE, "%s", (*d)->name);
			cr_assert_eq(got[2], n < sites[2] ? -ENOMEM : 50, "%s", (*d)->name);
		}
		cr_assert_eq(abd_cmp_buf_off(dst, data, 0, SIZE), 0);
	}
	abd_tuning_set("lz4", "auto");
	abd_free(gang);
	abd_free(from);
	abd_free(dst);
	free(buf);
	free(data);
}

Test(abd_codec_edges, a_block_is_never_longer_than_an_int)
{
	abd_t *zeros = abd_get_zeros((size_t)3 << 30), *dst = scattered(5 << 12);
	size_t long_size = (size_t)INT_MAX + 1;
	char buf[10];

	cr_assert_eq(abd_lz4_compress(dst, zeros, 0, 0, long_size), -EINVAL);
	cr_assert_eq(abd_lz4_decompress(dst, zeros, 0, 5 << 12, 0, long_size), -EINVAL);
	cr_assert_eq(abd_lz4_decompress_to_buf(buf, zeros, 10, 0, long_size), -EINVAL);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(buf, zeros, 5, 5, 0, long_size), -EINVAL);
	abd_free(zeros);
	abd_free(dst);
}

Test(abd_codec_edges, no_bytes_are_no_block)
{
	abd_t *src = scattered(5 << 12), *dst = scattered(5 << 12);
	char buf[10];

	cr_assert_eq(abd_lz4_decompress(dst, src, 0, 5 << 12, 3, 0), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_to_buf(buf, src, 10, 3, 0), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_range_to_buf(buf, src, 5, 5, 3, 0), -EBADMSG);
	abd_free(src);
	abd_free(dst);
}

/*
 * A buffer of zeros is a block too: no literals, then a match at offset 0, which the format
 * forbids.
 */
Test(abd_codec_edges, zeros_are_no_block)
{
	abd_t *zeros = abd_get_zeros(SIZE), *dst = scattered(5 << 12);
	char buf[10];

	cr_assert_eq(abd_lz4_decompress(dst, zeros, 0, 5 << 12, 0, SIZE), -EBADMSG);
	cr_assert_eq(abd_lz4_decompress_to_buf(buf, zeros, 10, 0, SIZE), -EBADMSG);
	abd_free(zeros);
	abd_free(dst);
}

Test(abd_codec_edges, no_decoder_has_that_name)
{
	cr_assert_eq(abd_tuning_set("lz4", "none"), -EINVAL);
}

Test(abd_codec_edges, an_empty_span_changes_no_checksum)
{
	char text[] = "12345678abcd";
	struct abd_fletcher_state state;
	uint64_t with[4], without[4];

	abd_fletcher_begin(&state, abd_fletcher_for(0), false);
	abd_fletcher_add(&state, (struct iovec[]){{text, 8}, {text + 8, 0}, {text + 8, 4}}, 3);
	abd_fletcher_end(&state, with);
	abd_fletcher_begin(&state,
		(const struct abd_fletcher_kernel *)abd_choice_find(&abd_fletcher_choice, "scalar"),
		false);
	abd_fletcher_add(&state, &(struct iovec){text, 12}, 1);
	abd_fletcher_end(&state, without);
	cr_assert_arr_eq(with, without, sizeof(with));
}

/*
 * Decoding that stops early gives the wanted bytes, by every decoder, where the block is one piece
 * and where it is not.
 */
Test(abd_codec_edges, decoding_stops_where_it_is_told)
{
	char *block = malloc(2 * SIZE), *to = malloc(SIZE);
	int size;

	make_data();
	size = LZ4_compress_default((char *)data, block, SIZE, 2 * SIZE);
	cr_assert_gt(size, 1000);
	for (const struct abd_lz4_decoder *const *d = abd_lz4_decoders; *d != NULL; d++) {
		const struct iovec runs[] = {{block, 700}, {block + 700, (size_t)size - 700}};
		static const size_t stops[] = {0, 1, 99, 4096, SIZE - 1};

		if (!(*d)->supported())
			continue;
		for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
			memset(to, 0, SIZE);
			ssize_t got =
				(*d)->decode(to, SIZE, stops[i], runs, 0, (size_t)size, NULL, 0);

			cr_assert(got >= (ssize_t)stops[i] && got <= SIZE, "%s: %zd for %zu",
				(*d)->name, got, stops[i]);
			cr_assert(memcmp(to, data, stops[i]) == 0, "%s: %zu", (*d)->name, stops[i]);
		}
	}
	free(block);
	free(to);
	free(data);
}

/* Room of more than an int counts, of which a block fills a little: the rest is not touched. */
Test(abd_codec_edges, room_of_2_gib_and_more_is_room)
{
	enum { ROOMS = 64, ROOM = 32 << 20, FIRST = 1000 };
	char *block = malloc(2 * SIZE), *to = malloc(SIZE), *window = malloc(ABD_LZ4_WINDOW_MIN);
	struct iovec runs[2 + ROOMS], from;
	void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_data();
	cr_assert(block != NULL && to != NULL && window != NULL && room != MAP_FAILED);
	from = (struct iovec){
		block, (size_t)LZ4_compress_default((char *)data, block, SIZE, 2 * SIZE)};
	runs[0] = (struct iovec){to, FIRST};
	runs[1] = (struct iovec){to + FIRST, SIZE - FIRST};
	for (size_t i = 0; i < ROOMS; i++)
		runs[2 + i] = (struct iovec){room, ROOM};
	for (const struct abd_lz4_decoder *const *d = abd_lz4_decoders; *d != NULL; d++) {
		if (!(*d)->supported())
			continue;
		memset(to, 0, SIZE);
		cr_assert_eq((*d)->decode_scatter(runs, 0, SIZE + (size_t)ROOMS * ROOM, &from, 0,
				     from.iov_len, window, ABD_LZ4_WINDOW_MIN),
			SIZE, "%s", (*d)->name);
		cr_assert(memcmp(to, data, SIZE) == 0, "%s", (*d)->name);
	}
	munmap(room, ROOM);
	free(window);
	free(to);
	free(block);
	free(data);
}
