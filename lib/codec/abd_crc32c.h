/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c (Castagnoli) over spans, one kernel per instruction set.
 * Invariant: a kernel continues the inner state, which is the complement of the published value.
 * RFC 3720, section 12.1 and appendix B.4 (test values).
 */
#ifndef ABD_CRC32C_H
#define ABD_CRC32C_H

#include "abd_kernel.h"
#include "abd_spans.h"

struct abd_crc32c_kernel {
	ABD_KERNEL_HEAD;
	uint32_t (*add)(uint32_t state, const struct iovec *span, size_t count);
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_crc32c_kernel abd_crc32c_vpclmul, abd_crc32c_pclmul, abd_crc32c_portable;

/** Every kernel that was built, best first, ended by NULL; the last runs everywhere. */
extern const struct abd_crc32c_kernel *const abd_crc32c_kernels[];

/** The tunable "crc32c". */
extern struct abd_choice abd_crc32c_choice;

/** The kernel for size bytes. Threads: any; see abd_choice_for(). */
static inline const struct abd_crc32c_kernel *abd_crc32c_for(size_t size)
{
	return ABD_CHOOSE(abd_crc32c_kernel, &abd_crc32c_choice, size);
}

#endif
