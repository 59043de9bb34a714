/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What freed memory looks like in checked builds, and the calls that mark it for AddressSanitizer.
 */
#ifndef ABD_QUARANTINE_H
#define ABD_QUARANTINE_H

#include "abd_source.h"

#define ABD_POISON 0xdb

#if ABD_CHECKED
/** Give all blocks in quarantine back to their sources. */
void abd_quarantine_empty(void);

/*
 * Poison a freed block and keep it in quarantine, so that it is not used again soon; see
 * abd_quarantine.c.
 */
void abd_quarantine_put(const struct abd_source *source, void *block, size_t size, unsigned tag);

/*
 * The bytes of a block behind the used ones: guard fills them with poison when the block is
 * allocated, unguard checks them when it is freed.
 */
void abd_quarantine_guard(void *block, size_t used, size_t size);
void abd_quarantine_unguard(void *block, size_t used, size_t size);
#else
static inline void abd_quarantine_empty(void)
{
}

static inline void abd_quarantine_put(
	const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	(void)source, (void)block, (void)size, (void)tag;
}

static inline void abd_quarantine_guard(void *block, size_t used, size_t size)
{
	(void)block, (void)used, (void)size;
}

static inline void abd_quarantine_unguard(void *block, size_t used, size_t size)
{
	(void)block, (void)used, (void)size;
}
#endif

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
