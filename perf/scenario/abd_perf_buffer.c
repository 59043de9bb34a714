/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer: what it costs to make, view, borrow, seek in and free buffers, and what memory they take.
 *
 * Published figures are those of OpenZFS's own userspace buffers (libzpool at be7657e3f2, built
 * without debug checks, on a Zen 5 server part). That is another machine, so a ratio against them
 * only shows the order of magnitude. When a cost must not grow with the buffer, a small and a large
 * buffer are raced against each other.
 */
#include "abd_perf_buffer_work.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

struct abd_perf_row {
	const char *name;
	struct abd_perf_case work;
	const char *against;       /* what the base is, in words */
	struct abd_perf_case base; /* raced against work; none if its function is NULL */
	double target;             /* least speed of work over base; 0: for information */
	double published_ns;       /* OpenZFS's; 0: none */
	double published_target;   /* how many times as fast as that */
	double limit_ns;           /* at most; 0: none */
};

#define ALLOC(bytes, order)                                                       \
	{                                                                         \
		.run = abd_perf_work_alloc, .size = (bytes), .max_order = (order) \
	}
#define BURST(bytes, order)                                                                      \
	{                                                                                        \
		.run = abd_perf_work_burst, .size = (bytes), .max_order = (order), .count = 1000 \
	}
#define MALLOC(bytes)                                        \
	{                                                    \
		.run = abd_perf_work_malloc, .size = (bytes) \
	}
#define MALLOC_BURST(bytes)                                                       \
	{                                                                         \
		.run = abd_perf_work_malloc_burst, .size = (bytes), .count = 1000 \
	}
#define HELD(work, bytes, order)                                                   \
	{                                                                          \
		.run = (work), .size = (bytes), .max_order = (order), .hold = true \
	}
#define GANG(work, children)                       \
	{                                          \
		.run = (work), .count = (children) \
	}

static const struct abd_perf_row abd_perf_buffer_rows[] = {
	{"alloc + free, 512 B", ALLOC(512, NULL), "malloc + free", MALLOC(512), 0, 50, 3, 0},
	{"alloc + free, 4 KiB", ALLOC(4 * KIB, NULL), "malloc + free", MALLOC(4 * KIB), 0, 110, 3,
		0},
	{"alloc + free, 8 KiB", ALLOC(8 * KIB, NULL), "malloc + free", MALLOC(8 * KIB), 0, 170, 0,
		0},
	{"alloc + free, 128 KiB", ALLOC(128 * KIB, NULL), "malloc + free", MALLOC(128 * KIB), 0,
		3460, 5, 0},
	{"alloc + free, 128 KiB, max_order 0", ALLOC(128 * KIB, "0"), NULL, {0}, 0, 3460, 5, 0},
	{"alloc + free, 1 MiB", ALLOC(MIB, NULL), "malloc + free", MALLOC(MIB), 0, 27500, 5, 0},
	{"alloc + free, 1 MiB, max_order 0", ALLOC(MIB, "0"), NULL, {0}, 0, 27500, 5, 0},
	{"alloc 1,000, free 1,000: 512 B", BURST(512, NULL), "malloc, free alike",
		MALLOC_BURST(512), 0, 50, 0, 0},
	{"alloc 1,000, free 1,000: 4 KiB", BURST(4 * KIB, NULL), "malloc, free alike",
		MALLOC_BURST(4 * KIB), 0, 110, 0, 0},
	{"alloc 1,000, free 1,000: 128 KiB, max_order 0", BURST(128 * KIB, "0"),
		"malloc, free alike", MALLOC_BURST(128 * KIB), 0, 3460, 0, 0},
	{"alloc 1,000, free 1,000: 1 MiB", BURST(MIB, NULL), "malloc, free alike",
		MALLOC_BURST(MIB), 0, 27500, 0, 0},
	{"borrow + return, 3 KiB, one run", HELD(abd_perf_work_borrow, 3 * KIB, NULL),
		"the rule off",
		{.run = abd_perf_work_borrow, .size = 3 * KIB, .linear_page = "0", .hold = true}, 0,
		65, 0, 5},
	{"borrow + return, 4 KiB, one run", HELD(abd_perf_work_borrow, 4 * KIB, NULL),
		"the rule off",
		{.run = abd_perf_work_borrow, .size = 4 * KIB, .linear_page = "0", .hold = true}, 0,
		135, 0, 5},
	{"borrow + return, 128 KiB, one run", HELD(abd_perf_work_borrow, 128 * KIB, NULL),
		"32 runs", HELD(abd_perf_work_borrow, 128 * KIB, "0"), 0, 1880, 0, 5},
	{"view + free, 4,096 chunks", HELD(abd_perf_work_view, 16 * MIB, "0"), "2 chunks",
		HELD(abd_perf_work_view, 8 * KIB, "0"), 0.95, 19, 0, 10},
	{"view + free, caller's struct, 4,096 chunks",
		HELD(abd_perf_work_view_struct, 16 * MIB, "0"), "2 chunks",
		HELD(abd_perf_work_view_struct, 8 * KIB, "0"), 0.95, 0, 0, 10},
	{"from_buf + free", {.run = abd_perf_work_from_buf}, NULL, {0}, 0, 14, 0, 0},
	{"zeros + free, 128 KiB", {.run = abd_perf_work_zeros, .size = 128 * KIB}, NULL, {0}, 0, 19,
		0, 0},
	{"seek to the end, 4,096 chunks", HELD(abd_perf_work_seek_end, 16 * MIB, "0"), "2 chunks",
		HELD(abd_perf_work_seek_end, 8 * KIB, "0"), 0.95, 0, 0, 10},
	{"seek to the end, runs of 11 orders",
		HELD(abd_perf_work_seek_end, 8 * MIB - 4 * KIB, NULL), "to the start",
		HELD(abd_perf_work_seek_start, 8 * MIB - 4 * KIB, NULL), 0, 0, 0, 10},
	{"iterate 128 KiB, max_order 0", HELD(abd_perf_work_iterate, 128 * KIB, "0"), NULL, {0}, 0,
		150, 0, 0},
	{"gang of 4 existing + free", GANG(abd_perf_work_gang_four, 4), NULL, {0}, 0, 121, 0, 0},
	{"gang append, per child, of 10,000", GANG(abd_perf_work_gang_append, 10000), "of 10",
		GANG(abd_perf_work_gang_append, 10), 0.95, 0, 0, 0},
	{"gang iterate, per child, of 10,000", GANG(abd_perf_work_gang_iterate, 10000), "of 10",
		GANG(abd_perf_work_gang_iterate, 10), 0.95, 0, 0, 0},
	/* log2(10,000) / log2(10) = 4: a logarithmic seek keeps at least a quarter of the speed. */
	{"gang seek, 10,000 children", GANG(abd_perf_work_gang_seek, 10000), "10 children",
		GANG(abd_perf_work_gang_seek, 10), 0.25, 0, 0, 0},
};

