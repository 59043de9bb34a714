/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name in a path, and the ways to find its end, to hash it and to compare it. All inline, as they
 * would be in a look-up.
 *
 * Invariant: the word-wise ones read up to 8 bytes behind a name, on both sides: whoever stores
 * names and paths leaves that room. abd_key_equal() needs none.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010. The
 * sketch posted there advanced by bytes what it counted in words, and compared bytes where it meant
 * words; the masked words here are what it meant.
 */
#ifndef ABD_PERF_NAMES_COMPARE_H
#define ABD_PERF_NAMES_COMPARE_H

#include "abd_perf_names_cmpsb.h"

#include <abd/abd.h>

#include <endian.h>
#include <string.h>

#define ABD_PERF_NAME_MAX 255
#define ABD_PERF_NAME_WORDS (ABD_PERF_NAME_MAX / 8 + 1)
#define ABD_PERF_INLINE static inline __attribute__((always_inline))

struct abd_perf_name {
	const uint8_t *p;
	uint32_t hash;
	uint32_t length;
	uint64_t word[ABD_PERF_NAME_WORDS]; /* kept in one pass: the name, filled up with zeros */
};

/* ---- splitting and hashing: from p to the next slash or end; hash holds the parent's number -- */

/* A byte at a time, as it was in 2010; FNV-1a. */
ABD_PERF_INLINE void abd_perf_name_split_bytes(
	struct abd_perf_name *name, const uint8_t *p, uint32_t parent)
{
	uint32_t hash = parent * 0x9e3779b1u, length = 0;

	for (; p[length] != '/' && p[length] != '\0'; length++)
		hash = (hash ^ p[length]) * 0x01000193u;
	name->p = p;
	name->hash = hash;
	name->length = length;
}

/* Memory's first byte lowest, on every machine. */
ABD_PERF_INLINE uint64_t abd_perf_name_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/*
 * The highest bit of the lowest byte that is 0 is the lowest bit set; above it there may be others.
 */
ABD_PERF_INLINE uint64_t abd_perf_name_zero(uint64_t word)
{
	return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

ABD_PERF_INLINE uint64_t abd_perf_name_fold(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

/*
 * Eight bytes at a time: each is loaded once to find the end and to hash, and kept for the
 * comparison if so wished.
 */
ABD_PERF_INLINE void abd_perf_name_split_words(
	struct abd_perf_name *name, const uint8_t *p, uint32_t parent, bool keep)
{
	uint64_t hash = parent * 0x9e3779b97f4a7c15u, word, end;
	uint32_t n = 0;

	for (;; n++) {
		word = abd_perf_name_word(p + (size_t)n * 8);
		end = abd_perf_name_zero(word) | abd_perf_name_zero(word ^ 0x2f2f2f2f2f2f2f2fu);
		if (end != 0 || n == ABD_PERF_NAME_WORDS - 1)
			break;
		if (keep)
			name->word[n] = word;
		hash = abd_perf_name_fold(hash, word);
	}
	/* All bits below the first byte that ends it. */
	word &= ((end & -end) >> 7) - 1;
	if (keep)
		name->word[n] = word;
	name->p = p;
	name->hash = (uint32_t)abd_perf_name_fold(hash, word);
	name->length = n * 8 + (uint32_t)__builtin_ctzll(end) / 8;
}

ABD_PERF_INLINE void abd_perf_name_split_plain(
	struct abd_perf_name *name, const uint8_t *p, uint32_t parent)
{
	abd_perf_name_split_words(name, p, parent, false);
}

ABD_PERF_INLINE void abd_perf_name_split_keep(
	struct abd_perf_name *name, const uint8_t *p, uint32_t parent)
{
	abd_perf_name_split_words(name, p, parent, true);
}

/* ---- comparing with a stored name of the same length; stored names are filled up with zeros -- */

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

/* With the words that were kept. */
ABD_PERF_INLINE bool abd_perf_name_equal_kept(
	const struct abd_perf_name *name, const uint8_t *stored)
{
	for (uint32_t i = 0; i <= name->length / 8; i++) {
		if (name->word[i] != abd_perf_name_word(stored + (size_t)i * 8))
			return false;
	}
	return true;
}

/*
 * Every method: METHOD(stem, name for people, how to split, which table, how to compare). Without
 * comparing is what the others are to be seen against; its results are not checked.
 */
#define ABD_PERF_NAMES_METHODS(METHOD)                    \
	METHOD(none, "no compare", bytes, 0, none)        \
	METHOD(bytes, "byte loop", bytes, 0, bytes)       \
	METHOD(cmpsb, "rep cmpsb", bytes, 0, cmpsb)       \
	METHOD(libc, "memcmp", bytes, 0, libc)            \
	METHOD(masked, "masked words", bytes, 0, masked)  \
	METHOD(ours, "ours", bytes, 0, ours)              \
	METHOD(plain, "words, then ours", plain, 1, ours) \
	METHOD(keep, "one pass", keep, 1, kept)

enum {
	ABD_PERF_NAMES_NONE,
	ABD_PERF_NAMES_BYTES,
	ABD_PERF_NAMES_CMPSB,
	ABD_PERF_NAMES_LIBC,
	ABD_PERF_NAMES_MASKED,
	ABD_PERF_NAMES_OURS,
	ABD_PERF_NAMES_PLAIN,
	ABD_PERF_NAMES_KEEP,
	ABD_PERF_NAMES_COUNT
};

#endif
