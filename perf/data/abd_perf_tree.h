/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a tree in a hash table, as in a kernel's dentry cache: an entry for each name in
 * each folder, which knows its folder, its hash and its length. In the text of paths a name stands
 * at any address, and 64 bytes behind it can be read; in the table it begins with a word, and is
 * zero up to a whole one.
 */
#ifndef ABD_PERF_TREE_H
#define ABD_PERF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct abd_perf_tree_entry {
	uint32_t next, parent, hash, length;
	uint32_t name; /* where its name is: an index of words */
	uint32_t path; /* and where the path is in which it was met: an index of text */
};

struct abd_perf_tree {
	unsigned char *text;               /* of paths */
	uint64_t *words;                   /* the table's names */
	struct abd_perf_tree_entry *entry; /* from 1 on: 0 is the root, and the end of a chain */
	uint32_t *bucket, mask;
	size_t entries, most, text_size, text_room, words_used;
};

/*
 * Byte by byte, as kernels of that time hashed a name; the folder's number takes part.
 * FNV-1a (Fowler, Noll, Vo), with a last step that mixes the high bits down.
 */
static inline __attribute__((always_inline)) uint32_t abd_perf_tree_hash(
	const unsigned char *name, size_t length, uint32_t parent)
{
	uint32_t hash = 2166136261u ^ parent * 2654435761u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/**
 * The names below root, at most most, a power of two. False: there are none, and nothing is to be
 * freed. Ends the program when there is no memory.
 */
bool abd_perf_tree_make(struct abd_perf_tree *tree, const char *root, size_t most);
void abd_perf_tree_free(struct abd_perf_tree *tree);

#endif
