/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run tables: which runs a buffer gets under every refusal, which kind it then is, and where
 * seeking finds its bytes.
 */
#include "abd_impl.h"
#include "abd_test_fixture.h"

/* The orders that OpenZFS's rule gives: the highest that fits and is not above the last refusal. */
static size_t model_orders(size_t size, unsigned max_order, uint32_t refused, unsigned *orders)
{
	size_t pages = (size + 4095) / 4096, count = 0;
	unsigned top = max_order;

	while (pages > 0) {
		unsigned order = 0;

		while (order < top && ((size_t)2 << order) <= pages)
			order++;
		if ((refused >> order & 1) != 0) {
			top = order - 1;
			continue;
		}
		orders[count++] = order;
		pages -= (size_t)1 << order;
	}
	return count;
}

static void check_stats(const unsigned *orders, size_t count, size_t size, size_t head_size)
{
	struct abd_stats now = abd_test_stats(), expected = before;

	expected.struct_size += head_size;
	expected.scatter_cnt++;
	expected.scatter_data_size += size;
	expected.scatter_chunk_waste += (4096 - size % 4096) % 4096;
	expected.scatter_multi_chunk += count > 1;
	for (size_t i = 0; i < count; i++)
		expected.scatter_order[orders[i]]++;
	abd_test_check(abd_test_gauges_equal(&expected, &now), "statistics of %zu bytes", size);
}

static void check_table(const abd_t *abd, const unsigned *orders, size_t count)
{
	size_t bytes = 0, left = abd->abd_size;

	abd_test_check(ABD_SCATTER(abd).abd_run_count == count, "%zu bytes: %zu runs, not %zu",
		abd->abd_size, ABD_SCATTER(abd).abd_run_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct iovec *run = &ABD_SCATTER(abd).abd_runs[i];
		size_t whole = (size_t)4096 << orders[i];

		abd_test_check(run->iov_len == (left < whole ? left : whole),
			"%zu bytes: run %zu has %zu", abd->abd_size, i, run->iov_len);
		abd_test_check(
			(uintptr_t)run->iov_base % 4096 == 0, "run %zu at %p", i, run->iov_base);
		abd_test_check(i == 0 || orders[i] <= orders[i - 1], "orders rise");
		bytes += run->iov_len;
		left -= run->iov_len;
	}
	abd_test_check(bytes == abd->abd_size, "runs of %zu bytes for %zu", bytes, abd->abd_size);
	abd_verify(abd);
}

static size_t head_size_of(const unsigned *orders, size_t count)
{
	size_t classes = 1;

	for (size_t i = 1; i < count; i++)
		classes += orders[i] != orders[i - 1];
	return sizeof(abd_t) + count * sizeof(struct iovec) +
	       (classes > 1 ? classes * (sizeof(size_t) + 8) : 0);
}

/* Seeking to the ends of each run. */
static void check_seek(const abd_t *abd, const unsigned *orders, size_t count)
{
	size_t start = 0, within;

	for (size_t i = 0; i < count; i++) {
		size_t size = (size_t)4096 << orders[i];
		size_t places[] = {0, 1, size / 2, size - 1};

		for (size_t k = 0; k < 4; k++) {
			size_t run = abd_scatter_seek(abd, start + places[k], &within);

			abd_test_check(run == i && within == places[k],
				"%zu bytes: %zu is at %zu of run %zu, not of %zu", abd->abd_size,
				start + places[k], within, run, i);
		}
		start += size;
	}
}

static void check_alloc(size_t size, unsigned max_order, uint32_t refused, bool rule)
{
	unsigned orders[64];
	size_t count = model_orders(size, max_order, refused, orders);
	abd_t *abd = abd_alloc_for_io(size, size % 2 != 0);

	abd_test_check(abd != NULL && abd->abd_size == size, "no buffer of %zu bytes", size);
	abd_test_check((abd->abd_flags & ABD_FLAG_OWNER) != 0 &&
			       ((abd->abd_flags & ABD_FLAG_META) != 0) == (size % 2 != 0),
		"flags 0x%x", (unsigned)abd->abd_flags);
	abd_test_check(((abd->abd_flags & ABD_FLAG_MULTI_CHUNK) != 0) == (count > 1),
		"%zu bytes, %zu runs, flags 0x%x", size, count, (unsigned)abd->abd_flags);
	if (count == 1 && rule) {
		abd_test_check(abd_is_linear(abd) && abd_is_linear_page(abd),
			"%zu bytes in one run", size);
		abd_test_check(
			(uintptr_t)abd_to_buf(abd) % 4096 == 0, "a run at %p", abd_to_buf(abd));
		check_stats(orders, count, size, sizeof(abd_t));
	} else {
		abd_test_check(!abd_is_linear(abd) && !abd_is_linear_page(abd),
			"%zu bytes, %zu runs", size, count);
		check_table(abd, orders, count);
		check_seek(abd, orders, count);
		check_stats(orders, count, size, head_size_of(orders, count));
	}
	abd_free(abd);
}

/*
 * Sizes 1 to 70,000 in steps of a prime, every max_order, refusals of every set of orders up to 5.
 * Order 0 is never refused.
 */
