/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool: what the fixed pool gains and loses: comparing and copying in its memory, against the
 * default provider's; and fragmentation, as the share of buffers that are a single run after a day
 * of churn.
 *
 * Churn: buffers fill the pool to a given percentage. Then, again and again, a random buffer is
 * freed and new ones take its room. In each of 24 simulated hours this replaces the content 4 times
 * (once without --full). Four hours of small buffers (8 and 16 KiB) alternate with four of large
 * ones (64 and 128 KiB): with a constant mix, freed room would fit the next request and nothing
 * would fragment. Of the first buffers one in 16 is a page of 4 KiB that stays. No thread keeps a
 * reserve. Sizes are powers of two, so in an unfragmented pool every buffer would be a single run.
 */
#include "abd_perf_loop.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <abd/abd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define ABD_PERF_POOL_SIZE (256 * MIB)
#define ABD_PERF_POOL_DAY 24
#define ABD_PERF_POOL_SEEDS 3

/* ---- memory ---------------------------------------------------------------------------------- */

/* Two buffers in the pool and two elsewhere, with the same content. */
struct abd_perf_pool_memory {
	size_t size;
	abd_t *pool[2], *other[2];
};

ABD_PERF_LOOP(struct abd_perf_pool_memory, abd_perf_pool_cmp, abd_cmp(o->pool[0], o->pool[1]))
ABD_PERF_LOOP(
	struct abd_perf_pool_memory, abd_perf_pool_cmp_other, abd_cmp(o->other[0], o->other[1]))
ABD_PERF_LOOP(struct abd_perf_pool_memory, abd_perf_pool_copy,
	(abd_copy(o->pool[1], o->pool[0], o->size), 1))
ABD_PERF_LOOP(struct abd_perf_pool_memory, abd_perf_pool_copy_other,
	(abd_copy(o->other[1], o->other[0], o->size), 1))

static void abd_perf_pool_pair(abd_t *pair[2], const char *provider, size_t size)
{
	abd_perf_place_tune("chunk_provider", provider);
	for (unsigned i = 0; i < 2; i++) {
		pair[i] = abd_alloc(size, false);
		if (pair[i] == NULL)
			abd_perf_say_die(1, "%s has no memory for %zu bytes", provider, size);
		abd_zero(pair[i], size);
	}
}

static void abd_perf_pool_memory_size(
	size_t size, const char *provider, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_pool_memory memory = {.size = size};
	struct abd_perf_path path[] = {
		{"abd_cmp, pool", abd_perf_pool_cmp, &memory},
		{"abd_cmp, default", abd_perf_pool_cmp_other, &memory},
		{"abd_copy, pool", abd_perf_pool_copy, &memory},
		{"abd_copy, default", abd_perf_pool_copy_other, &memory},
	};
	char text[24];

	abd_perf_say_step("%s", abd_perf_options_size_text(size, text, sizeof(text)));
	abd_perf_pool_pair(memory.pool, "pool", size);
	abd_perf_pool_pair(memory.other, provider, size);
	if (abd_perf_race_run(&race, path, 4, options)) {
		struct abd_perf_result *result = abd_perf_result_add("pool", "memory", "%s", text);

		abd_perf_result_size(result, "size", size);
		abd_perf_result_text(result, "default", provider);
		abd_perf_result_race(result, &race, path, (double)size);
		for (unsigned i = 0; i < 4; i += 2)
			abd_perf_result_ratio(result, path[i].name, path[i + 1].name,
				abd_perf_race_ratio(&race, i, i + 1));
	}
	for (unsigned i = 0; i < 2; i++) {
		abd_free(memory.pool[i]);
		abd_free(memory.other[i]);
	}
}

/* ---- churn ----------------------------------------------------------------------------------- */

static const size_t abd_perf_churn_sizes[2][2] = {{8 * KIB, 16 * KIB}, {64 * KIB, 128 * KIB}};

static const unsigned abd_perf_churn_fillings[] = {50, 75, 90, 95}; /* percent of the pool */

static const char *const abd_perf_churn_names[] = {
	"50 % full", "75 % full", "90 % full", "95 % full"};

#define ABD_PERF_CHURN_FILLINGS 4

struct abd_perf_churn {
	uint64_t random;
	abd_t **abds;
	size_t count, kept;   /* live buffers; the first kept of them stay */
	size_t bytes, target; /* of all live buffers; how many there should be */
	unsigned hour;
	size_t made, single; /* in this hour */
};

/* Percent of the buffers made in an hour that are a single run; in hour 0 the pool is filled. */
static double abd_perf_churn_single[ABD_PERF_POOL_DAY + 1][ABD_PERF_CHURN_FILLINGS]
				   [ABD_PERF_POOL_SEEDS];

