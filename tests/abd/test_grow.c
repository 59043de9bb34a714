/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs that grow by bytes at both ends, against flat bytes.
 */
#include "abd_gang.h"
#include "abd_test.h"

#pragma GCC diagnostic ignored "-Wunused-result" /* nothing is returned */

#define FLAT ((size_t)1 << 20)

/* What the gang holds: flat[begin, end). */
static uint8_t flat[FLAT], back[FLAT];
static size_t begin_at, end_at;

static void check(const abd_t *gang, size_t off)
{
	size_t size = end_at - begin_at;

	abd_verify(gang);
	cr_assert_eq(abd_get_size(gang), size);
	abd_copy_to_buf_off(back, gang, off, size - off);
	cr_assert_eq(memcmp(back, flat + begin_at + off, size - off), 0);
}

static void grow(abd_t *gang, uint64_t *seed, size_t size, bool front)
{
	if (front)
		begin_at -= size;
	else
		end_at += size;

	uint8_t *piece = front ? flat + begin_at : flat + end_at - size;

	for (size_t i = 0; i < size; i++)
		piece[i] = (uint8_t)abd_test_random(seed);
	cr_assert_eq(front ? abd_prepend(gang, piece, size) : abd_append(gang, piece, size), 0);
}

Test(abd_grow, both_ends_grow_by_pieces_of_any_size)
{
	static const size_t sizes[] = {1, 7, 100, 1000, 4095, 4096, 4097, 9000};

	for (uint64_t seed = 1; seed < 40; seed++) {
		uint64_t random = seed;
		abd_t *gang = abd_alloc_gang();

		begin_at = end_at = FLAT / 2;
		for (size_t i = 0; i < 60; i++) {
			size_t n = sizes[abd_test_random_below(&random, 8)];

			/* one end only, the other only, or both */
			grow(gang, &random, n,
				seed % 3 == 2 || (seed % 3 == 1 && abd_test_random(&random) % 2));
			if (i % 8 == 0)
				check(gang, abd_test_random_below(&random, end_at - begin_at));
		}
		check(gang, 0);
		abd_free(gang);
	}
}

Test(abd_grow, children_stand_between_bytes)
{
	uint64_t random = 5;
	abd_t *gang = abd_alloc_gang(), *child = abd_alloc(20000, false);

	begin_at = end_at = FLAT / 2;
	grow(gang, &random, 100, false);
	for (size_t i = 0; i < 20000; i++)
		flat[end_at + i] = (uint8_t)(i / 3);
	abd_copy_from_buf(child, flat + end_at, 20000);
	end_at += 20000;
	cr_assert_eq(abd_gang_add(gang, child, true), 0);
	grow(gang, &random, 100, false);
	grow(gang, &random, 100, true);
	check(gang, 0);
	/* A gang that began in front is a child like any other. */
	abd_t *outer = abd_alloc_gang();

	cr_assert_eq(abd_append(outer, "", 0), 0);
	cr_assert_eq(abd_gang_add(outer, gang, true), 0);
	grow(outer, &random, 5000, false);
	grow(outer, &random, 5000, true);
	check(outer, 0);
	abd_free(outer);
}

Test(abd_grow, views_and_other_gangs_hold_what_they_held)
{
	uint64_t random = 7;
	abd_t *gang = abd_alloc_gang(), *other = abd_alloc_gang();

	begin_at = end_at = 0;
	grow(gang, &random, 3000, false);

	abd_t *view = abd_get_offset_size(gang, 1000, 2000);

	cr_assert_eq(abd_gang_add(other, gang, false), 0);
	for (size_t i = 0; i < 200; i++)
		grow(gang, &random, 77, false);
	cr_assert_eq(abd_cmp_buf(view, flat + 1000, 2000), 0);
	cr_assert_eq(abd_get_size(other), 3000);
	cr_assert_eq(abd_cmp_buf(other, flat, 3000), 0);
	/* The room belongs to the first gang. */
	cr_assert_eq(abd_append(other, "other", 5), 0);
	check(gang, 0);
	abd_free(view);
	abd_free(other);
	abd_free(gang);
}

/* A quarter of what is there: so the number of members grows by its logarithm. */
Test(abd_grow, small_pieces_make_few_members)
{
	static char piece[100];

	for (unsigned front = 0; front < 2; front++) {
		abd_t *gang = abd_alloc_gang();

		for (size_t i = 0; i < 100000; i++)
			cr_assert_eq(front ? abd_prepend(gang, piece, 100)
					   : abd_append(gang, piece, 100),
				0);
		cr_assert_eq(abd_get_size(gang), 10000000);
		cr_assert_lt(abd_gang_table(gang)->count, 50);
		abd_free(gang);
	}
}

