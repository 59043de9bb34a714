/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that was linked without the companion, like a plugin (the linker resolves the library's
 * weak reference to nothing): the C library serves all memory.
 */
#include "abd_chunk.h"
#include "abd_jemalloc.h"
#include "abd_test.h"

Test(abd_jemalloc_none, the_c_library_serves_a_program_without_the_companion)
{
	cr_assert_not(abd_jemalloc_present());
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
	abd_jemalloc_purge();
}
