/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs: many children, splices, views of gangs in gangs, seeking by halves. Children that threads
 * share: whole/test_regressions.c, bug 3.
 */
#include "abd_gang.h"
#include "abd_test_fixture.h"

/*
 * Checked builds verify the whole gang at each call, so 10,000 children take 10^8 steps there; a
 * tenth shows the same.
 */
#define CHILDREN (ABD_CHECKED ? (size_t)1000 : (size_t)10000)

static abd_t *big_gang(size_t children)
{
	abd_t *gang = abd_alloc_gang();
	uint64_t at = 0;

	for (size_t i = 0; i < children; i++) {
		abd_t *child = abd_alloc_linear(8 * (1 + i % 3), false);

		for (size_t k = 0; k < abd_get_size(child); k += 8, at += 8)
			abd_copy_from_buf_off(child, &at, k, 8);
		cr_assert_eq(abd_gang_add(gang, child, true), 0);
	}
	cr_assert_eq(abd_get_size(gang), at);
	return gang;
}

static int count_up(void *buf, size_t len, void *priv)
{
	uint64_t *expected = priv;

	for (size_t k = 0; k < len; k += 8, *expected += 8)
		if (memcmp((char *)buf + k, expected, 8) != 0)
			return 1;
	return 0;
}

TestSuite(abd_gang, .init = begin, .fini = end);

Test(abd_gang, thousands_of_children_are_one_buffer)
{
	abd_t *gang = big_gang(CHILDREN);
	size_t size = abd_get_size(gang);
	uint64_t at = 0;

	cr_assert_eq(abd_iterate_func(gang, 0, size, count_up, &at), 0);
	cr_assert_eq(at, size);
	for (uint64_t i = 0; i < size; i += 8 * 37)
		abd_test_check(abd_cmp_buf_off(gang, &i, (size_t)i, 8) == 0, "at %zu", (size_t)i);
	abd_free(gang);
}

Test(abd_gang, seeking_finds_the_child_of_every_byte)
{
	for (size_t children = 1; children < 40; children++) {
		abd_t *gang = big_gang(children);
		const struct abd_gang *table = abd_gang_table(gang);

		for (size_t at = 0; at < abd_get_size(gang); at++) {
			const struct abd_gang_entry *entry = abd_gang_seek(table, at);

			abd_test_check(entry->start <= at && at < entry->start + entry->size,
				"%zu children: %zu is not in child %zu", children, at,
				(size_t)(entry - table->entries));
		}
		abd_free(gang);
	}
}

Test(abd_gang, a_big_gang_is_swallowed_and_shared_whole)
{
	abd_t *gang = big_gang(500), *second = big_gang(500), *third = big_gang(7);
	size_t size = abd_get_size(gang), all;
	uint64_t at = 0;

	cr_assert_eq(abd_gang_add(third, gang, false), 0);
	cr_assert_eq(abd_gang_add(third, second, true), 0);
	all = abd_get_size(third);
	cr_assert_eq(all - 2 * size, 8 * (1 + 2 + 3 + 1 + 2 + 3 + 1));
	cr_assert_eq(abd_iterate_func(third, all - size, size, count_up, &at), 0);
	cr_assert(abd_equal_off(third, gang, all - 2 * size, 0, size));
	abd_zero(third, all);
	cr_assert_eq(abd_cmp_zero(gang, size), 0);
	abd_free(third);
	abd_free(gang);
}

Test(abd_gang, partial_views_of_gangs_are_taken_apart_exactly)
{
	abd_t *source = big_gang(12);
	size_t size = abd_get_size(source);
	uint8_t *flat = malloc(size);

	abd_copy_to_buf(flat, source, size);
	for (size_t off = 0; off < size; off += 5)
		for (size_t n = 1; n <= size - off; n += 7) {
			abd_t *gang = abd_alloc_gang(), *view = abd_get_offset_size(source, off, n);

			cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(3, false), true), 0);
			cr_assert_eq(abd_gang_add(gang, view, n % 2 != 0), 0);
			abd_test_check(abd_get_size(gang) == 3 + n, "size %zu", abd_get_size(gang));
			abd_test_check(abd_cmp_buf_off(gang, flat + off, 3, n) == 0, "[%zu, +%zu)",
				off, n);
			abd_free(gang);
			if (n % 2 == 0)
				abd_free(view);
		}
	free(flat);
	abd_free(source);
}

Test(abd_gang, a_view_sees_what_its_gang_was_when_it_was_made)
{
	abd_t *gang = big_gang(5), *view = abd_get_offset(gang, 3);
	size_t size = abd_get_size(gang);

	cr_assert_eq(abd_get_size(view), size - 3);
	/* The table moves when it grows; the view follows it, and keeps its size. */
	for (size_t i = 0; i < 100; i++)
		cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(9, false), true), 0);
	cr_assert_eq(abd_get_size(view), size - 3);
	cr_assert(abd_equal_off(view, gang, 0, 3, size - 3));
	abd_verify(view);
	abd_free(view);
	abd_free(gang);
}

Test(abd_gang, one_child_may_come_again_and_again)
{
	abd_t *gang = abd_alloc_gang(), *other = abd_alloc_gang(), *child = abd_alloc(5000, false);

	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(abd_gang_add(gang, child, false), 0);
		cr_assert_eq(abd_gang_add(other, child, false), 0);
	}
	cr_assert_eq(child->abd_gang_refs, 10);
	abd_copy_from_buf_off(gang, "seen", 3 * 5000 + 17, 4);
	cr_assert_eq(abd_cmp_buf_off(other, "seen", 17, 4), 0);
	abd_free(gang);
	cr_assert_eq(child->abd_gang_refs, 5);
	abd_free(other);
	abd_free(child);
}

Test(abd_gang, an_owned_child_may_be_there_twice_by_a_splice)
{
	abd_t *gang = abd_alloc_gang(), *donor = abd_alloc_gang(),
	      *child = abd_alloc_linear(10, false);

	cr_assert_eq(abd_gang_add(donor, child, true), 0);
	cr_assert_eq(child->abd_flags & ABD_FLAG_GANG_FREE, ABD_FLAG_GANG_FREE);
	cr_assert_eq(abd_gang_add(gang, donor, false), 0);
	cr_assert_eq(abd_gang_add(gang, donor, true), 0);
	cr_assert_eq(abd_get_size(gang), 20);
	cr_assert_eq(child->abd_gang_refs, 2);
	abd_free(gang); /* the child once */
}

/* The table grows by doubling: adding costs the same for the tenth child and the thousandth. */
Test(abd_gang, a_thousand_children_need_a_few_tables)
{
	enum { MANY = 1000 };
	static char bytes[MANY];
	abd_t *gang = abd_alloc_gang(), *child[MANY];

	for (unsigned i = 0; i < MANY; i++)
		child[i] = abd_get_from_buf(&bytes[i], 1);
	abd_test_fault_count();
	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(abd_gang_add(gang, child[i], true), 0);

	size_t met = abd_test_fault_end();

	/* 6, 12, 24, ... 1536. */
	cr_assert(met >= 8 && met <= 12, "%zu allocations", met);
	cr_assert_eq(abd_get_size(gang), MANY);
	abd_free(gang);
}
