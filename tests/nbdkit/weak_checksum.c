/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded: checksums of contents (whole buffers, seed 0) keep only 3 bits, so unequal blocks
 * often have the same checksum. Code that trusts a checksum without comparing the bytes then
 * confuses blocks.
 */
#include <abd/abd.h>

#include <dlfcn.h>
#include <stdlib.h>

__attribute__((visibility("default"))) uint64_t abd_xxh3(
	const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	static uint64_t (*next)(const abd_t *, size_t, size_t, uint64_t);

	if (next == NULL) {
		void *library = dlopen("libabd.so.0", RTLD_LAZY | RTLD_NOLOAD);

		if (library == NULL)
			abort();
		*(void **)&next = dlsym(library, "abd_xxh3");
	}
	return next(abd, off, size, seed) & (off == 0 && seed == 0 ? 7 : UINT64_MAX);
}
