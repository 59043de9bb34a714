/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted bug for fuzz_lz4_range: the last byte of every range of 13 bytes is wrong. The linker
 * sends the target's calls here (--wrap).
 */
#include <abd/codec.h>

ssize_t __real_abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size);
ssize_t __wrap_abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size);

ssize_t __wrap_abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size)
{
	ssize_t got = __real_abd_lz4_decompress_range_to_buf(
		dst, src, range_off, range_size, src_off, src_size);

	if (got == 13)
		((unsigned char *)dst)[12] ^= 1;
	return got;
}