static void check_grid(bool rule)
{
	char text[8];

	abd_tuning_set("linear_page", rule ? "1" : "0");
	for (unsigned max_order = 0; max_order <= 10; max_order++) {
		snprintf(text, sizeof(text), "%u", max_order);
		abd_tuning_set("max_order", text);
		/* Above order 4 the sizes make little difference: a few sets of refusals do. */
		for (uint32_t refused = 0; refused<64; refused += max_order> 4 ? 10 : 2) {
			abd_test_refuse_nothing();
			abd_test_refuse_orders(refused);
			for (size_t size = 1; size <= 70000; size += 2003)
				check_alloc(size, max_order, refused, rule);
			for (size_t pages = 1; pages <= 17; pages += 1 + pages / 4)
				for (size_t size = pages * 4096 - 1; size <= pages * 4096 + 1;
					size++)
					check_alloc(size, max_order, refused, rule);
		}
	}
}

TestSuite(abd_scatter, .init = begin, .fini = end);

Test(abd_scatter, runs_follow_the_rule_for_every_size_order_and_refusal)
{
	check_grid(true);
}

Test(abd_scatter, without_the_rule_only_linearity_differs)
{
	check_grid(false);
}

Test(abd_scatter, seeking_finds_each_byte_of_every_class)
{
	unsigned orders[64];
	size_t size = (2047 - 3) * 4096 - 5; /* orders 10 down to 2 */
	abd_t *abd = abd_alloc(size, false);
	size_t count = model_orders(size, 10, 0, orders);

	cr_assert_eq(abd->abd_class_count, 9);
	check_table(abd, orders, count);
	check_seek(abd, orders, count);
	abd_free(abd);

	/*
	 * All eleven, by a refusal in between: 1023 + 2 pages of which the last two are single
	 * ones.
	 */
	abd_test_refuse_script("..........");
	abd = abd_alloc(2047 * 4096, false);
	count = model_orders(2047 * 4096, 10, 0, orders);
	cr_assert_eq(abd->abd_class_count, 11);
	check_seek(abd, orders, count);
	abd_free(abd);
}

Test(abd_scatter, refusals_are_counted_and_the_plan_is_made_anew)
{
	static const char *const scripts[] = {
		"x", "xx", "xxx", ".x", ".xx", "x.x", "..x", ".x.x", "xx.x"};

	for (size_t i = 0; i < 9; i++) {
		uint64_t retries = abd_test_stats().scatter_alloc_retry;
		uint64_t refusals = abd_test_refusals();

		abd_test_refuse_script(scripts[i]);

		abd_t *abd = abd_alloc(29 * 4096, false); /* 16 + 8 + 4 + 1 */

		cr_assert_not_null(abd, "%s", scripts[i]);
		abd_verify(abd);
		cr_assert_eq(abd_test_stats().scatter_alloc_retry - retries,
			abd_test_refusals() - refusals, "%s", scripts[i]);
		cr_assert_gt(abd_test_refusals(), refusals);
		abd_free(abd);
	}
}

Test(abd_scatter, a_refusal_of_single_pages_is_no_memory)
{
	abd_test_refuse_orders(0x7ff);
	for (size_t size = 1536; size < 70000; size += 4096) {
		errno = 0;
		cr_assert_null(abd_alloc(size, false));
		cr_assert_eq(errno, ENOMEM);
	}
	abd_test_refuse_nothing();
	abd_test_refuse_script("......x"); /* after some runs were had */
	abd_tuning_set("max_order", "0");
	cr_assert_null(abd_alloc(10 * 4096, false));
	cr_assert_eq(abd_test_runs_out_all(), 0);
}

Test(abd_scatter, random_refusals_never_lose_a_run)
{
	uint64_t seed = 1;
	abd_t *abds[32] = {NULL};

	abd_test_refuse_random(7, 40);
	for (size_t i = 0; i < 3000; i++) {
		abd_t **abd = &abds[abd_test_random_below(&seed, 32)];

		abd_free(*abd);
		*abd = abd_alloc(1 + abd_test_random_below(&seed, 300000), false);
		cr_assert_not_null(*abd);
		abd_verify(*abd);
	}
	for (size_t i = 0; i < 32; i++)
		abd_free(abds[i]);
}

Test(abd_scatter, what_a_buffer_will_cost_is_what_it_costs)
{
	for (unsigned order = 0; order <= ABD_CHUNK_ORDER_MAX; order += 2) {
		char text[8];

		snprintf(text, sizeof(text), "%u", order);
		cr_assert_eq(abd_tuning_set("max_order", text), 0);
		for (size_t pages = 1; pages < 70; pages++) {
			abd_t *abd = abd_alloc(pages * ABD_CHUNK_SIZE - 1, false);
			struct abd_scatter_cost cost = abd_scatter_cost(pages * ABD_CHUNK_SIZE - 1);

			cr_assert_eq(cost.run_bytes, pages * ABD_CHUNK_SIZE);
			cr_assert_eq(cost.head_size == 0, abd_is_linear(abd), "%zu pages", pages);
			cr_assert(
				abd_is_linear(abd) || cost.head_size == abd_scatter_head_size(abd));
			abd_free(abd);
		}
	}
	cr_assert_eq(abd_tuning_set("max_order", "10"), 0);
}
