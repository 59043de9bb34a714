/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A gang's table grows by doubling: adding a child costs the same whether it is the tenth or the
 * thousandth.
 */
#include "abd_test_fixture.h"

Test(abd_gang_growth, a_thousand_children_need_a_few_tables, .init = begin, .fini = end)
{
	enum { CHILDREN = 1000 };
	static char bytes[CHILDREN];
	abd_t *gang = abd_alloc_gang(), *child[CHILDREN];

	for (unsigned i = 0; i < CHILDREN; i++)
		child[i] = abd_get_from_buf(&bytes[i], 1);
	abd_test_fault_count();
	for (unsigned i = 0; i < CHILDREN; i++)
		cr_assert_eq(abd_gang_add(gang, child[i], true), 0);

	size_t met = abd_test_fault_end();

	/* 6, 12, 24, ... 1536. */
	cr_assert(met >= 8 && met <= 12, "%zu allocations", met);
	cr_assert_eq(abd_get_size(gang), CHILDREN);
	abd_free(gang);
}
