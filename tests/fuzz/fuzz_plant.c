/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted bug for fuzz_buffer: a range of 4097 bytes is zeroed but for its last. The linker sends
 * the target's calls here (--wrap).
 */
#include <abd/abd.h>

void __real_abd_zero_off(abd_t *abd, size_t off, size_t size);
void __wrap_abd_zero_off(abd_t *abd, size_t off, size_t size);

void __wrap_abd_zero_off(abd_t *abd, size_t off, size_t size)
{
	__real_abd_zero_off(abd, off, size == 4097 ? 4096 : size);
}
