/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Split buffers: each operation sees a scatter buffer, and neither the rest nor what is behind it
 * is the library's.
 */
#include "abd_impl.h"
#include "abd_test.h"

#include <abd/abd.h>

#include <string.h>

#define MOST ((size_t)300 << 10)

static char data[MOST], got[MOST];
static _Alignas(64) char memory[16384];

struct place {
	void *head;
	size_t head_size;
	char *rest;
};

/* Head and rest side by side, with bytes in between and behind that must stay. */
static struct place place(size_t size)
{
	struct place place = {memory + 64, abd_split_head_size(size), NULL};

	memset(memory, 0x5a, sizeof(memory));
	place.rest = memory + 64 + abd_round_up(place.head_size, 64) + 64;
	cr_assert_leq(place.rest + size % 4096 + 64, memory + sizeof(memory));
	return place;
}

static void expect_untouched(const struct place *place, size_t size)
{
	const char *head_end = (char *)place->head + place->head_size;

	for (const char *at = memory; at < memory + sizeof(memory); at++)
		if (at < (char *)place->head || (at >= head_end && at < place->rest) ||
			at >= place->rest + size % 4096)
			abd_test_check(*at == 0x5a, "byte %td", at - memory);
}

static void make_and_use(size_t size)
{
	struct place at = place(size);
	struct abd_stats before, after;

	abd_stats_get(&before, sizeof(before));
	abd_t *abd = abd_split_make(at.head, at.head_size, size, at.rest, true);

	cr_assert_not_null(abd);
	abd_verify(abd);
	cr_assert(!abd_is_linear(abd) && abd_get_size(abd) == size);
	cr_assert_eq(abd_scatter_head_size(abd), at.head_size);
	abd_copy_from_buf(abd, data, size);
	cr_assert_eq(memcmp(at.rest, data + size / 4096 * 4096, size % 4096), 0);
	abd_copy_to_buf(got, abd, size);
	cr_assert_eq(memcmp(got, data, size), 0);
	for (size_t off = 1; off < size; off += size / 7 + 1) {
		abd_t *view = abd_get_offset(abd, off);

		abd_verify(view);
		cr_assert(abd_equal_buf_off(view, data + off, 0, size - off));
		abd_free(view);
	}
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.scatter_data_size - before.scatter_data_size, size / 4096 * 4096);
	cr_assert_eq(after.scatter_chunk_waste, before.scatter_chunk_waste);
	expect_untouched(&at, size);
	abd_split_free(abd);
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.scatter_cnt, before.scatter_cnt, "what is counted in is counted out");
	cr_assert_eq(after.scatter_data_size, before.scatter_data_size);
	cr_assert_eq(after.scatter_multi_chunk, before.scatter_multi_chunk);
	cr_assert_eq(
		memcmp(after.scatter_order, before.scatter_order, sizeof(after.scatter_order)), 0);
}

Test(abd_split, are_scatter_buffers_of_any_size_and_order)
{
	static const char *const orders[] = {"0", "1", "2", "10"};
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)abd_test_random(&seed);
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		abd_tuning_set("max_order", orders[i]);
		for (size_t pages = 1; pages < 40; pages++) {
			make_and_use(pages * 4096 + 1);
			make_and_use(pages * 4096 + 4095);
			make_and_use(pages * 4096 + 1 + (size_t)(abd_test_random(&seed) % 4095));
		}
		make_and_use(MOST - 1);
	}
	abd_tuning_set("max_order", "10");
}

Test(abd_split, refused_runs_are_no_memory_and_none_is_lost)
{
	const size_t size = 15 * 4096 + 100; /* orders 3, 2, 1, 0 */
	struct place at = place(size);
	struct abd_stats before, after;
	abd_t *abd = NULL;
	size_t fault = 0;

	abd_init();
	abd_stats_get(&before, sizeof(before));
	for (; abd == NULL && fault < 20; fault++) {
		abd_cache_reap_now();
		abd_test_fault_from(fault);
		abd = abd_split_make(at.head, at.head_size, size, at.rest, false);
		(void)abd_test_fault_end();
	}
	cr_assert_not_null(abd);
	cr_assert_geq(fault, 4);
	abd_split_free(abd);
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.scatter_cnt, before.scatter_cnt);
}

/* As when the tunable is set between the plan for a record and its copy. */
Test(abd_split, another_max_order_than_that_of_the_head_is_refused)
{
	struct place at = place(16 * 4096 + 1);

	abd_tuning_set("max_order", "0");
	cr_assert_null(abd_split_make(at.head, at.head_size, 16 * 4096 + 1, at.rest, false));
	expect_untouched(&at, 16 * 4096 + 1);
	abd_tuning_set("max_order", "10");
	abd_split_free(abd_split_make(at.head, at.head_size, 16 * 4096 + 1, at.rest, false));
}
