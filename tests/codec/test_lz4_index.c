/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes of indexes, what a check of one from outside refuses, and the form in a file.
 */
#include "abd_test.h"

#include <abd/codec.h>

Test(abd_lz4_index, a_size_holds_one_point_for_each_group)
{
	cr_assert_eq(abd_lz4_index_size(0, 16384), 16);
	cr_assert_eq(abd_lz4_index_size(1, 16384), 16 + 8);
	cr_assert_eq(abd_lz4_index_size(16384, 16384), 16 + 8);
	cr_assert_eq(abd_lz4_index_size(16385, 16384), 16 + 2 * 8);
	cr_assert_eq(abd_lz4_index_size(131072, 1024), 16 + 128 * 8);
	cr_assert_eq(abd_lz4_index_size(0x7e000000, 65536), 16 + 0x7e00 * 8);
}

Test(abd_lz4_index, sizes_that_can_not_be_are_0)
{
	static const size_t wrong[] = {0, 1, 512, 1023, 1025, 16383, 65537, 131072, 0x80000000u};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_eq(abd_lz4_index_size(1000, wrong[i]), 0, "%zu", wrong[i]);
	cr_assert_eq(abd_lz4_index_size(0x7e000001, 16384), 0);
	cr_assert_eq(abd_lz4_index_size(SIZE_MAX, 16384), 0);
}

static struct abd_lz4_index *sound(size_t *size)
{
	struct abd_lz4_index *index;

	*size = abd_lz4_index_size(3000, 1024);
	index = calloc(1, *size);
	index->group_size = 1024;
	index->hub_size = 512;
	index->count = 3;
	index->points[1].logical = 1030;
	index->points[1].stored = 200;
	index->points[2].logical = 2048;
	index->points[2].stored = 300;
	return index;
}

Test(abd_lz4_index, a_check_refuses_what_can_not_be)
{
	size_t size;
	struct abd_lz4_index *index = sound(&size);

#define REFUSED(field, value, say)                                                        \
	do {                                                                              \
		uint32_t before = index->field;                                           \
		index->field = (value);                                                   \
		cr_assert_eq(abd_lz4_index_check(index, size, 400), -EBADMSG, "%s", say); \
		index->field = before;                                                    \
	} while (0)

	cr_assert_eq(abd_lz4_index_check(index, size, 400), 0);
	cr_assert_eq(abd_lz4_index_check(index, size, 300), 0);
	cr_assert_eq(abd_lz4_index_check(index, size, 299), -EBADMSG);
	cr_assert_eq(abd_lz4_index_check(index, size - 1, 400), -EBADMSG);
	cr_assert_eq(abd_lz4_index_check(index, 15, 400), -EBADMSG);
	cr_assert_eq(abd_lz4_index_check(index, 0, 400), -EBADMSG);
	REFUSED(count, 4, "more points than memory");
	REFUSED(count, UINT32_MAX, "counts that wrap");
	REFUSED(group_size, 0, "groups of nothing");
	REFUSED(group_size, 0x80000000u, "groups of 2 GiB");
	REFUSED(group_size, 1000, "groups of another size");
	REFUSED(hub_size, 1025, "a hub larger than its group");
	REFUSED(points[0].logical, 1, "bytes before the first point");
	REFUSED(points[0].stored, 1, "stored bytes before the first point");
	REFUSED(points[1].logical, 1023, "a point before its group");
	REFUSED(points[1].logical, 2049, "logical offsets that fall");
	REFUSED(points[1].stored, 301, "stored offsets that fall");
	REFUSED(points[2].stored, 401, "a point past the block");
	REFUSED(points[2].logical, 3073, "a point past the record");
	REFUSED(reserved, 1, "a word without a meaning");
	index->count = 0;
	cr_assert_eq(abd_lz4_index_check(index, 16, 1), 0);
	free(index);
}

/* By the header's words, byte by byte; the checksum was computed by another program. */
static const uint8_t form[48] = {'A', 'B', 'I', 1, 0x90, 1, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 3, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 4, 0, 0, 200, 0, 0, 0, 0, 8, 0, 0, 44, 1, 0, 0, 245, 70, 254,
	249};

