/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's memset for each span. */
#include "abd_zero_span.h"

static void libc_span(void *p, size_t size, const void *next)
{
	(void)next;
	memset(p, 0, size);
}

const struct abd_zero_kernel abd_zero_libc = {
	.name = "libc",
	.supported = abd_cpu_runs_any,
	.span = libc_span,
};
