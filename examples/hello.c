/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * README's twenty lines: 8 KiB that come out as one run are linear, and borrowing them copies
 * nothing.
 */
#include <abd/abd.h>
#include <stdio.h>

int main(void)
{
	abd_tuning_set("max_order", "1"); /* runs of up to 8 KiB */

	abd_t *abd = abd_alloc(8192, false); /* scatter by size, one run by luck: so it is linear */
	if (abd == NULL)
		return 1;
	void *first = abd_borrow_buf(abd, 8192), *second = abd_borrow_buf(abd, 8192);
	struct abd_stats stats;
	abd_stats_get(&stats, sizeof(stats));
	printf("linear %d, from pages %d, same address twice %d, borrow copies %d\n",
		abd_is_linear(abd), abd_is_linear_page(abd), first == second,
		(int)stats.borrow_copy_cnt);
	abd_return_buf(abd, first, 8192);
	abd_return_buf(abd, second, 8192);
	abd_free(abd);
	return 0;
}