#define ABD_PERF_ROWS (sizeof(abd_perf_buffer_rows) / sizeof(abd_perf_buffer_rows[0]))

/* How many times as fast as a fixed figure we are; ns is our time. */
static struct abd_perf_summary abd_perf_buffer_against(
	double fixed_ns, const struct abd_perf_summary *ns)
{
	return (struct abd_perf_summary){.median = fixed_ns / ns->median,
		.low = fixed_ns / ns->high,
		.high = fixed_ns / ns->low,
		.mad = fixed_ns / ns->median * ns->mad / ns->median,
		.rounds = ns->rounds};
}

static void abd_perf_buffer_record(const struct abd_perf_row *row, const struct abd_perf_race *race)
{
	struct abd_perf_result *result = abd_perf_result_add("buffer", "cost", "%s", row->name);
	struct abd_perf_summary ns = abd_perf_race_ns(race, 0);
	struct abd_perf_ratio *ratio;

	if (row->work.size != 0)
		abd_perf_result_size(result, "size", row->work.size);
	if (row->work.count != 0)
		abd_perf_result_number(result, "count", (double)row->work.count);
	abd_perf_result_text(
		result, "max_order", row->work.max_order != NULL ? row->work.max_order : "10");
	abd_perf_result_figure(result, "ours", "ns", ns);
	if (row->published_ns != 0) {
		ratio = abd_perf_result_ratio(
			result, "ours", "OpenZFS", abd_perf_buffer_against(row->published_ns, &ns));
		ratio->target = row->published_target;
		ratio->source = "libzpool at be7657e3f2, on another machine";
		abd_perf_result_number(result, "published_ns", row->published_ns);
	}
	if (row->limit_ns != 0) {
		ratio = abd_perf_result_ratio(
			result, "ours", "limit", abd_perf_buffer_against(row->limit_ns, &ns));
		ratio->target = 1;
		abd_perf_result_number(result, "limit_ns", row->limit_ns);
	}
	if (race->paths > 1) {
		abd_perf_result_figure(result, row->against, "ns", abd_perf_race_ns(race, 1));
		abd_perf_result_ratio(result, "ours", row->against, abd_perf_race_ratio(race, 0, 1))
			->target = row->target;
	}
}

