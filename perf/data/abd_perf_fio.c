/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fio's compressible buffer: in every 4096 bytes, 1392 are random and the rest is the pattern. 1392
 * is what 66 % of 4096 leaves, as fio rounds it. The random numbers differ from fio's; their
 * distribution is the same.
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh and its fio job
 * files.
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
