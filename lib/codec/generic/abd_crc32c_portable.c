/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c on any machine: eight bytes a step through eight tables, so that the steps' look-ups don't
 * wait for each other ("slicing by 8", Kounavis and Berry, 2005).
 */
#include "abd_crc32c.h"

#include <pthread.h>

#define ABD_CRC32C_POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t abd_crc32c_table[8][256];

static void abd_crc32c_table_make(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? ABD_CRC32C_POLYNOMIAL : 0);
		abd_crc32c_table[0][byte] = crc;
	}
	for (int i = 1; i < 8; i++)
		for (int byte = 0; byte < 256; byte++) {
			uint32_t before = abd_crc32c_table[i - 1][byte];

			abd_crc32c_table[i][byte] =
				before >> 8 ^ abd_crc32c_table[0][before & 0xff];
		}
}

static inline uint32_t abd_crc32c_little(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t abd_crc32c_portable_one(uint32_t state, const uint8_t *p, size_t size)
{
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t low = state ^ abd_crc32c_little(p), high = abd_crc32c_little(p + 4);

		state = abd_crc32c_table[7][low & 0xff] ^ abd_crc32c_table[6][low >> 8 & 0xff] ^
			abd_crc32c_table[5][low >> 16 & 0xff] ^ abd_crc32c_table[4][low >> 24] ^
			abd_crc32c_table[3][high & 0xff] ^ abd_crc32c_table[2][high >> 8 & 0xff] ^
			abd_crc32c_table[1][high >> 16 & 0xff] ^ abd_crc32c_table[0][high >> 24];
	}
	for (; size > 0; size--)
		state = state >> 8 ^ abd_crc32c_table[0][(state ^ *p++) & 0xff];
	return state;
}

static uint32_t abd_crc32c_portable_add(uint32_t state, const struct iovec *span, size_t count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_crc32c_table_make);
	for (; count > 0; count--, span++)
		state = abd_crc32c_portable_one(state, span->iov_base, span->iov_len);
	return state;
}

const struct abd_crc32c_kernel abd_crc32c_portable = {
	.name = "portable",
	.supported = abd_cpu_runs_any,
	.add = abd_crc32c_portable_add,
};
