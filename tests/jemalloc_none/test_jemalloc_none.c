/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that did not ask for jemalloc, like most (the linker resolves the library's weak
 * reference to nothing): everything works, and the provider is refused.
 */
#include "abd_chunk.h"
#include "abd_test.h"

Test(abd_jemalloc_none, a_program_that_did_not_ask_for_it_has_all_else)
{
	cr_assert_not(abd_chunk_jemalloc.supported());
	cr_assert_eq(abd_tuning_set("chunk_provider", "jemalloc"), -EINVAL);
	cr_assert_str_eq(abd_tuning_get("chunk_provider"),
		abd_chunk_malloc.heap == NULL ? "malloc" : "regions");
	for (size_t size = 1; size <= 4 << 20; size *= 2) {
		abd_t *abd = abd_alloc(size, false), *linear = abd_alloc_linear(size, false);

		abd_zero(abd, size);
		abd_zero(linear, size);
		cr_assert(abd_equal(abd, linear));
		abd_free(abd);
		abd_free(linear);
	}
	abd_cache_reap_now();
}
