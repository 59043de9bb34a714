/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First the paths are collected, then entered component by component, parents before children.
 */
#include "abd_perf_names_set.h"
#include "abd_perf_names_compare.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- paths ----------------------------------------------------------------------------------- */

static void *abd_perf_names_grow(void *memory, size_t count, size_t size)
{
	memory = realloc(memory, count * size);
	if (memory == NULL)
		abd_perf_say_die(1, "no memory for names");
	return memory;
}

static void abd_perf_names_add_path(struct abd_perf_names_set *set, const char *path)
{
	size_t size = strlen(path) + 1;

	/* 8 bytes more, for loading the last word. */
	if (set->text_room - set->text_size < size + 8) {
		set->text_room = set->text_room * 2 + (1 << 20);
		set->text = abd_perf_names_grow(set->text, set->text_room, 1);
	}
	memcpy(set->text + set->text_size, path, size);
	memset(set->text + set->text_size + size, 0, 8);
	set->path[set->count++] = (uint32_t)set->text_size;
	set->text_size += size;
}

static int abd_perf_names_order(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void abd_perf_names_walk(struct abd_perf_names_set *set, const char *root, size_t most)
{
	char *path = strdup(root);
	char *roots[] = {path, NULL};
	struct stat status;
	FTSENT *entry;
	size_t front;
	FTS *tree;

	if (path == NULL)
		abd_perf_say_die(1, "no memory for a name");
	if (stat(root, &status) != 0)
		abd_perf_say_die(1, "--input %s: %s", root, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		abd_perf_say_die(1, "--input %s: not a directory", root);
	for (front = strlen(path); front > 1 && path[front - 1] == '/'; front--)
		path[front - 1] = '\0';
	tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, abd_perf_names_order);
	while (tree != NULL && set->count < most && (entry = fts_read(tree)) != NULL) {
		if (entry->fts_info != FTS_F && entry->fts_info != FTS_SL &&
			entry->fts_info != FTS_SLNONE)
			continue;
		/* The root "/" ends in a slash, other roots don't. */
		abd_perf_names_add_path(set, entry->fts_path + front + (path[front - 1] != '/'));
	}
	if (tree != NULL)
		fts_close(tree);
	free(path);
	if (set->count == 0)
		abd_perf_say_die(1, "--input %s: holds no names that can be read", root);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

typedef bool abd_perf_names_equal_t(const struct abd_perf_name *name, const uint8_t *stored);

ABD_PERF_INLINE uint32_t abd_perf_names_child(const struct abd_perf_names_set *set,
	const struct abd_perf_name *name, uint32_t parent, abd_perf_names_equal_t *equal)
{
	uint32_t at = set->bucket[name->hash & set->mask];

	for (; at != 0; at = set->entry[at].next) {
		const struct abd_perf_names_entry *entry = &set->entry[at];

		if (entry->hash == name->hash && entry->parent == parent &&
			entry->length == name->length &&
			equal(name, (const uint8_t *)(set->word + entry->word)))
			break;
	}
	return at;
}

ABD_PERF_INLINE uint32_t abd_perf_names_find(
	const struct abd_perf_names_set *set, const uint8_t *path, abd_perf_names_equal_t *equal)
{
	struct abd_perf_name name;
	uint32_t at = 0;

	for (;; path += name.length + 1) {
		abd_perf_name_split(&name, path, at);
		at = abd_perf_names_child(set, &name, at, equal);
		if (at == 0 || path[name.length] == '\0')
			return at;
	}
}

#define ABD_PERF_NAMES_DEFINE(stem, label)                                                      \
	static uint32_t abd_perf_names_find_##stem(                                             \
		const struct abd_perf_names_set *set, const uint8_t *path)                      \
	{                                                                                       \
		return abd_perf_names_find(set, path, abd_perf_name_equal_##stem);              \
	}                                                                                       \
                                                                                                \
	static uint64_t abd_perf_names_pass_##stem(                                             \
		const struct abd_perf_names_set *set, const uint32_t *order)                    \
	{                                                                                       \
		uint64_t mix = 0;                                                               \
                                                                                                \
		for (size_t i = 0; i < set->count; i++)                                         \
			mix = mix * 31 +                                                        \
			      abd_perf_names_find_##stem(set, set->text + set->path[order[i]]); \
		return mix;                                                                     \
	}

ABD_PERF_NAMES_METHODS(ABD_PERF_NAMES_DEFINE)

#define ABD_PERF_NAMES_RECORD(stem, label) \
	{label, abd_perf_names_find_##stem, abd_perf_names_pass_##stem},

const struct abd_perf_names_method abd_perf_names_methods[] = {
	ABD_PERF_NAMES_METHODS(ABD_PERF_NAMES_RECORD)};

bool abd_perf_names_method_here(unsigned method)
{
	return method != ABD_PERF_NAMES_CMPSB || ABD_PERF_NAMES_HAVE_CMPSB != 0;
}

uint64_t abd_perf_names_expected(const struct abd_perf_names_set *set, const uint32_t *order)
{
	uint64_t mix = 0;

	for (size_t i = 0; i < set->count; i++)
		mix = mix * 31 + set->expected[order[i]];
	return mix;
}

/* ---- entering -------------------------------------------------------------------------------- */

static uint32_t abd_perf_names_enter(
	struct abd_perf_names_set *set, const struct abd_perf_name *name, uint32_t parent)
{
	uint32_t number = (uint32_t)set->entries++, *bucket = &set->bucket[name->hash & set->mask];

	memcpy(set->word + set->words, name->p, name->length);
	set->entry[number] = (struct abd_perf_names_entry){
		*bucket, parent, name->hash, name->length, (uint32_t)set->words};
	*bucket = number;
	set->words += name->length / 8 + 1;
	return number;
}

static uint32_t abd_perf_names_enter_path(struct abd_perf_names_set *set, const uint8_t *path)
{
	struct abd_perf_name name;
	uint32_t at = 0, child;

	for (;; path += name.length + 1, at = child) {
		abd_perf_name_split(&name, path, at);
		child = abd_perf_names_child(set, &name, at, abd_perf_name_equal_libc);
		if (child == 0)
			child = abd_perf_names_enter(set, &name, at);
		set->components++;
		set->component_bytes += name.length;
		if (path[name.length] == '\0')
			return child;
	}
}

/*
 * Allocate room for every component of every path, as if no path shared any. Pages that are never
 * touched cost nothing.
 */
static void abd_perf_names_room(struct abd_perf_names_set *set)
{
	size_t most = set->count + 1, buckets = 1024;

	for (size_t i = 0; i < set->text_size; i++)
		most += set->text[i] == '/';
	while (buckets < most)
		buckets *= 2;
	set->mask = (uint32_t)buckets - 1;
	set->bucket = calloc(buckets, sizeof(*set->bucket));
	set->entry = calloc(most, sizeof(*set->entry));
	set->word = calloc(set->text_size / 8 + most, sizeof(uint64_t));
	set->expected = calloc(set->count, sizeof(uint32_t));
	if (set->bucket == NULL || set->entry == NULL || set->word == NULL || set->expected == NULL)
		abd_perf_say_die(1, "no memory for a table of %zu names", most);
}

void abd_perf_names_set_make(struct abd_perf_names_set *set, const char *root, size_t most)
{
	memset(set, 0, sizeof(*set));
	set->entries = 1;
	set->path = abd_perf_names_grow(NULL, most, sizeof(*set->path));
	abd_perf_names_walk(set, root, most);
	abd_perf_names_room(set);
	for (size_t i = 0; i < set->count; i++)
		set->expected[i] = abd_perf_names_enter_path(set, set->text + set->path[i]);
}

void abd_perf_names_set_free(struct abd_perf_names_set *set)
{
	free(set->bucket);
	free(set->entry);
	free(set->word);
	free(set->expected);
	free(set->path);
	free(set->text);
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool abd_perf_names_check_path(
	const struct abd_perf_names_set *set, const uint8_t *path, uint32_t expected)
{
	for (unsigned i = ABD_PERF_NAMES_BYTES; i < ABD_PERF_NAMES_COUNT; i++) {
		if (!abd_perf_names_method_here(i) ||
			abd_perf_names_methods[i].find(set, path) == expected)
			continue;
		abd_perf_say_warn("look-up by %s is wrong: %s", abd_perf_names_methods[i].name,
			(const char *)path);
		return false;
	}
	return true;
}

/*
 * Look up every path, and again with its last byte changed: all methods must find what memcmp()
 * finds.
 */
bool abd_perf_names_check(const struct abd_perf_names_set *set)
{
	static uint8_t other[1 << 16];

	for (size_t i = 0; i < set->count; i++) {
		const uint8_t *path = set->text + set->path[i];
		size_t length = strlen((const char *)path);

		if (!abd_perf_names_check_path(set, path, set->expected[i]))
			return false;
		if (length + 16 > sizeof(other))
			continue;
		memcpy(other, path, length + 1);
		memset(other + length + 1, 0x5a, 8); /* bytes after a path must not matter */
		other[length - 1] ^= 1;
		if (other[length - 1] != '/' &&
			!abd_perf_names_check_path(set, other,
				abd_perf_names_methods[ABD_PERF_NAMES_LIBC].find(set, other)))
			return false;
	}
	return true;
}
