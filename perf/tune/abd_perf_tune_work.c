/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operands are places in a few large buffers, all filled with the same byte: so two places always
 * hold the same, and comparing reads all of it.
 */
#include "abd_perf_tune_work.h"

#include "abd_perf_clock.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <abd/abd.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

enum { SCATTERED, SHIFTED, MIXED, LINEAR };
enum { PAGE = 4096, SHIFT = 512, BLOCKS = 32 };

static struct {
	size_t size; /* of each buffer, without the shift */
	abd_t *runs[2], line[2];
	uint64_t random;
	size_t hot[2];
	uint64_t sum[4]; /* checksums go here, so that they are computed */
	/* blocks of lz4, by the size that they decode to */
	struct {
		size_t size, stored;
		abd_t *abd;
	} block[BLOCKS * ABD_PERF_TUNE_SIZES];
	size_t block_count;
	char *decoded;
} work;

/* ---- places ---------------------------------------------------------------------------------- */

/* Where an operand of size bytes begins on a side. */
static size_t place(unsigned side, bool cold, size_t size)
{
	size_t pages = (work.size - size) / PAGE + 1;
	uint64_t random = cold ? abd_perf_random(&work.random) : work.hot[side];

	return random % pages * PAGE;
}

static abd_t *first(unsigned kind)
{
	return kind == LINEAR ? &work.line[0] : work.runs[0];
}

static abd_t *second(unsigned kind)
{
	return kind >= MIXED ? &work.line[1] : work.runs[1];
}

