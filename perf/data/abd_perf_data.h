/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes to measure with: real files, what fio writes in OpenZFS's sequential_reads_arc_cached, and
 * rows of a table.
 */
#ifndef ABD_PERF_DATA_H
#define ABD_PERF_DATA_H

#include "abd_perf_options.h"

#include <fts.h>
#include <sys/types.h>

struct abd_perf_data {
	const char *name; /* "files", "fio" */
	char origin[256]; /* for people: where the bytes come from, and how many */
	unsigned char *bytes;
	size_t size;
};

/**
 * Check that --input can be read, before time is spent on anything else. Ends the program with a
 * message if it can't.
 */
void abd_perf_files_check(const char *path);

/**
 * Go through a tree, folder by folder, in the order of names, and call visit() for each entry that
 * can be looked at, a folder before what it holds; links in the tree are not followed, so that
 * nothing is met twice. It ends early when visit() returns false. Warns, once, of folders that
 * can't be read, and goes on.
 */
void abd_perf_files_walk(const char *root, bool (*visit)(FTSENT *entry, void *arg), void *arg);

/**
 * Load up to size bytes of files, one after another: from --input, or, without it, half from
 * this machine's shared libraries and the rest from its text.
 * Warns of files that can't be read. False, after a warning: there is nothing to read, and
 * data->bytes is NULL.
 */
bool abd_perf_files_load(
	struct abd_perf_data *data, const struct abd_perf_options *options, size_t size);

/** The tree that is measured with as it is: --input, or /usr. */
static inline const char *abd_perf_files_root(const struct abd_perf_options *options)
{
	return options->input != NULL ? options->input : "/usr";
}

/**
 * Load size bytes of that tree, file after file, a small one again and again. Warns of files that
 * can't be read. False, after a warning that names the scenario: there is nothing to read.
 */
bool abd_perf_files_load_tree(struct abd_perf_data *data, const char *scenario,
	const struct abd_perf_options *options, size_t size);

/**
 * Make size bytes as fio does with buffer_compress_percentage=66,
 * buffer_compress_chunk=4096, buffer_pattern=0xdeadbeef.
 */
void abd_perf_fio_make(
	struct abd_perf_data *data, const struct abd_perf_options *options, size_t size);

struct abd_perf_rows_kind {
	const char *name;
	unsigned size;   /* of a row; 10 + random + 9 * words at least */
	unsigned random; /* bytes that can't be guessed */
	unsigned words;
};

/** Make size bytes of rows. */
void abd_perf_rows_make(struct abd_perf_data *data, const struct abd_perf_options *options,
	const struct abd_perf_rows_kind *kind, size_t size);

/*
 * Records: data cut into pieces of the record size, each compressed as ZFS would store it.
 * Records that ZFS would store uncompressed (less than 12.5 % saved) are left out: reading them
 * decodes nothing.
 */

struct abd_perf_record {
	const unsigned char *source; /* what decoding must give */
	const char *payload;         /* the lz4 block */
	uint32_t payload_size;
};

struct abd_perf_records {
	size_t record_size;
	struct abd_perf_record *record;
	size_t count;
	size_t raw;     /* left out */
	char *payloads; /* the memory all of them lie in */
};

/** Cut and compress. Ends the program when there is no memory. */
void abd_perf_records_make(
	struct abd_perf_records *records, const struct abd_perf_data *data, size_t record_size);
void abd_perf_records_free(struct abd_perf_records *records);

#endif
