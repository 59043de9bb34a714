/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What abd-perf makes of a tree of files: bytes and records (abd_perf_files_load()), a table of
 * names, duplicates. Each is compared with what was written, by searches that know no hash and no
 * walk.
 */
#include "fuzz_perf_die.h"
#include "fuzz_perf_input.h"
#include "fuzz_perf_tree.h"

#include "abd_perf_data.h"
#include "abd_perf_dedupe_find.h"
#include "abd_perf_names_set.h"
#include "abd_perf_records.h"

#include <lz4.h>
#include <string.h>

enum { LOAD = 16384, EXTENTS = FUZZ_TREE_FILES * (FUZZ_TREE_SIZE / 512 + 1), BLOCK = 512 };

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

/* ---- duplicates ------------------------------------------------------------------------------ */

struct extent {
	const uint8_t *p;
	size_t size, off;
	unsigned file;
	bool duplicate;
};

static struct extent extents[EXTENTS];
static size_t extent_count;

static bool same(const uint8_t *a, const uint8_t *b, size_t size)
{
	return *a == *b && memcmp(a, b, size) == 0;
}

/* The first extent with these bytes, of those before the last; NULL: there is none. */
static const struct extent *first_like(const uint8_t *p, size_t size, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (extents[i].size == size && same(extents[i].p, p, size))
			return &extents[i];
	return NULL;
}

static bool is_first_name(unsigned file)
{
	for (unsigned i = 0; i < file; i++)
		if (tree.file[i].inode == tree.file[file].inode)
			return false;
	return !tree.file[file].is_link;
}

static void list_extents(size_t size, size_t *duplicates)
{
	extent_count = 0;
	for (unsigned i = 0; i < tree.count; i++) {
		const struct fuzz_tree_file *file = &tree.file[i];

		for (size_t off = 0; off < file->size && is_first_name(i); off += size) {
			struct extent *extent = &extents[extent_count];
			size_t left = file->size - off;

			*extent = (struct extent){
				file->content + off, left < size ? left : size, off, i, false};
			extent->duplicate =
				first_like(extent->p, extent->size, extent_count) != NULL;
			*duplicates += extent->duplicate;
			extent_count++;
		}
	}
}

/* Where a duplicate extent of a file begins in [from, to); to: none does. */
static size_t next_duplicate(unsigned file, size_t from, size_t to)
{
	for (size_t i = 0; i < extent_count; i++)
		if (extents[i].file == file && extents[i].duplicate && extents[i].off >= from &&
			extents[i].off < to)
			return extents[i].off;
	return to;
}

/*
 * Windows of a whole extent's size that are an earlier extent, and no part of a duplicate one; from
 * left to right.
 */
static size_t count_shifted(unsigned i, size_t size)
{
	const struct fuzz_tree_file *file = &tree.file[i];
	size_t count = 0, at = 0;

	while (at + size <= file->size) {
		size_t taken = next_duplicate(i, at / size * size, at + size);
		const struct extent *like;

		if (taken < at + size) {
			at = taken + size;
			continue;
		}
		like = first_like(file->content + at, size, extent_count);
		if (like != NULL &&
			(like->file < i || (like->file == i && like->off + size <= at))) {
			count++;
			at += size;
		} else {
			at++;
		}
	}
	return count;
}

static void check_duplicates(struct fuzz_input *in)
{
	static const uint64_t masks[] = {UINT64_MAX, 0, 1, 0xff};
	size_t size = BLOCK + fuzz_byte(in) % 2u * 488, aligned = 0, shifted = 0;
	struct abd_perf_fileset set;
	struct abd_perf_find find;

	abd_perf_fileset_init(&set);
	abd_perf_fileset_walk(&set, tree.root);
	abd_perf_find_make(&find, &set, size, fuzz_byte(in));
	find.hash_mask = masks[fuzz_byte(in) % 4];
	abd_perf_find_hash(&find);
	abd_perf_find_aligned(&find);
	abd_perf_find_shifted(&find);
	list_extents(size, &aligned);
	for (unsigned i = 0; i < tree.count; i++)
		shifted += is_first_name(i) ? count_shifted(i, size) : 0;
	fuzz_check(find.count == extent_count && set.unreadable == 0 && find.changed == 0,
		"%zu extents of %zu, %zu changed", find.count, extent_count, find.changed);
	fuzz_check(find.duplicates[ABD_PERF_ALIGNED] == aligned, "%zu aligned duplicates of %zu",
		find.duplicates[ABD_PERF_ALIGNED], aligned);
	fuzz_check(find.duplicates[ABD_PERF_SHIFTED] == shifted, "%zu shifted duplicates of %zu",
		find.duplicates[ABD_PERF_SHIFTED], shifted);
	abd_perf_find_free(&find);
	abd_perf_fileset_free(&set);
}

void fuzz_perf_files(struct fuzz_input *in)
{
	uint8_t first[4];
	struct fuzz_input choices = {first, first + sizeof(first)};

	for (unsigned i = 0; i < sizeof(first); i++)
		first[i] = fuzz_byte(in);
	fuzz_tree_make(&tree, in, BLOCK);
	switch (fuzz_byte(&choices) % 3) {
	case 0:
		check_bytes(&choices);
		break;
	case 1:
		check_names();
		break;
	default:
		check_duplicates(&choices);
	}
	fuzz_tree_remove(&tree);
}
