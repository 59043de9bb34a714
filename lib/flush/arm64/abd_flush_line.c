/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines written back from the cache, one instruction a kernel, and the fence behind them.
 */
#include "abd_flush_arm64.h"

#define FLUSH(line, count, instruction)                                                      \
	do {                                                                                 \
		size_t step_ = abd_flush_arm64_step();                                       \
		uintptr_t at_ = (uintptr_t)(line);                                           \
                                                                                             \
		for (uintptr_t end_ = at_ + (count)*ABD_LINE_SIZE; at_ < end_; at_ += step_) \
			__asm__ volatile(instruction ", %0" : : "r"(at_) : "memory");        \
	} while (0)

/*
 * dc cvac: clean a line to the point of coherency, where devices see it. Every aarch64 has it. It
 * does not promise that the line then survives a power failure.
 */
static void cvac_flush(void *line, size_t count)
{
	FLUSH(line, count, "dc cvac");
}

const struct abd_flush_kernel abd_flush_cvac = {
	.name = "cvac",
	.supported = abd_cpu_runs_any,
	.flush = cvac_flush,
	.durability = ABD_FLUSH_DURABILITY_COHERENCY,
	.fence = abd_flush_fence,
};

/*
 * dc cvap: clean a line to the point of persistence (Armv8.2 DPB). Written as sys, which older
 * assemblers know too.
 */
static void cvap_flush(void *line, size_t count)
{
	FLUSH(line, count, "sys #3, c7, c12, #1");
}

const struct abd_flush_kernel abd_flush_cvap = {
	.name = "cvap",
	.supported = abd_cpu_runs_dcpop,
	.flush = cvap_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};

/* dsb sy: once it has run, all cache maintenance before it is complete for the whole system. A dmb
 * would only order it. */
void abd_flush_fence(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}
