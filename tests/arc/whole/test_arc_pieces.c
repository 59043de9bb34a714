/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request over many held records is one gang of const members: written by one call, and no byte
 * is copied.
 */
#include "abd_test.h"

#include <abd/arc.h>

enum { RECORDS = 16, SIZE = 8192, HEAD = 100 };

Test(abd_arc_pieces, sixteen_held_records_are_one_write)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 4 << 20};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_hold_t hold[RECORDS];
	struct abd_piece pieces[RECORDS];
	struct iovec iov[4 * RECORDS];
	static uint8_t block[SIZE], back[RECORDS * SIZE];
	int fd = memfd_create("abd", 0), count;
	size_t covered;

	cr_assert_not_null(arc);
	for (size_t i = 0; i < RECORDS; i++) {
		abd_arc_key_t key = {.pool = 1, .dva = {i, 0}};
		abd_t *abd = abd_alloc_for_io(SIZE, false);

		memset(block, (int)i, SIZE);
		abd_copy_from_buf(abd, block, SIZE);
		cr_assert_eq(abd_arc_put_abd(arc, &key, abd, SIZE, ABD_ARC_PLAIN), 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold[i]), 0);
		/* The request begins and ends within records. */
		pieces[i] = (struct abd_piece){hold[i].abd, i == 0 ? HEAD : 0,
			SIZE - (i == 0 || i == RECORDS - 1 ? HEAD : 0)};
	}

	struct abd_stats before = abd_test_stats(), after;
	const abd_t *gang = abd_from_pieces(pieces, RECORDS);
	size_t size = RECORDS * SIZE - 2 * HEAD;

	cr_assert_eq(abd_get_size(gang), size);
	count = abd_to_iov(gang, 0, size, iov, 4 * RECORDS, &covered);
	cr_assert(count >= RECORDS && covered == size, "%d entries", count);
	for (size_t i = 0; i < RECORDS; i++) {
		const char *at = abd_borrow_buf_const(hold[i].abd, SIZE);
		size_t found = 0;

		for (int n = 0; n < count; n++)
			found += (char *)iov[n].iov_base >= at &&
				 (char *)iov[n].iov_base < at + SIZE;
		cr_assert(!abd_is_linear(hold[i].abd) || found > 0, "record %zu was copied", i);
		abd_return_buf_const(hold[i].abd, at, SIZE);
	}
	cr_assert_eq(abd_pwrite(fd, gang, 0, size, 0), (ssize_t)size);
	after = abd_test_stats();
	cr_assert_eq(after.borrow_copy_cnt, before.borrow_copy_cnt);
	abd_free_const(gang);
	cr_assert_eq(pread(fd, back, size, 0), (ssize_t)size);
	for (size_t i = 0; i < size; i++)
		abd_test_check(back[i] == (i + HEAD) / SIZE, "byte %zu is %u", i, back[i]);
	for (size_t i = 0; i < RECORDS; i++)
		abd_arc_release(&hold[i]);
	close(fd);
	abd_arc_destroy(arc);
}
