/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

int main(void)
{
	about("mini_alloc(1000)");
	struct mini *buffer = mini_alloc(1000);
	must(buffer != NULL && mini_is_linear(buffer),
		"1,000 bytes are less than 1,536: a linear buffer");
	mini_free(buffer);
	all_came_back();

	about("mini_alloc(3000)");
	buffer = mini_alloc(3000);
	must(buffer->count == 1 && mini_is_linear(buffer),
		"3,000 bytes are one page, so they are in one piece");
	mini_free(buffer);
	all_came_back();

	about("mini_alloc(8192)");
	buffer = mini_alloc(8192);
	must(buffer->count == 1, "8 KiB are two pages, and a run of two was there");
	must(mini_is_linear(buffer),
		"8 KiB in one run are linear: what counts is the number of pieces, not the size");
	mini_free(buffer);
	all_came_back();

	about("mini_alloc(76 KiB): 19 pages");
	buffer = mini_alloc(76 << 10);
	must(buffer->count == 3 && buffer->piece[0].len == 16 * PAGE &&
			buffer->piece[1].len == 2 * PAGE,
		"19 pages are runs of 16, 2 and 1: the largest power of two that fits, each time");
	must(!mini_is_linear(buffer), "three runs are not one piece");
	mini_free(buffer);
	all_came_back();

	about("mini_alloc(76 KiB) when no run of more than 4 pages is there");
	mem_largest_run = 4;
	buffer = mini_alloc(76 << 10);
	must(buffer != NULL,
		"a large run was refused, and that is no reason to give up: smaller ones are "
		"there");
	must(buffer->count == 6,
		"19 pages are four runs of 4, one of 2 and one of 1 when 4 is the most");
	mini_free(buffer);
	all_came_back();

	about("mini_alloc(16 KiB) when only one more run is given");
	mem_largest_run = 1;
	mem_runs_left = 1;
	must(mini_alloc(16 << 10) == NULL, "single pages were refused too: there is no buffer");
	all_came_back();

	about("mini_alloc(1535) and mini_alloc(1536) when no run is given");
	mem_runs_left = 0;
	buffer = mini_alloc(1535);
	must(buffer != NULL, "1,535 bytes are less than 1,536: they need no run");
	mini_free(buffer);
	must(mini_alloc(1536) == NULL, "1,536 bytes are not less than 1,536: they come in runs");
	all_came_back();
	return 0;
}
