/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs over parts of buffers that may only be read.
 */
#include "abd_test.h"

#pragma GCC diagnostic ignored "-Wunused-result" /* nothing is returned */

static struct abd_test_buffer x, y;
static abd_t *linear;

static void begin(void)
{
	abd_test_provider_begin();
	abd_test_build(&x, 7, 1);
	abd_test_build(&y, 5, 2);
	linear = abd_alloc_linear(5000, false);
	for (size_t i = 0; i < 5000; i++)
		((uint8_t *)abd_to_buf(linear))[i] = (uint8_t)(i * 5 / 3);
}

static void end(void)
{
	abd_free(linear);
	abd_test_drop(&y);
	abd_test_drop(&x);
	abd_test_provider_end();
}

Test(abd_gang_add_pieces, parts_of_any_kind_are_one_buffer, .init = begin, .fini = end)
{
	abd_t *inner = abd_alloc_gang();
	struct abd_stats before;

	cr_assert_eq(abd_gang_add(inner, linear, false), 0);
	cr_assert_eq(abd_gang_add(inner, y.abd, false), 0);

	const struct abd_piece pieces[] = {
		{x.abd, 100, 9000}, {linear, 7, 0}, {inner, 4000, 3000}, {linear, 0, 5000}};
	uint8_t flat[9000 + 3000 + 5000];
	const abd_t *gang;

	memcpy(flat, x.model + 100, 9000);
	memcpy(flat + 9000, abd_to_buf_const(linear) + 4000, 1000);
	memcpy(flat + 10000, y.model, 2000);
	memcpy(flat + 12000, abd_to_buf_const(linear), 5000);
	before = abd_test_stats();
	gang = abd_from_pieces(pieces, 4);
	cr_assert_eq(abd_get_size(gang), sizeof(flat));
	abd_verify(gang);
	cr_assert_eq(abd_cmp_buf(gang, flat, sizeof(flat)), 0);
	abd_free_const(gang);

	struct abd_stats after = abd_test_stats();

	cr_assert(abd_test_gauges_equal(&before, &after));
	abd_free(inner);
}

Test(abd_gang_add_pieces, no_bytes_are_no_gang, .init = begin, .fini = end)
{
	const struct abd_piece none[] = {{linear, 5000, 0}, {NULL, 0, 0}};

	errno = 0;
	cr_assert_null(abd_from_pieces(none, 2));
	cr_assert_eq(errno, EINVAL);
	cr_assert_null(abd_from_pieces(NULL, 0));

	/* Nor are more bytes than there can be; nobody looks at these. */
	abd_t *large = abd_get_from_buf(x.model, SIZE_MAX);
	const struct abd_piece many[] = {{large, 0, SIZE_MAX}, {linear, 0, 1}};

	errno = 0;
	cr_assert_null(abd_from_pieces(many, 2));
	cr_assert_eq(errno, EINVAL);
	abd_free(large);
}

Test(abd_gang_add_pieces, a_part_lies_within_its_buffer, .init = begin, .fini = end)
{
	const struct abd_piece wrong = {linear, 4999, 2};

	abd_test_breaks(abd_from_pieces, &wrong, 1);
}

Test(abd_gang_add_pieces, without_memory_there_is_none, .init = begin, .fini = end)
{
	const struct abd_piece pieces[] = {{x.abd, 0, 100}, {linear, 0, 100}, {x.abd, 0, 100},
		{linear, 0, 100}, {x.abd, 0, 100}, {linear, 0, 100}, {x.abd, 0, 100}};
	const abd_t *gang = NULL;

	for (size_t site = 0; gang == NULL; site++) {
		struct abd_stats before = abd_test_stats(), after;

		abd_test_fault_from(site);
		gang = abd_from_pieces(pieces, 7);
		abd_test_fault_end();
		after = abd_test_stats();
		cr_assert(gang != NULL || abd_test_gauges_equal(&before, &after));
	}
	abd_free_const(gang);
}
