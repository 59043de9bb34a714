/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of 16 MiB and more: comparing must stop where the memory ends. Kernels for memory that no
 * cache holds walk them in a different way.
 * Both sides are pages that were never written, so they are equal, zero, and take almost no memory.
 */
#include "abd_compare_kernel.h"

#include "abd_test.h"

enum { HUGE_SIZE = 16 << 20, PAGE = 64 << 10, ROOM = HUGE_SIZE + PAGE };

/* ROOM bytes, behind which none can be read. */
static uint8_t *walled(void)
{
	uint8_t *base = mmap(
		NULL, ROOM + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert(base != MAP_FAILED);
	cr_assert_eq(mprotect(base, ROOM, PROT_READ), 0);
	return base;
}

static bool all_equal(
	const struct abd_compare_kernel *kernel, const uint8_t *x, const uint8_t *y, size_t size)
{
	return kernel->equal(x, y, size, NULL, NULL) &&
	       kernel->diff(x, y, size, NULL, NULL) == size &&
	       kernel->order(x, y, size, NULL, NULL) == 0 && kernel->zero(x, size, NULL);
}

/*
 * Kernels read one side at multiples of their vectors, so each in turn ends at its wall while the
 * other is aligned.
 */
Test(abd_compare_huge, no_kernel_reads_past_the_end_of_a_huge_span)
{
	static const size_t more[] = {0, 1, 77, 4095};
	uint8_t *a = walled(), *b = walled();

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const struct abd_compare_kernel *kernel = abd_compare_kernels[i];

		for (size_t k = 0; kernel->supported() && k < sizeof(more) / sizeof(more[0]); k++) {
			size_t size = HUGE_SIZE + more[k];
			const uint8_t *x = a + ROOM - size, *y = b + ROOM - size;

			abd_test_check(all_equal(kernel, x - 7, y, size) &&
					       all_equal(kernel, x, y - 7, size),
				"%s: %zu", kernel->name, size);
		}
	}
	munmap(a, ROOM + PAGE);
	munmap(b, ROOM + PAGE);
}
