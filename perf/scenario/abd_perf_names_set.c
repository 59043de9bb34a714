/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each entry of the tree is entered as it is met, after its folder. fts_number holds an entry's
 * number for what is in it.
 */
#include "abd_perf_names_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_data.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

struct abd_perf_names_walk {
	struct abd_perf_names_set *set;
	size_t most;
};

static void *abd_perf_names_room(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL)
		abd_perf_say_die(1, "no memory for a table of %zu names", count);
	return memory;
}

/* A name is one by its bytes: whatever they are, line ends too. */
static bool abd_perf_names_visit(FTSENT *entry, void *arg)
{
	struct abd_perf_names_walk *walk = arg;
	struct abd_perf_names_set *set = walk->set;
	size_t length = entry->fts_namelen;
	uint32_t number = (uint32_t)set->entries;
	struct abd_perf_names_entry *to = &set->entry[number];

	if (entry->fts_level == 0)
		return true;
	if (set->entries == walk->most || set->text_room - set->text_size < length + 65)
		return false;
	to->parent = (uint32_t)entry->fts_parent->fts_number;
	to->length = (uint32_t)length;
	to->path = (uint32_t)set->text_size;
	to->name = (uint32_t)set->words_used;
	memcpy(set->text + set->text_size, entry->fts_name, length);
	set->text[set->text_size + length] = '/';
	memcpy(set->words + set->words_used, entry->fts_name, length);
	set->text_size += length + 1;
	set->words_used += length / sizeof(uint64_t) + 1;
	to->hash = abd_perf_names_hash(set->text + to->path, length, to->parent);
	to->next = set->bucket[to->hash & set->mask];
	set->bucket[to->hash & set->mask] = number;
	set->entries++;
	entry->fts_number = number;
	return true;
}

bool abd_perf_names_make(struct abd_perf_names_set *set, const char *root, size_t most)
{
	struct abd_perf_names_walk walk = {set, most + 1};
	size_t buckets = 1024;

	while (buckets < most)
		buckets *= 2;
	*set = (struct abd_perf_names_set){
		.entries = 1, .mask = (uint32_t)buckets - 1, .text_room = most * 64 + 4096};
	set->bucket = abd_perf_names_room(buckets, sizeof(*set->bucket));
	set->entry = abd_perf_names_room(most + 1, sizeof(*set->entry));
	set->text = abd_perf_names_room(set->text_room, 1);
	set->words =
		abd_perf_names_room(set->text_room / sizeof(uint64_t) + most, sizeof(uint64_t));
	abd_perf_files_walk(root, abd_perf_names_visit, &walk);
	if (set->entries > 1)
		return true;
	abd_perf_say_warn("names is left out: %s holds no names", root);
	abd_perf_names_free(set);
	return false;
}

size_t abd_perf_names_draw(const struct abd_perf_names_set *set, unsigned class, size_t most,
	uint64_t random, struct abd_perf_names_query *query)
{
	uint32_t *of = abd_perf_names_room(set->entries, sizeof(*of));
	size_t found = 0;

	for (uint32_t i = 1; i < set->entries; i++)
		if (class == ABD_PERF_NAMES_LENGTHS || (set->entry[i].length - 1) / 8 == class)
			of[found++] = i;
	abd_perf_shuffle(of, found, &random);
	for (size_t i = 0; i < found && i < most; i++) {
		const struct abd_perf_names_entry *entry = &set->entry[of[i]];

		query[i] = (struct abd_perf_names_query){
			entry->path, entry->length, entry->parent, of[i]};
	}
	free(of);
	return found;
}

void abd_perf_names_free(struct abd_perf_names_set *set)
{
	free(set->bucket);
	free(set->entry);
	free(set->text);
	free(set->words);
}