static abd_t *made(uint64_t *random)
{
	abd_t *gang = abd_alloc_gang();

	begin_at = end_at = FLAT / 2;
	grow(gang, random, 4000, false);
	grow(gang, random, 4000, true);
	return gang;
}

Test(abd_grow, without_memory_nothing_changes)
{
	uint64_t random = 9;

	abd_tuning_set("thread_cache_bytes", "0");
	for (unsigned front = 0; front < 2; front++) {
		abd_t *gang = made(&random);

		for (size_t site = 0, sites = 1; site < sites; site++) {
			int error;

			abd_test_fault_from(site);
			error = front ? abd_prepend(gang, back, 5000)
				      : abd_append(gang, back, 5000);
			sites = abd_test_fault_end();
			cr_assert(error == -ENOMEM || (error == 0 && sites == site), "%d", error);
			if (error != 0)
				check(gang, 0);
		}
		abd_free(gang);
	}
	abd_test_tunables_restore();
}

/* The table is there already then, or full. */
Test(abd_grow, without_memory_the_first_member_and_the_seventh_are_refused)
{
	abd_t *linear = abd_alloc_linear(100, false);

	abd_tuning_set("thread_cache_bytes", "0");
	for (unsigned front = 0; front < 2; front++) {
		abd_t *gang = abd_alloc_gang();

		for (size_t site = 0; site < 2; site++) {
			abd_test_fault_from(site);
			cr_assert_eq(
				front ? abd_prepend(gang, back, 100) : abd_append(gang, back, 100),
				-ENOMEM);
			abd_test_fault_end();
			abd_verify(gang);
			cr_assert_eq(abd_get_size(gang), 0);
		}
		cr_assert_eq(front ? abd_prepend(gang, back, 9) : abd_append(gang, back, 9), 0);
		abd_free(gang);
		gang = abd_alloc_gang();
		for (size_t i = 0; i < 6; i++)
			cr_assert_eq(abd_gang_add(gang, linear, false), 0);
		abd_test_fault_from(0);
		cr_assert_eq(front ? abd_prepend(gang, back, 100) : abd_append(gang, back, 100),
			-ENOMEM);
		abd_test_fault_end();
		cr_assert_eq(abd_get_size(gang), 600);
		/* Less room will do. */
		cr_assert_eq(abd_append(gang, back, 5000), 0);
		abd_test_fault_at(0);
		cr_assert_eq(front ? abd_prepend(gang, back, 100) : abd_append(gang, back, 100), 0);
		abd_test_fault_end();
		cr_assert_eq(abd_get_size(gang), 5700);
		abd_free(gang);
	}
	abd_test_tunables_restore();
	abd_free(linear);
}

Test(abd_grow, what_cannot_grow_breaks_the_contract)
{
	abd_t *gang = abd_alloc_gang(), *linear = abd_alloc_linear(100, false), *view;

	cr_assert_eq(abd_append(gang, "bytes", 5), 0);
	view = abd_get_offset(gang, 1);
	abd_test_expect_contract((void)abd_append(view, "x", 1), "is a view; it can't grow");
	abd_test_expect_contract((void)abd_prepend(view, "x", 1), "is a view; it can't grow");
	abd_test_breaks(abd_append, linear, "x", 1);
	abd_test_breaks(abd_prepend, linear, "x", 1);
	abd_test_expect_contract((void)abd_append(gang, NULL, 1), "abd_append: buf is NULL");
	abd_test_expect_contract((void)abd_append(gang, "x", SIZE_MAX), "can't grow by");
#if ABD_CHECKED
	abd_test_expect_contract((void)abd_prepend(gang, "x", 1), "that has views");
#endif
	abd_free(view);

	/* Nobody looks at these bytes. */
	abd_t *large = abd_get_from_buf(back, SIZE_MAX / 2 + 1), *outer = abd_alloc_gang();

	cr_assert_eq(abd_gang_add(outer, large, true), 0);
	abd_test_expect_contract((void)abd_append(outer, "x", 1), "can't grow by 1");
	abd_free(outer);
	cr_assert_eq(abd_prepend(gang, "x", 1), 0);
	cr_assert_eq(abd_cmp_buf(gang, "xbytes", 6), 0);
	abd_free(linear);
	abd_free(gang);
}
