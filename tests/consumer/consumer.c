/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program outside the tree: a buffer of 8 KiB that came as one run is linear, and borrowing it
 * copies nothing.
 */
#include <abd/abd.h>

#include <stdio.h>

int main(void)
{
	struct abd_stats stats;

	abd_tuning_set("max_order", "1");
	abd_t *abd = abd_alloc(8192, false);
	if (abd == NULL)
		return 2;
	void *first = abd_borrow_buf_copy(abd, 8192);
	abd_return_buf(abd, first, 8192);
	void *second = abd_borrow_buf_copy(abd, 8192);
	abd_return_buf(abd, second, 8192);
	abd_stats_get(&stats, sizeof(stats));
	printf("linear %d, linear_page %d, same address %d, borrows %d, borrow copies %d\n",
		abd_is_linear(abd), abd_is_linear_page(abd), first == second, (int)stats.borrow_cnt,
		(int)stats.borrow_copy_cnt);
	abd_free(abd);
	return 0;
}
