/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by the CPU's own instruction.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

static uint32_t add(uint32_t state, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		state = abd_crc32c_words(state, span->iov_base, span->iov_len);
	return state;
}

const struct abd_crc32c_kernel abd_crc32c_sse42 = {
	.name = "sse42",
	.supported = abd_cpu_runs_sse42,
	.add = add,
};
