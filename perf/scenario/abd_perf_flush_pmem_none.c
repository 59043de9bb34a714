/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built when libpmem is missing: the flush scenario then leaves it out.
 */
#include "abd_perf_flush_work.h"

const bool abd_perf_flush_pmem_here = false;

void abd_perf_flush_pmem_copy(void *dst, const void *src, size_t size, bool drain)
{
	(void)dst, (void)src, (void)size, (void)drain;
}

void abd_perf_flush_pmem_drain(void)
{
}
