/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to compare two names of one length. name may lie anywhere, and 64 bytes behind it can be
 * read; stored begins with a word, and is zero up to a whole one.
 */
#ifndef ABD_PERF_NAMES_WAY_H
#define ABD_PERF_NAMES_WAY_H

#include "abd_perf_names_set.h"

#include <abd/key.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAMES_INLINE static inline __attribute__((always_inline))

NAMES_INLINE bool names_equal_bytes(
	const unsigned char *name, const unsigned char *stored, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (name[i] != stored[i])
			return false;
	return true;
}

#if defined(__x86_64__)
enum { NAMES_CMPSB = 1 };

NAMES_INLINE bool names_equal_cmpsb(
	const unsigned char *name, const unsigned char *stored, size_t length)
{
	bool equal;

	/* xor sets the zero flag, which a length of 0 would leave. */
	__asm__ volatile("xor %%eax, %%eax; repe cmpsb"
			 : "=@ccz"(equal), "+S"(name), "+D"(stored), "+c"(length)
			 :
			 : "rax", "memory");
	return equal;
}
#else
enum { NAMES_CMPSB = 0 };
#define names_equal_cmpsb names_equal_bytes
#endif

NAMES_INLINE uint64_t names_word(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The sketch of 2010 counted words and advanced by bytes; here the rest of the last is masked. */
NAMES_INLINE bool names_equal_words(
	const unsigned char *name, const unsigned char *stored, size_t length)
{
	uint64_t mask = ~(uint64_t)0;

	for (; length > 8; length -= 8, name += 8, stored += 8)
		if (names_word(name) != names_word(stored))
			return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	mask >>= 8 * (8 - length);
#else
	mask <<= 8 * (8 - length);
#endif
	return ((names_word(name) ^ names_word(stored)) & mask) == 0;
}

/* Called, as a kernel's is: through a pointer that the compiler can't see through. */
static int (*volatile names_libc)(const void *, const void *, size_t) = memcmp;

NAMES_INLINE bool names_equal_memcmp(
	const unsigned char *name, const unsigned char *stored, size_t length)
{
	return names_libc(name, stored, length) == 0;
}

NAMES_INLINE bool names_equal_ours(
	const unsigned char *name, const unsigned char *stored, size_t length)
{
	return abd_key_equal(name, stored, length);
}

typedef bool names_equal_t(const unsigned char *name, const unsigned char *stored, size_t length);

NAMES_INLINE uint32_t names_find(const struct abd_perf_names_set *set, const unsigned char *name,
	size_t length, uint32_t parent, names_equal_t *equal)
{
	uint32_t hash = abd_perf_names_hash(name, length, parent),
		 at = set->bucket[hash & set->mask];

	for (; at != 0; at = set->entry[at].next) {
		const struct abd_perf_names_entry *entry = &set->entry[at];

		if (entry->hash == hash && entry->parent == parent && entry->length == length &&
			equal(name, (const unsigned char *)(set->words + entry->name), length))
			break;
	}
	return at;
}

#endif
