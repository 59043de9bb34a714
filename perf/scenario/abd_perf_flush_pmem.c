/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libpmem, for comparison. It chooses its own instructions for this CPU.
 */
#include "abd_perf_flush_work.h"

#include <libpmem.h>

const bool abd_perf_flush_pmem_here = true;

void abd_perf_flush_pmem_copy(void *dst, const void *src, size_t size, bool drain)
{
	pmem_memcpy(dst, src, size, PMEM_F_MEM_NONTEMPORAL | (drain ? 0 : PMEM_F_MEM_NODRAIN));
}

void abd_perf_flush_pmem_drain(void)
{
	pmem_drain();
}
