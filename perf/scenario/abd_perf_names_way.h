/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to compare a name with one of a table (abd_perf_tree.h), of both of which whole words can be
 * read; and by each the loop that looks names up. Only abd_perf_names.c includes this.
 */
#ifndef ABD_PERF_NAMES_WAY_H
#define ABD_PERF_NAMES_WAY_H

#include "abd_perf_clock.h"
#include "abd_perf_tree.h"

#include <abd/key.h>

#include <string.h>

#define NAMES_INLINE static inline __attribute__((always_inline))
#define NAMES_EQUAL(way)                     \
	NAMES_INLINE bool names_equal_##way( \
		const unsigned char *name, const unsigned char *stored, size_t length)

typedef bool names_equal_t(const unsigned char *name, const unsigned char *stored, size_t length);

NAMES_EQUAL(bytes)
{
	for (size_t i = 0; i < length; i++)
		if (name[i] != stored[i])
			return false;
	return true;
}

#if defined(__x86_64__)
enum { NAMES_CMPSB = 1 };

NAMES_EQUAL(cmpsb)
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
NAMES_EQUAL(words)
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

NAMES_EQUAL(memcmp)
{
	return names_libc(name, stored, length) == 0;
}

NAMES_EQUAL(ours)
{
	return abd_key_equal(name, stored, length);
}

/* ---- looking names up ------------------------------------------------------------------------ */

/* What is known of a name before it is looked up, and what is to be found. */
struct names_query {
	uint32_t path, length, parent, wanted;
};

static struct abd_perf_tree tree;

static struct {
	struct names_query *query;
	size_t count, at;
	double bytes;  /* of a name, on average */
	size_t missed; /* look-ups that did not find what they should */
} names;

NAMES_INLINE uint32_t names_find(const struct names_query *query, names_equal_t *equal)
{
	const unsigned char *name = tree.text + query->path;
	uint32_t hash = abd_perf_tree_hash(name, query->length, query->parent),
		 at = tree.bucket[hash & tree.mask];

	for (; at != 0; at = tree.entry[at].next) {
		const struct abd_perf_tree_entry *entry = &tree.entry[at];

		if (entry->hash == hash && entry->parent == query->parent &&
			entry->length == query->length &&
			equal(name, (const unsigned char *)(tree.words + entry->name),
				query->length))
			break;
	}
	return at;
}

#define NAMES_WAY(stem)                                                                           \
	static double names_run_##stem(void *arg, uint64_t iterations)                            \
	{                                                                                         \
		double start = abd_perf_clock_ns();                                               \
                                                                                                  \
		(void)arg;                                                                        \
		for (; iterations > 0; iterations--) {                                            \
			names.missed += names_find(&names.query[names.at], names_equal_##stem) != \
					names.query[names.at].wanted;                             \
			names.at = names.at + 1 < names.count ? names.at + 1 : 0;                 \
		}                                                                                 \
		return abd_perf_clock_ns() - start;                                               \
	}

NAMES_WAY(bytes)
NAMES_WAY(cmpsb)
NAMES_WAY(words)
NAMES_WAY(memcmp)
NAMES_WAY(ours)

enum { BYTES, WORDS, MEMCMP, OURS, CMPSB, NAMES_WAYS };

static const struct {
	const char *name;
	double (*run)(void *arg, uint64_t iterations);
	names_equal_t *equal;
} names_way[NAMES_WAYS] = {{"byte loop", names_run_bytes, names_equal_bytes},
	{"masked words", names_run_words, names_equal_words},
	{"memcmp", names_run_memcmp, names_equal_memcmp},
	{"abd_key_equal", names_run_ours, names_equal_ours},
	{"repe cmpsb", names_run_cmpsb, names_equal_cmpsb}};

#endif
