/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What abd-perf makes of a tree of files: bytes and records (abd_perf_files_load()), and a table of
 * names. Each is compared with the files that were written, by a search without hash tables and
 * without walking the tree.
 */
#include "fuzz_perf_die.h"
#include "fuzz_perf_input.h"
#include "fuzz_perf_tree.h"

#include "abd_perf_data.h"
#include "abd_perf_names_set.h"
#include "abd_perf_records.h"

#include <lz4.h>
#include <string.h>

enum { LOAD = 16384, BLOCK = 512 };

static struct fuzz_tree tree;

/* ---- bytes and records ----------------------------------------------------------------------- */

/* Of each file at most an eighth of the whole; a name is no file of its own here. */
static size_t expected_bytes(uint8_t *to, size_t limit)
{
	size_t size = 0;

	for (unsigned i = 0; i < tree.count && size < limit; i++) {
		const struct fuzz_tree_file *file = &tree.file[i];
		size_t most = limit - size < limit / 8 ? limit - size : limit / 8;

		if (file->is_link)
			continue;
		most = file->size < most ? file->size : most;
		memcpy(to + size, file->content, most);
		size += most;
	}
	return size;
}

static void check_records(const struct abd_perf_data *data, size_t record_size)
{
	struct abd_perf_records records;
	char decoded[8192];

	abd_perf_records_make(&records, data, record_size);
	fuzz_check(records.count + records.raw == data->size / record_size, "%zu and %zu of %zu",
		records.count, records.raw, data->size);
	for (size_t i = 0; i < records.count; i++) {
		const struct abd_perf_record *record = &records.record[i];

		fuzz_check(LZ4_decompress_safe(record->payload, decoded, (int)record->payload_size,
				   (int)sizeof(decoded)) == (int)record_size &&
				   memcmp(decoded, record->source, record_size) == 0,
			"record %zu", i);
	}
	abd_perf_records_free(&records);
}

static void check_bytes(struct fuzz_input *in)
{
	static uint8_t expected[LOAD];
	static struct abd_perf_data data;
	struct abd_perf_options options = {.input = tree.root};
	size_t limit = (size_t)1024 << fuzz_byte(in) % 5, record = (size_t)512 << fuzz_byte(in) % 5;
	size_t size = expected_bytes(expected, limit);
	bool loaded = fuzz_perf_try(abd_perf_files_load(&data, &options, limit));

	fuzz_check(loaded == (size > 0), "%zu bytes", size);
	fuzz_check(data.size == size && memcmp(data.bytes, expected, size) == 0, "%zu of %zu bytes",
		data.size, size);
	if (loaded)
		check_records(&data, record);
	free(data.bytes);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void check_names(void)
{
	struct abd_perf_names_set set;

	if (!fuzz_perf_try(abd_perf_names_set_make(&set, tree.root, FUZZ_TREE_FILES))) {
		fuzz_check(tree.count == 0, "%u names", tree.count);
	} else {
		fuzz_check(set.count == tree.count, "%zu of %u names", set.count, tree.count);
		for (unsigned i = 0; i < tree.count; i++)
			fuzz_check(strcmp((const char *)set.text + set.path[i],
					   tree.file[i].path) == 0,
				"%s is %s", tree.file[i].path,
				(const char *)set.text + set.path[i]);
		fuzz_check(abd_perf_names_check(&set), "of %zu names", set.count);
	}
	abd_perf_names_set_free(&set);
}

void fuzz_perf_files(struct fuzz_input *in)
{
	uint8_t first[4];
	struct fuzz_input choices = {first, first + sizeof(first)};

	for (unsigned i = 0; i < sizeof(first); i++)
		first[i] = fuzz_byte(in);
	fuzz_tree_make(&tree, in, BLOCK);
	if (fuzz_byte(&choices) % 2 == 0)
		check_bytes(&choices);
	else
		check_names();
	fuzz_tree_remove(&tree);
}
