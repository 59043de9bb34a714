/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of a tree, and a hash table of their components: the key is the parent's number and the
 * name, as in a directory cache.
 * Invariant: names are stored as whole words, padded with at least one zero. After the last path
 * there is room for loading a word.
 */
#ifndef ABD_PERF_NAMES_SET_H
#define ABD_PERF_NAMES_SET_H

#include "abd_perf_options.h"

struct abd_perf_names_entry {
	uint32_t next; /* in its bucket; 0: the last. Entry 0 is the tree's root */
	uint32_t parent;
	uint32_t hash;
	uint32_t length;
	uint32_t word; /* where its name begins */
};

struct abd_perf_names_set {
	uint8_t *text; /* the paths, each with its zero */
	size_t text_size, text_room;
	uint32_t *path;     /* where each begins */
	uint32_t *expected; /* the entry each must lead to */
	size_t count;
	uint32_t *bucket, mask; /* of the hash */
	struct abd_perf_names_entry *entry;
	size_t entries;
	uint64_t *word; /* the names */
	size_t words;
	size_t components; /* of all paths: look-ups in one pass over them */
	size_t component_bytes;
};

/**
 * Make a set of up to most paths of the files of a tree, sorted within each directory. Ends the
 * program when there are none.
 */
void abd_perf_names_set_make(struct abd_perf_names_set *set, const char *root, size_t most);
void abd_perf_names_set_free(struct abd_perf_names_set *set);

/**
 * A method. find() returns the entry of a path, 0 when there is none. pass() looks up all paths in
 * an order and returns a number that depends on every entry found.
 */
struct abd_perf_names_method {
	const char *name;
	uint32_t (*find)(const struct abd_perf_names_set *set, const uint8_t *path);
	uint64_t (*pass)(const struct abd_perf_names_set *set, const uint32_t *order);
};

extern const struct abd_perf_names_method abd_perf_names_methods[];
/** Whether this machine has it. */
bool abd_perf_names_method_here(unsigned method);
/** The number that pass() must return. */
uint64_t abd_perf_names_expected(const struct abd_perf_names_set *set, const uint32_t *order);
/** Whether every method finds the right entries and no others; a warning names one that does not.
 */
bool abd_perf_names_check(const struct abd_perf_names_set *set);

#endif
