/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by the CPU's own instruction.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

#include "abd_cpu.h"

static uint32_t add(uint32_t state, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		state = abd_crc32c_words(state, span->iov_base, span->iov_len);
	return state;
}

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE42);
}

const struct abd_crc32c_kernel abd_crc32c_sse42 = {
	.name = "sse42",
	.supported = supported,
	.add = add,
};
