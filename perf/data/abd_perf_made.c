/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fio's compressible buffer: in every 4096 bytes, 1392 are random and the rest is the pattern. 1392
 * is what 66 % of 4096 leaves, as fio rounds it. The random numbers differ from fio's; their
 * distribution is the same.
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh and its fio job
 * files.
 *
 * Rows of a table, as databases keep them: a number that rises, words from a small vocabulary,
 * random bytes, and padding. The number of random bytes decides the compression ratio. Rows have
 * many short matches at short distances: fio's data lacks these, and decoders lose time on them.
 */
#include "abd_perf_clock.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_FIO_PIECE 4096
#define ABD_PERF_FIO_RANDOM 1392

static void abd_perf_fio_piece(unsigned char *piece, uint64_t *random)
{
	static const unsigned char pattern[4] = {0xde, 0xad, 0xbe, 0xef};

	for (size_t i = 0; i < ABD_PERF_FIO_RANDOM; i += sizeof(uint64_t)) {
		uint64_t word = abd_perf_random(random);

		memcpy(piece + i, &word, sizeof(word));
	}
	for (size_t i = ABD_PERF_FIO_RANDOM; i < ABD_PERF_FIO_PIECE; i++)
		piece[i] = pattern[(i - ABD_PERF_FIO_RANDOM) % sizeof(pattern)];
}

void abd_perf_fio_make(
	struct abd_perf_data *data, const struct abd_perf_options *options, size_t size)
{
	uint64_t random = options->seed;

	size -= size % ABD_PERF_FIO_PIECE;
	data->name = "fio";
	data->size = size;
	data->bytes = malloc(size);
	if (data->bytes == NULL)
		abd_perf_say_die(1, "no memory for %zu MiB of fio's data", size >> 20);
	for (size_t at = 0; at < size; at += ABD_PERF_FIO_PIECE)
		abd_perf_fio_piece(data->bytes + at, &random);
	snprintf(data->origin, sizeof(data->origin),
		"fio's generator as in OpenZFS's sequential_reads_arc_cached, seed %lu, %zu MiB",
		(unsigned long)options->seed, size >> 20);
	abd_perf_env_source(data->origin);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *const abd_perf_rows_words[16] = {"open", "closed", "pending", "north", "south",
	"invoice", "payment", "refund", "alpha", "beta", "gamma", "delta", "yes", "no", "unknown",
	"archived"};

static void abd_perf_rows_row(unsigned char *row, const struct abd_perf_rows_kind *kind,
	uint64_t number, uint64_t *random)
{
	size_t at = (size_t)snprintf((char *)row, 24, "%010lu", (unsigned long)number);

	for (unsigned i = 0; i < kind->random; i++)
		row[at++] = (unsigned char)abd_perf_random(random);
	for (unsigned i = 0; i < kind->words; i++) {
		const char *word = abd_perf_rows_words[abd_perf_random_below(random, 16)];
		size_t length = strlen(word);

		memcpy(row + at, word, length);
		row[at + length] = ' ';
		at += length + 1;
	}
	memset(row + at, 0, kind->size - at);
}

void abd_perf_rows_make(struct abd_perf_data *data, const struct abd_perf_options *options,
	const struct abd_perf_rows_kind *kind, size_t size)
{
	uint64_t random = options->seed;

	size -= size % kind->size;
	data->name = kind->name;
	data->size = size;
	data->bytes = malloc(size + 64);
	if (data->bytes == NULL)
		abd_perf_say_die(1, "no memory for %zu MiB of rows", size >> 20);
	for (size_t at = 0; at < size; at += kind->size)
		abd_perf_rows_row(data->bytes + at, kind, at / kind->size, &random);
	snprintf(data->origin, sizeof(data->origin),
		"rows of %u bytes, %u of them random, %u words, seed %lu, %zu MiB", kind->size,
		kind->random, kind->words, (unsigned long)options->seed, size >> 20);
}
