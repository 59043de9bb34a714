/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes of indexes, and what a check of one from outside refuses.
 */
#include "abd_test.h"

#include <abd/codec.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

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
	index->count = 0;
	cr_assert_eq(abd_lz4_index_check(index, 16, 1), 0);
	free(index);
}
