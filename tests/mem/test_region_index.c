/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves of the index: refused, made by two threads at once, and addresses that have none. The
 * addresses here are not mapped, and nothing is entered there.
 */
#include "abd_mem.h"
#include "abd_region_index.h"
#include "abd_test.h"

/* In leaves that no map of a process gets. */
#define ADDRESS(leaf) ((const void *)(uintptr_t)((uint64_t)(leaf) << (ABD_REGION_SHIFT + 13)))

/* With 32 bits there is one leaf, and it is in use. */
static void need_leaves(void)
{
	if (sizeof(void *) == 4)
		cr_skip_test("there is one leaf");
}

Test(abd_region_index, addresses_without_a_leaf_are_nobodys)
{
	cr_assert_null(abd_region_index_get(ADDRESS(0)));
	if (sizeof(void *) == 8) {
		const void *beyond = (const void *)(UINTPTR_MAX >> 1);

		cr_assert_null(abd_region_index_get(beyond));
		cr_assert_not(abd_region_index_prepare(beyond, 1));
	}
}

Test(abd_region_index, a_leaf_that_the_system_refuses_is_had_later, .init = need_leaves)
{
	abd_test_fault_from(0);
	cr_assert_not(abd_region_index_prepare(ADDRESS(1), 1));
	abd_test_fault_end();
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	cr_assert_not(abd_region_index_prepare(ADDRESS(1), 1));
	cr_assert(abd_region_index_prepare(ADDRESS(1), 1));
}

/* What another thread would do in between. */
static bool prepare_first(void)
{
	atomic_store(&abd_mem_fault, NULL);
	cr_assert(abd_region_index_prepare(ADDRESS(2), 1));
	return false;
}

Test(abd_region_index, a_leaf_that_another_thread_made_meanwhile_serves_both, .init = need_leaves)
{
	struct abd_region *none = NULL;

	atomic_store(&abd_mem_fault, prepare_first);
	cr_assert(abd_region_index_prepare(ADDRESS(2), 1));
	cr_assert_null(atomic_load(&abd_mem_fault), "the leaf was there before");
	cr_assert_eq(abd_region_index_get(ADDRESS(2)), none);
}
