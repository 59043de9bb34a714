/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buddy allocator against a map of who owns each page.
 */
#include "abd_buddy.h"
#include "abd_test.h"

enum { PAGES = 1000, ORDER_MAX = 6 };

static struct abd_buddy buddy;
static struct abd_buddy_page pages[PAGES];

static size_t free_pages(void)
{
	size_t sum = 0;

	for (unsigned order = 0; order <= ORDER_MAX; order++)
		sum += buddy.free_runs[order] << order;
	return sum;
}

static void check_lists(void)
{
	for (unsigned order = 0; order <= ORDER_MAX; order++) {
		size_t count = 0;
		uint32_t before = ABD_BUDDY_NONE;

		for (uint32_t p = buddy.free_first[order]; p != ABD_BUDDY_NONE; p = pages[p].next) {
			cr_assert_eq(p % (1u << order), 0, "page %u, order %u", p, order);
			cr_assert_eq(pages[p].prev, before);
			before = p;
			count++;
		}
		cr_assert_eq(count, buddy.free_runs[order], "order %u", order);
	}
}

Test(abd_buddy, all_pages_are_free_at_first_whatever_their_number)
{
	for (uint32_t count = 1; count <= PAGES; count++) {
		abd_buddy_init(&buddy, pages, count, ORDER_MAX);
		cr_assert_eq(free_pages(), count);
		check_lists();
	}
}

Test(abd_buddy, lowest_order_that_fits_is_split)
{
	abd_buddy_init(&buddy, pages, 64 + 4, ORDER_MAX);
	uint32_t page = abd_buddy_alloc(&buddy, 2);

	cr_assert_eq(page, 64, "the run of 4, not a part of the run of 64, but %u", page);
	cr_assert_eq(buddy.free_runs[6], 1);
}

Test(abd_buddy, refuses_when_nothing_fits_and_leaves_the_rest)
{
	abd_buddy_init(&buddy, pages, 3, ORDER_MAX);
	cr_assert_eq(abd_buddy_alloc(&buddy, 2), ABD_BUDDY_NONE);
	cr_assert_eq(free_pages(), 3);
	cr_assert_neq(abd_buddy_alloc(&buddy, 1), ABD_BUDDY_NONE);
	cr_assert_neq(abd_buddy_alloc(&buddy, 0), ABD_BUDDY_NONE);
	cr_assert_eq(abd_buddy_alloc(&buddy, 0), ABD_BUDDY_NONE);
}

Test(abd_buddy, freeing_what_is_not_taken_is_told_and_changes_nothing)
{
	abd_buddy_init(&buddy, pages, 64, ORDER_MAX);
	uint32_t page = abd_buddy_alloc(&buddy, 3);

	cr_assert_not(abd_buddy_free(&buddy, page, 2), "wrong order");
	cr_assert_not(abd_buddy_free(&buddy, page + 1, 3), "wrong page");
	cr_assert_not(abd_buddy_free(&buddy, 64, 0), "past the end");
	cr_assert(abd_buddy_free(&buddy, page, 3));
	cr_assert_not(abd_buddy_free(&buddy, page, 3), "twice");
	cr_assert_eq(buddy.free_runs[6], 1, "joined to one run again");
}

Test(abd_buddy, random_use_never_overlaps_and_ends_as_it_began)
{
	uint64_t seed = 7;
	uint32_t run[PAGES];
	unsigned order_of[PAGES], count = 0;
	static uint8_t taken[PAGES];

	memset(taken, 0, sizeof(taken));
	abd_buddy_init(&buddy, pages, PAGES, ORDER_MAX);
	for (int step = 0; step < 100000; step++) {
		if (abd_test_random(&seed) % 2 == 0) {
			unsigned order = (unsigned)(abd_test_random(&seed) % (ORDER_MAX + 1));
			uint32_t page = abd_buddy_alloc(&buddy, order);

			if (page == ABD_BUDDY_NONE)
				continue;
			for (uint32_t i = 0; i < 1u << order; i++) {
				cr_assert_lt(page + i, PAGES);
				cr_assert_eq(
					taken[page + i], 0, "page %u is taken twice", page + i);
				taken[page + i] = 1;
			}
			run[count] = page;
			order_of[count++] = order;
		} else if (count > 0) {
			unsigned i = (unsigned)(abd_test_random(&seed) % count);

			memset(&taken[run[i]], 0, (size_t)1 << order_of[i]);
			cr_assert(abd_buddy_free(&buddy, run[i], order_of[i]));
			run[i] = run[--count];
			order_of[i] = order_of[count];
		}
		if (step % 1000 == 0)
			check_lists();
	}
	while (count-- > 0)
		cr_assert(abd_buddy_free(&buddy, run[count], order_of[count]));
	check_lists();

	static struct abd_buddy_page fresh_pages[PAGES];
	struct abd_buddy fresh;

	abd_buddy_init(&fresh, fresh_pages, PAGES, ORDER_MAX);
	cr_assert_arr_eq(buddy.free_runs, fresh.free_runs, sizeof(fresh.free_runs));
}

Test(abd_buddy, a_run_that_is_trimmed_keeps_its_first_pages_and_frees_the_rest)
{
	for (uint32_t count = 1; count <= 32; count++) {
		uint32_t at = 32;

		abd_buddy_init(&buddy, pages, 64, ORDER_MAX);
		cr_assert_eq(abd_buddy_alloc(&buddy, 5), 0);
		cr_assert_eq(abd_buddy_alloc(&buddy, 5), at);
		abd_buddy_trim(&buddy, at, 5, count);
		cr_assert_eq(free_pages(), 32 - count);
		check_lists();
		for (unsigned order = ORDER_MAX; order-- > 0;)
			if ((count >> order & 1) != 0) {
				cr_assert(abd_buddy_free(&buddy, at, order), "%u of %u", at, count);
				at += 1u << order;
			}
		cr_assert_eq(buddy.free_runs[5], 1, "joined to one run again");
	}
}

/* Its place became the middle of a larger run, free or in use by somebody else. */
Test(abd_buddy, a_run_that_was_joined_can_not_be_freed_again)
{
	for (uint32_t last = 0; last < 2; last++) {
		abd_buddy_init(&buddy, pages, 2, 1);

		uint32_t first = abd_buddy_alloc(&buddy, 0), second = abd_buddy_alloc(&buddy, 0);

		cr_assert(abd_buddy_free(&buddy, last == 0 ? second : first, 0));
		cr_assert(abd_buddy_free(&buddy, last == 0 ? first : second, 0));
		cr_assert_not(abd_buddy_free(&buddy, first, 0));
		cr_assert_not(abd_buddy_free(&buddy, second, 0));
		cr_assert_eq(abd_buddy_alloc(&buddy, 1), 0);
		cr_assert_not(abd_buddy_free(&buddy, 1, 0));
		cr_assert(abd_buddy_free(&buddy, 0, 1));
	}
}