static size_t second_place(unsigned kind, bool cold, size_t size)
{
	return place(1, cold, size) + (kind == SHIFTED ? SHIFT : 0);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void work_compare(unsigned kind, bool cold, size_t size)
{
	if (!abd_equal_off(first(kind), second(kind), place(0, cold, size),
		    second_place(kind, cold, size), size))
		abd_perf_say_die(1, "compare: equal bytes are found different");
}

static void work_copy(unsigned kind, bool cold, size_t size)
{
	abd_copy_off(second(kind), first(kind), second_place(kind, cold, size),
		place(0, cold, size), size);
}

/* The scattered side that is zeroed is compared no more: subjects come in order. */
static void work_zero(unsigned kind, bool cold, size_t size)
{
	abd_zero_off(second(kind), second_place(kind, cold, size), size);
}

#define WORK_FLUSH(name, flags)                                                               \
	static void name(unsigned kind, bool cold, size_t size)                               \
	{                                                                                     \
		abd_flush_copy_off(second(kind), first(kind), second_place(kind, cold, size), \
			place(0, cold, size), size, flags);                                   \
	}

WORK_FLUSH(work_flush_auto, ABD_FLUSH_AUTO)
WORK_FLUSH(work_flush_shared, ABD_FLUSH_SHARED)
WORK_FLUSH(work_flush_exclusive, ABD_FLUSH_EXCLUSIVE)

static void work_fletcher(unsigned kind, bool cold, size_t size)
{
	abd_fletcher_4(first(kind), place(0, cold, size), size, work.sum);
}

static void work_crc32c(unsigned kind, bool cold, size_t size)
{
	work.sum[0] += abd_crc32c(first(kind), place(0, cold, size), size, 0);
}

static void work_xxh3(unsigned kind, bool cold, size_t size)
{
	work.sum[0] += abd_xxh3(first(kind), place(0, cold, size), size, 0);
}

/* One of the blocks of this size; hot: by turns, too, because a decoder's branches are learnt. */
static void work_lz4(unsigned kind, bool cold, size_t size)
{
	static size_t turn;
	size_t i;

	(void)kind;
	for (i = 0; work.block[i].size != size; i++)
		;
	turn = cold ? (size_t)abd_perf_random(&work.random) : turn + 1;
	i += turn % BLOCKS;
	if (abd_lz4_decompress_to_buf(work.decoded, work.block[i].abd, size, 0,
		    work.block[i].stored) != (ssize_t)size)
		abd_perf_say_die(1, "lz4: a block is not decoded");
}

#define ALL (1 << SCATTERED | 1 << SHIFTED | 1 << MIXED | 1 << LINEAR)
#define AROUND "nt-avx512", "nt-avx2", "nt-sse2", "movnti", "movdir64b"

/* AUTO and SHARED never write cached lines back: many writers slow that down (flush.h). */
const struct abd_perf_tune_subject abd_perf_tune_subjects[] = {
	{"compare",
		{"avx512", "avx2", "sse2", "sse2-memcmp", "neon", "libc", "avx512-near",
			"avx512-pair", "avx512-four", "avx2-pair", "avx2-four"},
		12, 26, 1, ALL, work_compare},
	{"copy",
		{"avx512", "libc", "avx512-four", "string", "nt-avx512", "nt-pair-avx512",
			"nt-four-avx512"},
		12, 26, 1, ALL, work_copy},
	{"zero", {"libc", "avx512", "avx512-four", "nt-pair-avx512"}, 12, 26, 1,
		1 << SCATTERED | 1 << LINEAR, work_zero},
	{"flush_auto", {AROUND}, 12, 20, 4, 1 << SCATTERED | 1 << LINEAR, work_flush_auto},
	{"flush_shared", {AROUND}, 12, 20, 4, 1 << SCATTERED | 1 << LINEAR, work_flush_shared},
	{"flush_exclusive", {AROUND, "clwb", "clflushopt"}, 12, 20, 4, 1 << SCATTERED | 1 << LINEAR,
		work_flush_exclusive},
	{"lz4", {"avx512", "avx2", "sse2", "neon", "scalar", "liblz4"}, 13, 20, 3, 1 << SCATTERED,
		work_lz4},
	{"fletcher", {"avx512", "avx2", "scalar"}, 12, 24, 4, 1 << SCATTERED | 1 << LINEAR,
		work_fletcher},
	{"crc32c", {"vpclmul", "pclmul", "sse42"}, 12, 24, 4, 1 << SCATTERED | 1 << LINEAR,
		work_crc32c},
	{"xxh3", {"avx512", "avx2", "portable"}, 12, 24, 4, 1 << SCATTERED | 1 << LINEAR,
		work_xxh3},
	{.name = NULL},
};

/* ---- making them ----------------------------------------------------------------------------- */

static abd_t *scattered(size_t size)
{
	abd_t *abd = abd_alloc(size, false);

	if (abd == NULL)
		abd_perf_say_die(1, "no memory for scattered buffers of %zu MiB", size / MIB);
	return abd;
}

static void make_line(abd_t *abd, size_t size)
{
	char *memory = aligned_alloc(2 * MIB, size);

	if (memory == NULL)
		abd_perf_say_die(1, "no memory for %zu MiB", size / MIB);
	madvise(memory, size, MADV_HUGEPAGE);
	memset(memory, 0x5A, size);
	abd_get_from_buf_struct(abd, memory, size);
}

/* Blocks of table rows, which have short matches, and of what fio writes, which has long ones. */
static void make_blocks(const struct abd_perf_options *options, size_t size)
{
	static const struct abd_perf_rows_kind kind = {"rows", 256, 24, 8};
	struct abd_perf_data data[2];
	abd_t *room = abd_alloc_linear(2 * size, false), plain;

	if (room == NULL)
		abd_perf_say_die(1, "no memory for %zu bytes", 2 * size);
	abd_perf_rows_make(&data[0], options, &kind, size * BLOCKS / 2);
	abd_perf_fio_make(&data[1], options, size * BLOCKS / 2);
	for (size_t i = 0; i < BLOCKS; i++) {
		ssize_t stored;

		abd_get_from_buf_struct(&plain, data[i % 2].bytes + i / 2 * size, size);
		stored = abd_lz4_compress(room, &plain, 0, 0, size);
		abd_free(&plain);
		if (stored < 0)
			abd_perf_say_die(1, "lz4: a block of %zu bytes is not made", size);
		work.block[work.block_count].size = size;
		work.block[work.block_count].stored = (size_t)stored;
		work.block[work.block_count].abd = scattered((size_t)stored);
		abd_copy(work.block[work.block_count++].abd, room, (size_t)stored);
	}
	abd_free(room);
	free(data[0].bytes);
	free(data[1].bytes);
}

void abd_perf_tune_work_make(const struct abd_perf_options *options)
{
	size_t size = 4 * abd_perf_env_last_cache(), most = abd_perf_env_memory() / 12;

	size = size < 128 * MIB ? 128 * MIB : size > 512 * MIB ? 512 * MIB : size;
	if (size > most)
		size = most / MIB * MIB;
	if (size < 68 * MIB)
		abd_perf_say_die(1, "too little memory: %d MiB are needed", 12 * 68);
	work.size = size - 2 * MIB;
	work.random = options->seed;
	abd_perf_place_tune("max_order", "0");
	for (unsigned i = 0; i < 2; i++)
		work.runs[i] = scattered(size);
	abd_perf_place_shuffle(work.runs, 2);
	for (unsigned size_log = 13; size_log <= 20; size_log += 3)
		make_blocks(options, (size_t)1 << size_log);
	abd_perf_place_tune("max_order", "10");
	for (unsigned i = 0; i < 2; i++) {
		make_line(&work.line[i], size);
		abd_copy(work.runs[i], &work.line[i], size);
	}
	work.decoded = malloc(MIB);
	if (work.decoded == NULL)
		abd_perf_say_die(1, "no memory for 1 MiB");
	abd_perf_tune_work_move();
}

void abd_perf_tune_work_move(void)
{
	work.hot[0] = (size_t)abd_perf_random(&work.random);
	work.hot[1] = (size_t)abd_perf_random(&work.random);
}

size_t abd_perf_tune_work_hot(void)
{
	return abd_perf_env_last_cache() / 4;
}
