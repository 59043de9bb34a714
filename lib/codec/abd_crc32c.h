/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c (Castagnoli) over spans, one record of kernels per instruction set.
 * Invariant: a kernel continues the inner state, which is the complement of the published value.
 * RFC 3720, section 12.1 and appendix B.4 (test values).
 */
#ifndef ABD_CRC32C_H
#define ABD_CRC32C_H

#include "abd_base.h"

struct abd_crc32c_kernel {
	const char *name;
	bool (*supported)(void);
	uint32_t (*add)(uint32_t state, const void *span, size_t size);
};

/** Every kernel that was built, best first, ended by NULL; the last runs everywhere. */
extern const struct abd_crc32c_kernel *const abd_crc32c_kernels[];

/** The best kernel this CPU has. Threads: any. */
const struct abd_crc32c_kernel *abd_crc32c_best(void);

#endif
