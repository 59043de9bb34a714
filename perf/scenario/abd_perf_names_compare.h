/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name in a path: how its end and its hash are found, and the ways to compare it. All are inline,
 * as they would be in a look-up.
 *
 * Invariant: the masked words may read up to 8 bytes past the end of both names, so whoever stores
 * names and paths leaves that room. abd_key_equal() needs none.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010. The
 * sketch posted there counted in words but advanced by bytes, and compared bytes instead of words.
 * The masked words here do what it intended.
 */
#ifndef ABD_PERF_NAMES_COMPARE_H
#define ABD_PERF_NAMES_COMPARE_H

#include "abd_perf_names_cmpsb.h"

#include <abd/abd.h>

#include <endian.h>
#include <string.h>

#define ABD_PERF_INLINE static inline __attribute__((always_inline))

struct abd_perf_name {
	const uint8_t *p;
	uint32_t hash;
	uint32_t length;
};

/*
 * The name from p to the next slash or the end, found byte by byte, as Linux did in 2010. The hash
 * is FNV-1a over the name, and begins with the parent's number.
 */
ABD_PERF_INLINE void abd_perf_name_split(
	struct abd_perf_name *name, const uint8_t *p, uint32_t parent)
{
	uint32_t hash = parent * 0x9e3779b1u, length = 0;

	for (; p[length] != '/' && p[length] != '\0'; length++)
		hash = (hash ^ p[length]) * 0x01000193u;
	name->p = p;
	name->hash = hash;
	name->length = length;
}

/* A word whose lowest byte is the first in memory, on every machine. */
ABD_PERF_INLINE uint64_t abd_perf_name_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* ---- comparing with a stored name of the same length; stored names are padded with zeros ----- */

ABD_PERF_INLINE bool abd_perf_name_equal_none(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	(void)name;
	(void)stored;
	return true;
}

ABD_PERF_INLINE bool abd_perf_name_equal_bytes(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	uint32_t i = 0;

	while (i < name->length && name->p[i] == stored[i]) {
		__asm__ volatile(""); /* a byte at a time: no vectors */
		i++;
	}
	return i == name->length;
}

ABD_PERF_INLINE bool abd_perf_name_equal_cmpsb(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	return abd_perf_names_cmpsb(name->p, stored, name->length);
}

ABD_PERF_INLINE bool abd_perf_name_equal_libc(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	return memcmp(name->p, stored, name->length) == 0;
}

ABD_PERF_INLINE bool abd_perf_name_equal_masked(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	static const uint64_t mask[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff};
	const uint8_t *p = name->p;
	uint32_t left = name->length;

	for (; left > 8; p += 8, stored += 8, left -= 8) {
		if (abd_perf_name_word(p) != abd_perf_name_word(stored))
			return false;
	}
	return ((abd_perf_name_word(p) ^ abd_perf_name_word(stored)) & mask[left]) == 0;
}

ABD_PERF_INLINE bool abd_perf_name_equal_ours(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	return abd_key_equal(name->p, stored, name->length);
}

/*
 * Every method: METHOD(stem, name for people). "no compare" is the baseline; its results are not
 * checked.
 */
#define ABD_PERF_NAMES_METHODS(METHOD) \
	METHOD(none, "no compare")     \
	METHOD(bytes, "byte loop")     \
	METHOD(cmpsb, "rep cmpsb")     \
	METHOD(libc, "memcmp")         \
	METHOD(masked, "masked words") \
	METHOD(ours, "ours")

enum {
	ABD_PERF_NAMES_NONE,
	ABD_PERF_NAMES_BYTES,
	ABD_PERF_NAMES_CMPSB,
	ABD_PERF_NAMES_LIBC,
	ABD_PERF_NAMES_MASKED,
	ABD_PERF_NAMES_OURS,
	ABD_PERF_NAMES_COUNT
};

#endif