static void abd_perf_buffer_row(
	const struct abd_perf_row *row, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_case work = row->work, base = row->base;
	struct abd_perf_path path[] = {
		{row->name, work.run, &work},
		{row->against, base.run, &base},
	};

	abd_perf_say_step("%s", row->name);
	abd_perf_case_begin(&work);
	if (base.run != NULL)
		abd_perf_case_begin(&base);
	/* The iterator would join runs that lie side by side. */
	if (work.run == abd_perf_work_iterate)
		abd_perf_place_shuffle(&work.abd, 1);
	if (abd_perf_race_run(&race, path, base.run != NULL ? 2 : 1, options))
		abd_perf_buffer_record(row, &race);
	abd_perf_case_end(&work);
	abd_perf_case_end(&base);
	abd_cache_reap_now();
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct abd_perf_summary abd_perf_buffer_once(double value)
{
	return abd_perf_stat(&value, 1);
}

/* Bytes of struct and run table of a 128 KiB buffer at max_order 0, as the library counts them. */
static void abd_perf_buffer_struct(void)
{
	struct abd_stats before, after;
	struct abd_perf_result *result =
		abd_perf_result_add("buffer", "memory", "struct + table, 128 KiB, max_order 0");
	struct abd_perf_ratio *ratio;
	abd_t *abd;

	abd_perf_place_tune("max_order", "0");
	abd_stats_get(&before, sizeof(before));
	abd = abd_alloc(128 * KIB, false);
	abd_stats_get(&after, sizeof(after));
	abd_free(abd);
	abd_perf_place_tune("max_order", "10");

	double bytes = (double)(after.struct_size - before.struct_size);

	abd_perf_result_figure(result, "ours", "bytes", abd_perf_buffer_once(bytes));
	abd_perf_result_number(result, "published_bytes", 592);
	ratio = abd_perf_result_ratio(
		result, "limit of 600 bytes", "ours", abd_perf_buffer_once(600 / bytes));
	ratio->target = 1;
}

/* Bytes of memory that this process occupies. */
static double abd_perf_buffer_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
		abd_perf_say_warn("/proc/self/statm can't be read: growth of the heap is unknown");
	if (file != NULL)
		fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* How much the process grows by payload bytes in 128 KiB buffers, all of them written. */
static void abd_perf_buffer_heap(const char *max_order, size_t payload)
{
	size_t count = payload / (128 * KIB);
	abd_t **buffers = calloc(count, sizeof(*buffers));
	double before, growth;

	if (buffers == NULL)
		abd_perf_say_die(1, "no memory for %zu buffers", count);
	memset(buffers, 1, count * sizeof(*buffers)); /* resident before the first reading */
	abd_perf_place_tune("max_order", max_order);
	abd_cache_reap_now();
	before = abd_perf_buffer_resident();
	for (size_t i = 0; i < count; i++) {
		buffers[i] = abd_alloc(128 * KIB, false);
		if (buffers[i] == NULL)
			abd_perf_say_die(1, "no memory for %zu MiB of payload", payload / MIB);
		abd_zero(buffers[i], 128 * KIB);
	}
	growth = (abd_perf_buffer_resident() - before) / (double)payload;
	for (size_t i = 0; i < count; i++)
		abd_free(buffers[i]);
	free(buffers);
	abd_cache_reap_now();
	abd_perf_place_tune("max_order", "10");

	struct abd_perf_result *result = abd_perf_result_add("buffer", "memory",
		"heap growth over payload, %zu MiB in 128 KiB buffers, max_order %s", payload / MIB,
		max_order);
	struct abd_perf_ratio *ratio;

	abd_perf_result_figure(result, "ours", "x", abd_perf_buffer_once(growth));
	abd_perf_result_number(result, "published_x", 2);
	ratio = abd_perf_result_ratio(
		result, "limit of 1.05x", "ours", abd_perf_buffer_once(1.05 / growth));
	ratio->target = 1;
}

static int abd_perf_buffer_run(const struct abd_perf_options *options)
{
	size_t payload = (options->quick ? 128 : 512) * MIB;

	abd_perf_say_begin("buffer", ABD_PERF_ROWS + 3);
	abd_perf_say_step("memory of structs");
	abd_perf_buffer_struct();
	abd_perf_say_step("growth of the heap");
	abd_perf_buffer_heap("10", payload);
	abd_perf_say_step("growth of the heap, max_order 0");
	abd_perf_buffer_heap("0", payload);
	for (size_t i = 0; i < ABD_PERF_ROWS && !abd_perf_stop_wanted(); i++)
		abd_perf_buffer_row(&abd_perf_buffer_rows[i], options);
	return 0;
}

const struct abd_perf_scenario abd_perf_buffer = {
	.name = "buffer",
	.summary = "what it costs to make, view, borrow, seek and end buffers, and the memory they "
		   "take",
	.normal_s = 5,
	.full_s = 12,
	.run = abd_perf_buffer_run,
};
