/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a real tree in a hash table, as a kernel's dentry cache has them: an entry for each
 * name in each folder, which knows its folder, its hash and its length. A name that is looked up
 * stands in the text of a path, at any address; the one in the table begins with a word.
 */
#ifndef ABD_PERF_NAMES_SET_H
#define ABD_PERF_NAMES_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct abd_perf_names_entry {
	uint32_t next, parent, hash, length;
	uint32_t name; /* where its name is: an index of words */
	uint32_t path; /* and where the path is in which it was met: an index of text */
};

/* What is known of a name before it is looked up, and what is to be found. */
struct abd_perf_names_query {
	uint32_t path, length, parent, wanted;
};

struct abd_perf_names_set {
	unsigned char *text; /* of all names as they are looked up; 64 bytes more can be read */
	uint64_t *words;     /* the table's names, zero up to a whole word */
	struct abd_perf_names_entry *entry; /* from 1 on: 0 is the root, and the end of a chain */
	uint32_t *bucket, mask;
	size_t entries, text_size, text_room, words_used;
};

/*
 * Byte by byte, as kernels of that time hashed a name; the folder's number takes part.
 * FNV-1a (Fowler, Noll, Vo), with a last step that mixes the high bits down.
 */
static inline uint32_t abd_perf_names_hash(
	const unsigned char *name, size_t length, uint32_t parent)
{
	uint32_t hash = 2166136261u ^ parent * 2654435761u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/** The names below root, at most about most. False, after a warning: there are none. */
bool abd_perf_names_make(struct abd_perf_names_set *set, const char *root, size_t most);
void abd_perf_names_free(struct abd_perf_names_set *set);

#define ABD_PERF_NAMES_LENGTHS 8 /* classes: of 1 to 8 bytes, of 9 to 16, to 64 */

/**
 * Draw at most most names of a class, ABD_PERF_NAMES_LENGTHS: of any length, in a random order.
 * Returns how many names the class has.
 */
size_t abd_perf_names_draw(const struct abd_perf_names_set *set, unsigned class, size_t most,
	uint64_t random, struct abd_perf_names_query *query);

#endif