Test(abd_lz4_index, its_form_is_the_same_everywhere_and_comes_back)
{
	uint8_t bytes[sizeof(form) + 1];
	size_t size;
	struct abd_lz4_index *index = sound(&size), *back = malloc(size);

	cr_assert_eq(size + ABD_LZ4_INDEX_FORM, sizeof(form));
	bytes[sizeof(form)] = 0xa5;
	cr_assert_eq(abd_lz4_index_put(bytes, sizeof(bytes), index, size, 400), sizeof(form));
	cr_assert_arr_eq(bytes, form, sizeof(form));
	cr_assert_eq(bytes[sizeof(form)], 0xa5);
	cr_assert_eq(abd_lz4_index_get(back, size, bytes, sizeof(bytes), 400), sizeof(form));
	cr_assert_arr_eq((uint8_t *)back, (uint8_t *)index, size);
	index->count = 0;
	cr_assert_eq(abd_lz4_index_put(bytes, 24, index, 16, 1), 24);
	cr_assert_eq(abd_lz4_index_get(back, 16, bytes, 24, 1), 24);
	cr_assert_eq(back->count, 0);
	free(back);
	free(index);
}

Test(abd_lz4_index, its_form_is_written_only_if_the_index_is_sound_and_there_is_room)
{
	uint8_t bytes[sizeof(form)];
	size_t size;
	struct abd_lz4_index *index = sound(&size);

	for (size_t room = 0; room < sizeof(form); room++) {
		memset(bytes, 0xa5, sizeof(bytes));
		cr_assert_eq(abd_lz4_index_put(bytes, room, index, size, 400), -ENOSPC);
		cr_assert_eq(bytes[0], 0xa5);
	}
	cr_assert_eq(abd_lz4_index_put(NULL, 0, index, size, 400), -ENOSPC);
	cr_assert_eq(abd_lz4_index_put(bytes, sizeof(bytes), index, size - 1, 400), -EBADMSG);
	cr_assert_eq(abd_lz4_index_put(bytes, sizeof(bytes), index, size, 299), -EBADMSG);
	cr_assert_eq(abd_lz4_index_put(bytes, sizeof(bytes), index, size, 0x80000000u), -EBADMSG);
	cr_assert_eq(abd_lz4_index_put(bytes, sizeof(bytes), NULL, 0, 400), -EBADMSG);
	free(index);
}

Test(abd_lz4_index, every_damage_of_its_form_is_refused)
{
	uint8_t bytes[sizeof(form)];
	size_t size;
	struct abd_lz4_index *index = sound(&size);

	for (size_t at = 0; at < sizeof(form); at++)
		for (unsigned flip = 1; flip < 256; flip++) {
			memcpy(bytes, form, sizeof(form));
			bytes[at] ^= (uint8_t)flip;
			cr_assert_eq(abd_lz4_index_get(index, size, bytes, sizeof(form), 400),
				-EBADMSG, "byte %zu ^ %u", at, flip);
		}
	/* An allocation of its own, so that a checker sees a byte read too far. */
	for (size_t part = 0; part < sizeof(form); part++) {
		uint8_t *cut = malloc(part);

		memcpy(cut, form, part);
		cr_assert_eq(abd_lz4_index_get(index, size, cut, part, 400), -EBADMSG);
		free(cut);
	}
	for (size_t room = 0; room < size; room++)
		cr_assert_eq(abd_lz4_index_get(index, room, form, sizeof(form), 400), -ENOSPC);
	cr_assert_eq(abd_lz4_index_get(NULL, 0, form, sizeof(form), 400), -ENOSPC);
	cr_assert_eq(abd_lz4_index_get(index, size, NULL, 0, 400), -EBADMSG);
	cr_assert_eq(abd_lz4_index_get(index, size, form, sizeof(form), 401), -EBADMSG);
	free(index);
}

/* Whoever can write the form can write its checksum too. */
Test(abd_lz4_index, a_form_with_a_right_checksum_is_still_checked)
{
	uint8_t bytes[sizeof(form)];
	size_t size;
	struct abd_lz4_index *index = sound(&size);

	for (size_t at = 8; at < sizeof(form) - 4; at++) {
		abd_t *abd = abd_get_from_buf(bytes, sizeof(form) - 4);
		uint32_t crc;
		ssize_t got;

		memcpy(bytes, form, sizeof(form));
		bytes[at] ^= 0x80;
		crc = abd_crc32c(abd, 0, sizeof(form) - 4, 0);
		for (size_t i = 0; i < 4; i++)
			bytes[sizeof(form) - 4 + i] = (uint8_t)(crc >> (8 * i));
		got = abd_lz4_index_get(index, size, bytes, sizeof(form), 400);
		/* The hub, and points that still rise, could be another index's. */
		if (at == 12 || at == 28 || at == 32 || at == 36)
			cr_assert_eq(got, (ssize_t)sizeof(form), "byte %zu", at);
		else
			cr_assert_eq(got, -EBADMSG, "byte %zu", at);
		abd_free(abd);
	}
	free(index);
}
