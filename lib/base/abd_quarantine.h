/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What freed memory looks like in checked builds, and how AddressSanitizer is told.
 */
#ifndef ABD_QUARANTINE_H
#define ABD_QUARANTINE_H

#include "abd_base.h"

#define ABD_POISON 0xdb

#if defined(__SANITIZE_ADDRESS__)
#define ABD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ABD_ASAN 1
#endif
#endif

#ifdef ABD_ASAN
#include <sanitizer/asan_interface.h>

static inline void abd_asan_poison(void *block, size_t size)
{
	__asan_poison_memory_region(block, size);
}

static inline void abd_asan_unpoison(void *block, size_t size)
{
	__asan_unpoison_memory_region(block, size);
}
#else
static inline void abd_asan_poison(void *block, size_t size)
{
	(void)block, (void)size;
}

static inline void abd_asan_unpoison(void *block, size_t size)
{
	(void)block, (void)size;
}
#endif

#endif
