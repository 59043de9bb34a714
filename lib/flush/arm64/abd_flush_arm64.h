/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernels of aarch64 share: data cache maintenance by address, which Linux lets user
 * programs do. Its non-temporal stores are only hints, so all of them copy through the cache. Not
 * measured: tests check their results under an emulator; their speed is not known.
 */
#ifndef ABD_FLUSH_ARM64_H
#define ABD_FLUSH_ARM64_H

#include "abd_flush_kernel.h"

/**
 * The distance from one flush to the next: the system's smallest data cache line, but at most
 * ABD_LINE_SIZE.
 */
static inline size_t abd_flush_arm64_step(void)
{
	uint64_t ctr;

	__asm__("mrs %0, ctr_el0" : "=r"(ctr));

	/* CTR_EL0.DminLine, bits 16 to 19: log2 of the line's 4-byte words. */
	size_t line_size = (size_t)4 << ((ctr >> 16) & 15);

	return abd_min(line_size, ABD_LINE_SIZE);
}

#endif
