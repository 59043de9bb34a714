/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory from the C library, behind the hook for tests.
 */
#include "abd_mem.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

bool (*_Atomic abd_mem_fault)(void);

size_t abd_mem_bytes_max(void)
{
	static atomic_size_t bytes_max;
	size_t bytes = atomic_load_explicit(&bytes_max, memory_order_relaxed);

	if (bytes == 0) {
		struct sysinfo info;

		bytes = PTRDIFF_MAX / 2;
		if (sysinfo(&info) == 0)
			bytes = (size_t)(info.totalram + info.totalswap) * info.mem_unit;
		atomic_store_explicit(&bytes_max, bytes, memory_order_relaxed);
	}
	return bytes;
}

void *abd_mem_alloc(size_t size, size_t alignment)
{
	ABD_KEEP_ERRNO; /* a free may allocate; who reports that there is no memory sets errno */

	if (abd_mem_refused() || size > abd_mem_bytes_max())
		return NULL;
	return aligned_alloc(alignment, abd_round_up(size, alignment));
}

void abd_mem_free(void *block, size_t size, size_t alignment)
{
	ABD_KEEP_ERRNO;

	(void)size, (void)alignment;
	free(block);
}
