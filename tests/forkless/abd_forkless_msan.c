/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liblz4 under MemorySanitizer. The library of the package is not instrumented, so the bytes that
 * it writes would count as uninitialised. The linker sends its calls here (--wrap), where exactly
 * the bytes that it reports as written are declared initialised.
 * Invariant: the bytes that it reads must be initialised, so compressing or decoding uninitialised
 * memory is still found.
 */
#include <lz4.h>
#include <lz4hc.h>
#include <sanitizer/msan_interface.h>

#define ABD_MSAN_WRAP(name, parameters, arguments, read, read_size)         \
	int __real_LZ4_##name parameters;                                   \
	int __wrap_LZ4_##name parameters;                                   \
	int __wrap_LZ4_##name parameters                                    \
	{                                                                   \
		__msan_check_mem_is_initialized(read, (size_t)(read_size)); \
		int written = __real_LZ4_##name arguments;                  \
		if (written > 0)                                            \
			__msan_unpoison(dst, (size_t)written);              \
		return written;                                             \
	}

ABD_MSAN_WRAP(compress_default, (const char *src, char *dst, int size, int room),
	(src, dst, size, room), src, size)
ABD_MSAN_WRAP(compress_fast_extState,
	(void *state, const char *src, char *dst, int size, int room, int faster),
	(state, src, dst, size, room, faster), src, size)
ABD_MSAN_WRAP(compress_fast, (const char *src, char *dst, int size, int room, int faster),
	(src, dst, size, room, faster), src, size)
ABD_MSAN_WRAP(compress_HC, (const char *src, char *dst, int size, int room, int level),
	(src, dst, size, room, level), src, size)
ABD_MSAN_WRAP(decompress_safe, (const char *src, char *dst, int size, int room),
	(src, dst, size, room), src, size)
ABD_MSAN_WRAP(decompress_safe_partial, (const char *src, char *dst, int size, int target, int room),
	(src, dst, size, target, room), src, size)
