/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a table, as databases keep them: a number that rises, words from a small vocabulary,
 * random bytes, and padding. The number of random bytes decides the compression ratio. Rows have
 * many short matches at short distances: fio's data lacks these, and decoders lose time on them.
 */
#include "abd_perf_clock.h"
#include "abd_perf_data.h"
#include "abd_perf_say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
