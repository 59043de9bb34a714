/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of a fixed size, of any alignment. Memory is touched through memcpy() only, which is two
 * instructions where the machine has registers of the size.
 */
#ifndef ABD_LZ4_DECODE_COPY_H
#define ABD_LZ4_DECODE_COPY_H

#include <stdint.h>
#include <string.h>

/* What copy_wide() copies. */
#define WIDE 64

/*
 * Copy one 8-byte word through a general register.
 *
 * A match often reads what was stored a moment ago by two copies. A load that spans two recent
 * stores waits until both are in the cache. A load that lies within one store does not wait, and a
 * word lies within one store more often than a vector does. gcc would join neighbouring words into
 * vectors: hence the empty asm. Compared with 16-byte vectors in short matches and in the first 48
 * bytes of long ones (abd-perf run codec, AVX-512, hot): real files 1.11 times as fast, rows of
 * ratio 2.4 1.05 times, others level.
 */
static inline void copy_8(uint8_t *dst, const uint8_t *src)
{
	uint64_t word;

	memcpy(&word, src, sizeof(word));
	__asm__("" : "+r"(word));
	memcpy(dst, &word, sizeof(word));
}

/*
 * Longer copies go by 16 bytes, even on CPUs that have wider vectors. Neither side of a copy is
 * aligned, so every 64-byte vector crosses a line, half of the 32-byte ones do, and a quarter of
 * the 16-byte ones. Compared with 64-byte literals and 32-byte matches (abd-perf run codec, one
 * Xeon with AVX-512, hot): rows of ratio 1.3 and rows of ratio 8 are 1.03 times as fast, fio's
 * records 1.13 to 1.16 times, real files level.
 */
static inline void copy_16(uint8_t *dst, const uint8_t *src)
{
	uint8_t vector __attribute__((vector_size(16)));

	memcpy(&vector, src, sizeof(vector));
	memcpy(dst, &vector, sizeof(vector));
}

static inline void copy_32(uint8_t *dst, const uint8_t *src)
{
	copy_16(dst, src);
	copy_16(dst + 16, src + 16);
}

static inline void copy_wide(uint8_t *dst, const uint8_t *src)
{
	copy_32(dst, src);
	copy_32(dst + 32, src + 32);
}

#endif
