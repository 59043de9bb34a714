/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder with Arm's 16-byte vectors. It writes matches at offsets below 16 by table look-up.
 * Invariant: as in abd_lz4_decode_quick.h. A look-up's source may hold bytes not yet decoded; none
 * of them is selected.
 */
#include "abd_lz4_decode_shuffle.h"

#include <arm_neon.h>
#include <stddef.h>
#include <string.h>

static inline void fill(uint8_t *dst, size_t offset, size_t size)
{
	const uint8_t *end = dst + size, *which = abd_lz4_repeat[offset];
	uint8x16_t bytes = vld1q_u8(dst - offset);
	uint8x16_t low = vqtbl1q_u8(bytes, vld1q_u8(which));
	uint8x16_t high = vqtbl1q_u8(bytes, vld1q_u8(which + 16));

	do {
		vst1q_u8(dst, low);
		vst1q_u8(dst + 16, high);
		dst += abd_lz4_stride_32[offset];
	} while (dst < end);
}

static inline void fill_short(uint8_t *dst, size_t offset)
{
	vst1q_u8(dst, vqtbl1q_u8(vld1q_u8(dst - offset), vld1q_u8(abd_lz4_repeat[offset])));
	memcpy(dst + 16, dst + 16 - abd_lz4_period[offset], 2);
}

#include "abd_lz4_decode_quick.h"

ABD_LZ4_DECODER(neon, abd_cpu_runs_neon);
