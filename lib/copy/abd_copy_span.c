/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which copy kernel, and the portable one: the C library's memcpy per span.
 * Invariant: the choice is made once and is always the same, so threads that make it at once don't
 * disturb each other.
 */
#include "abd_copy_span.h"

#include <stdatomic.h>
#include <string.h>

extern const struct abd_copy_kernel abd_copy_avx512;
extern const struct abd_copy_kernel abd_copy_libc;

const struct abd_copy_kernel *const abd_copy_kernels[] = {
#if defined(__x86_64__) && !defined(__ILP32__)
	&abd_copy_avx512,
#endif
	&abd_copy_libc,
	NULL,
};

static bool libc_supported(void)
{
	return true;
}

/*
 * No hints: with memcpy, fetching 4 or 8 lines of the next runs was worth nothing between 4 KiB and
 * 256 MiB.
 */
static void libc_span(void *dst, const void *src, size_t size, void *next_dst, const void *next_src)
{
	(void)next_dst;
	(void)next_src;
	memcpy(dst, src, size);
}

static const struct abd_copy_plan *libc_plan(size_t total_size)
{
	static const struct abd_copy_plan plan = {libc_span, NULL};

	(void)total_size;
	return &plan;
}

const struct abd_copy_kernel abd_copy_libc = {
	.name = "libc",
	.supported = libc_supported,
	.plan = libc_plan,
};

static const struct abd_copy_kernel *abd_copy_best(void)
{
	const struct abd_copy_kernel *const *kernel = abd_copy_kernels;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the last one, libc, always is */
	while (!(*kernel)->supported())
		kernel++;
	return *kernel;
}

const struct abd_copy_plan *abd_copy_plan_for(size_t total_size)
{
	static _Atomic(const struct abd_copy_kernel *) chosen;
	const struct abd_copy_kernel *kernel = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (ABD_UNLIKELY(kernel == NULL)) {
		kernel = abd_copy_best();
		atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
	}
	return kernel->plan(total_size);
}
