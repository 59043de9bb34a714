/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bugs that other projects had in decompression, by their numbers in tests/plants/README.md.
 */
#include "abd_lz4_decode.h"
#include "abd_test_fixture.h"

enum { ROOM = 5 << 12 };

/* One scattered and one linear buffer of ROOM bytes. */
static void make(abd_t *abd[2])
{
	abd_tuning_set("max_order", "0");
	abd[0] = abd_alloc(ROOM, false);
	abd[1] = abd_alloc_linear(ROOM, false);
	cr_assert(abd[0] != NULL && abd[1] != NULL);
	abd_zero(abd[0], ROOM);
	abd_zero(abd[1], ROOM);
}

/*
 * A block is told to be damaged, whatever it is decoded from and into, by every decoder; and
 * nothing behind the room is written.
 */
static void check_damaged(const uint8_t *block, size_t size, size_t room)
{
	abd_t *from[2], *to[2];
	uint8_t *buf = malloc(room + 1);

	make(from);
	make(to);
	for (const struct abd_lz4_decoder *const *d = abd_lz4_decoders; *d != NULL; d++) {
		if (!(*d)->supported())
			continue;
		cr_assert_eq(abd_tuning_set("lz4", (*d)->name), 0);
		for (size_t i = 0; i < 4; i++) {
			abd_t *src = from[i / 2], *dst = to[i % 2];
			ssize_t got;

			/* Across a run's end. */
			abd_copy_from_buf_off(src, block, 4090, size);
			got = abd_lz4_decompress(dst, src, 4000, room, 4090, size);
			cr_assert_eq(got, -EBADMSG, "%s: %zd", (*d)->name, got);
			cr_assert_eq(abd_cmp_zero_off(dst, 4000 + room, ROOM - 4000 - room), 0);
			abd_zero(dst, ROOM);
			buf[room] = 0x5a;
			got = abd_lz4_decompress_to_buf(buf, src, room, 4090, size);
			cr_assert_eq(got, -EBADMSG, "%s: %zd", (*d)->name, got);
			got = abd_lz4_decompress_range_to_buf(buf, src, 1, room, 4090, size);
			/* What comes before the damage may be handed out. */
			cr_assert(got == -EBADMSG || (got >= 0 && (size_t)got <= room),
				"%s: range: %zd", (*d)->name, got);
			cr_assert_eq(buf[room], 0x5a);
		}
	}
	abd_tuning_set("lz4", "auto");
	free(buf);
	for (size_t i = 0; i < 2; i++) {
		abd_free(from[i]);
		abd_free(to[i]);
	}
}

Test(abd_lz4_regressions, bug_24_openzfs_9612_damage_is_told, .init = begin, .fini = end)
{
	/*
	 * 4 literals and a match of 4 that reaches back 5 bytes, of which there are 4; last
	 * literals.
	 */
	static const uint8_t far_match[] = {
		0x40, 'a', 'b', 'c', 'd', 5, 0, 0xc0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	/* The block ends within its literals. */
	static const uint8_t cut[] = {0xc0, 1, 2, 3, 4};

	check_damaged(far_match, sizeof(far_match), 100);
	check_damaged(cut, sizeof(cut), 100);
}

/*
 * Lengths that are more than all input and all output: what is left, less the length, is below
 * zero.
 */
Test(abd_lz4_regressions, bug_25_lz4_972_what_is_left_is_never_negative, .init = begin, .fini = end)
{
	uint8_t block[400];

	/* Literals of 15 + 20 * 255 bytes, of which 100 are there; room for some, all, and more. */
	memset(block, 0xff, 21);
	block[0] = 0xf0;
	block[21] = 0;
	memset(block + 22, 'x', 100);
	check_damaged(block, 122, 50);
	check_damaged(block, 122, 100);
	check_damaged(block, 122, 6000);

	/*
	 * A block of extensions only: the sum passes 2^32 if it is added up in 32 bits, and never
	 * ends.
	 */
	memset(block, 0xff, sizeof(block));
	check_damaged(block, sizeof(block), 3000);

	/* One literal, a match whose length never ends. */
	block[0] = 0x1f;
	block[1] = 'x';
	block[2] = 1;
	block[3] = 0;
	check_damaged(block, sizeof(block), 6000);
}
