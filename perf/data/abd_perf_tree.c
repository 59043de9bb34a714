/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name is one by its bytes: whatever they are, line ends too. fts_number holds its number.
 */
#include "abd_perf_tree.h"
#include "abd_perf_data.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

static bool abd_perf_tree_visit(FTSENT *entry, void *arg)
{
	struct abd_perf_tree *tree = arg;
	size_t length = entry->fts_namelen;
	uint32_t number = (uint32_t)tree->entries, parent, hash;

	if (entry->fts_level == 0)
		return true;
	if (tree->entries > tree->most || tree->text_room - tree->text_size < length + 65)
		return false;
	parent = (uint32_t)entry->fts_parent->fts_number;
	memcpy(tree->text + tree->text_size, entry->fts_name, length);
	memcpy(tree->words + tree->words_used, entry->fts_name, length);
	hash = abd_perf_tree_hash(tree->text + tree->text_size, length, parent);
	tree->entry[number] = (struct abd_perf_tree_entry){tree->bucket[hash & tree->mask], parent,
		hash, (uint32_t)length, (uint32_t)tree->words_used, (uint32_t)tree->text_size};
	tree->bucket[hash & tree->mask] = number;
	tree->text[tree->text_size + length] = '/';
	tree->text_size += length + 1;
	tree->words_used += length / sizeof(uint64_t) + 1;
	tree->entries++;
	entry->fts_number = number;
	return true;
}

void abd_perf_tree_free(struct abd_perf_tree *tree)
{
	free(tree->bucket);
	free(tree->entry);
	free(tree->text);
	free(tree->words);
}

bool abd_perf_tree_make(struct abd_perf_tree *tree, const char *root, size_t most)
{
	*tree = (struct abd_perf_tree){.most = most,
		.mask = (uint32_t)most - 1,
		.entries = 1,
		.text_room = most * 64,
		.bucket = calloc(most, sizeof(*tree->bucket)),
		.entry = calloc(most + 1, sizeof(*tree->entry)),
		.text = calloc(most, 64),
		.words = calloc(most * 64 / sizeof(uint64_t) + most, sizeof(uint64_t))};
	if (tree->bucket == NULL || tree->entry == NULL || tree->text == NULL ||
		tree->words == NULL)
		abd_perf_say_die(1, "no memory for a table of %zu names", most);
	abd_perf_files_walk(root, abd_perf_tree_visit, tree);
	if (tree->entries > 1)
		return true;
	abd_perf_tree_free(tree);
	return false;
}