/* Make one more buffer. */
static void abd_perf_churn_make(struct abd_perf_churn *churn)
{
	bool stays = churn->hour == 0 && abd_perf_random_below(&churn->random, 16) == 0;
	bool large = churn->hour > 0 && (churn->hour - 1) / 4 % 2 == 1;
	size_t size = stays ? 4 * KIB
			    : abd_perf_churn_sizes[large][abd_perf_random_below(&churn->random, 2)];
	abd_t *abd = abd_alloc(size, false);

	if (abd == NULL) /* can't be: pages are free, and a buffer can be made of single pages */
		abd_perf_say_die(1, "the pool refuses %zu bytes while it has room", size);
	churn->made++;
	churn->single += abd_is_linear_page(abd);
	churn->abds[churn->count++] = abd;
	churn->bytes += size;
	if (!stays)
		return;
	churn->abds[churn->count - 1] = churn->abds[churn->kept];
	churn->abds[churn->kept++] = abd;
}

/* Free a random buffer that does not stay. Returns its size. */
static size_t abd_perf_churn_drop(struct abd_perf_churn *churn)
{
	size_t i = churn->kept + abd_perf_random_below(&churn->random, churn->count - churn->kept);
	abd_t *abd = churn->abds[i];
	size_t size = abd_get_size(abd);

	churn->abds[i] = churn->abds[--churn->count];
	churn->bytes -= size;
	abd_free(abd);
	return size;
}

/* One hour: free random buffers, and make new ones of the hour's sizes. */
static void abd_perf_churn_hour(struct abd_perf_churn *churn, size_t replaced)
{
	churn->made = churn->single = 0;
	for (size_t moved = 0; moved < replaced;) {
		moved += abd_perf_churn_drop(churn);
		while (churn->bytes < churn->target)
			abd_perf_churn_make(churn);
	}
}

/* A day at one filling, from one seed. */
static void abd_perf_churn_day(
	unsigned filling, unsigned seed, const struct abd_perf_options *options)
{
	struct abd_perf_churn churn = {.random = options->seed + seed,
		.target = ABD_PERF_POOL_SIZE / 100 * abd_perf_churn_fillings[filling]};

	churn.abds = calloc(ABD_PERF_POOL_SIZE / (4 * KIB), sizeof(*churn.abds));
	if (churn.abds == NULL)
		abd_perf_say_die(1, "no memory for churn");
	while (churn.bytes < churn.target)
		abd_perf_churn_make(&churn);
	for (unsigned hour = 0; hour <= ABD_PERF_POOL_DAY && !abd_perf_stop_wanted(); hour++) {
		churn.hour = hour;
		if (hour > 0)
			abd_perf_churn_hour(&churn, churn.target * (options->quick ? 1 : 4));
		abd_perf_churn_single[hour][filling][seed] =
			100.0 * (double)churn.single / (double)churn.made;
	}
	for (size_t i = 0; i < churn.count; i++)
		abd_free(churn.abds[i]);
	free(churn.abds);
}

static void abd_perf_churn_run(const struct abd_perf_options *options)
{
	for (unsigned filling = 0; filling < ABD_PERF_CHURN_FILLINGS; filling++) {
		abd_perf_say_step("churn, %u %% full", abd_perf_churn_fillings[filling]);
		for (unsigned seed = 0; seed < ABD_PERF_POOL_SEEDS; seed++)
			abd_perf_churn_day(filling, seed, options);
		if (abd_perf_stop_wanted())
			return; /* a part of the fillings makes no table */
	}
	for (unsigned hour = 0; hour <= ABD_PERF_POOL_DAY; hour++) {
		struct abd_perf_result *result =
			abd_perf_result_add("pool", "churn", "hour %u", hour);

		abd_perf_result_number(result, "hour", hour);
		for (unsigned i = 0; i < ABD_PERF_CHURN_FILLINGS; i++)
			abd_perf_result_figure(result, abd_perf_churn_names[i], "%",
				abd_perf_stat(abd_perf_churn_single[hour][i], ABD_PERF_POOL_SEEDS));
	}
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static int abd_perf_pool_run(const struct abd_perf_options *options)
{
	static const size_t sizes[] = {8 * KIB, 128 * KIB, MIB, 16 * MIB};
	char provider[32], size_text[32], reserve[32];

	snprintf(provider, sizeof(provider), "%s", abd_tuning_get("chunk_provider"));
	snprintf(reserve, sizeof(reserve), "%s", abd_tuning_get("thread_cache_bytes"));
	snprintf(size_text, sizeof(size_text), "%zu", ABD_PERF_POOL_SIZE);
	if (strcmp(provider, "pool") == 0 || abd_tuning_set("pool_size", size_text) != 0) {
		abd_perf_say_warn("pool is left out: the pool is in use already");
		return 0;
	}
	abd_perf_say_begin("pool", 8);
	for (unsigned i = 0; i < 4 && !abd_perf_stop_wanted(); i++)
		abd_perf_pool_memory_size(sizes[i], provider, options);
	abd_perf_place_tune("chunk_provider", "pool");
	abd_perf_place_tune("thread_cache_bytes", "0");
	abd_cache_reap_now();
	if (!abd_perf_stop_wanted())
		abd_perf_churn_run(options);
	abd_perf_place_tune("chunk_provider", provider);
	abd_perf_place_tune("thread_cache_bytes", reserve);
	return 0;
}

const struct abd_perf_scenario abd_perf_pool = {
	.name = "pool",
	.summary =
		"the fixed pool's memory against the default, and what a day of churn does to it",
	.normal_s = 3,
	.full_s = 10,
	.run = abd_perf_pool_run,
};
