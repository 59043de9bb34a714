/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that the other tests of this layer do not reach: rarely broken contracts, damage that only
 * verification sees, sizes beyond the tables.
 */
#include "abd_chunk.h"
#include "abd_impl.h"
#include "abd_test.h"
#include "abd_test_provider.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "abd_test_fixture.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

static void end_memory(void *buf, size_t size, void *arg)
{
	(void)buf, (void)size, (void)arg;
}

static void raidz(void **c, const void *d, size_t csize, size_t dsize)
{
	(void)c, (void)d, (void)csize, (void)dsize;
}

Test(abd_edges, rarely_broken_contracts_are_told, .init = begin, .fini = end)
{
	abd_t *volatile a = abd_alloc_linear(4096, false);
	abd_t *parity[] = {a};
	size_t size;
	void *base;

	broken(abd_free(abd_get_from_buf_cb(NULL, 10, end_memory, NULL)), "memory is NULL");
	broken(abd_free(abd_get_from_buf_cb(&size, 8, NULL, NULL)), "function is NULL");
	broken(abd_raidz_gen_iterate(parity, a, 0, 2048, 1000, 1, raidz), "end within a sector");
	broken((void)abd_pool_region(NULL, &size), "is NULL");
	broken((void)abd_pool_region(&base, NULL), "is NULL");
	broken((void)abd_pool_stats_get(NULL, 8), "record is NULL");
	abd_free(a);
}

/* Behind the run table of a buffer whose runs have several orders. */
struct run_class {
	size_t start;
	uint32_t first_run, order;
};

Test(abd_edges, every_field_of_the_classes_is_verified, .init = begin, .fini = end)
{
	abd_t *volatile abd = abd_alloc(7 << 12, false), *volatile view;
	struct run_class *classes, was;

	cr_assert_eq(ABD_SCATTER(abd).abd_run_count, 3);
	classes = (struct run_class *)(void *)&ABD_SCATTER(abd).abd_runs[3];
	abd_verify(abd);
	for (size_t i = 0; i < 3; i++) {
		was = classes[i];
		classes[i].start += 4096;
		broken(abd_verify(abd), "do not describe");
		classes[i] = was;
		classes[i].first_run++;
		broken(abd_verify(abd), "do not describe");
		classes[i] = was;
		classes[i].order++;
		broken(abd_verify(abd), "do not describe");
		classes[i] = was;
	}
	abd->abd_class_count = 2;
	broken(abd_verify(abd), "do not describe");
	abd->abd_class_count = 3;
	abd_verify(abd);
	view = abd_get_offset(abd, 4096);
	view->abd_flags |= ABD_FLAG_OWNER;
	broken(abd_verify(view), "a view owns nothing");
	view->abd_flags &= ~(unsigned)ABD_FLAG_OWNER;
	abd_free(view);
	abd_free(abd);
}

/* Sizes past the last column of the table of flush policies, which ends at 16 MiB. */
Test(abd_edges, more_than_any_column_is_flushed, .init = begin, .fini = end)
{
	size_t size = ((size_t)20 << 20) + 3;
	abd_t *from = abd_alloc(size, false), *to = abd_alloc(size, false);

	abd_zero(from, size);
	for (size_t i = 0; i < size - 8; i += 999)
		abd_copy_from_buf_off(from, &i, i, 8);
	abd_flush_copy_off(to, from, 0, 0, size, ABD_FLUSH_AUTO);
	cr_assert(abd_equal(to, from));
	abd_free(from);
	abd_free(to);
}
