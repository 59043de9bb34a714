/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All paths draw a batch of keys first, and then hold and release, or read, each record. Each path
 * has its own keys, and an iteration is one key.
 */
#include "abd_perf_arc_scale_many.h"
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_filter.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdbool.h>

#define ABD_PERF_MANY_MAX 64

enum { MANY_HOLD, MANY_HOLD_BATCH, MANY_READ, MANY_READ_BATCH, MANY_PATHS };

struct abd_perf_many {
	abd_arc_t *arc;
	size_t records, n; /* n keys in a batch */
	unsigned way;
	uint64_t random;
	size_t errors;
};

static void abd_perf_many_hold(struct abd_perf_many *many)
{
	abd_arc_key_t key[ABD_PERF_MANY_MAX];
	abd_arc_hold_t hold[ABD_PERF_MANY_MAX];
	int result[ABD_PERF_MANY_MAX];

	for (size_t i = 0; i < many->n; i++)
		key[i] = abd_perf_cached_key(abd_perf_random_below(&many->random, many->records));
	if (many->way == MANY_HOLD) {
		for (size_t i = 0; i < many->n; i++) {
			if (abd_arc_hold(many->arc, &key[i], &hold[0]) == 0)
				abd_arc_release(&hold[0]);
			else
				many->errors++;
		}
		return;
	}
	many->errors += many->n - abd_arc_hold_many(many->arc, key, hold, result, many->n);
	for (size_t i = 0; i < many->n; i++)
		if (result[i] == 0)
			abd_arc_release(&hold[i]);
}

static void abd_perf_many_read(struct abd_perf_many *many)
{
	abd_arc_io_t io[ABD_PERF_MANY_MAX];
	uint64_t value[ABD_PERF_MANY_MAX];
	size_t done = 0;

	for (size_t i = 0; i < many->n; i++) {
		io[i].key =
			abd_perf_cached_key(abd_perf_random_below(&many->random, many->records));
		io[i].dst = &value[i];
		io[i].off = 0;
		io[i].size = sizeof(value[i]);
	}
	if (many->way == MANY_READ_BATCH) {
		done = abd_arc_read_many(many->arc, io, many->n);
	} else {
		for (size_t i = 0; i < many->n; i++)
			done += abd_arc_read(many->arc, &io[i].key, io[i].dst, 0, io[i].size) > 0;
	}
	many->errors += many->n - done;
}

static double abd_perf_many_run(void *arg, uint64_t iterations)
{
	struct abd_perf_many *many = arg;
	uint64_t batches = (iterations + many->n - 1) / many->n;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < batches; i++) {
		if (many->way <= MANY_HOLD_BATCH)
			abd_perf_many_hold(many);
		else
			abd_perf_many_read(many);
	}
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(batches * many->n);
}

/* Returns how many records were not found. */
static size_t abd_perf_many_race(
	const struct abd_perf_options *options, abd_arc_t *arc, size_t records, size_t n)
{
	static const char *const name[MANY_PATHS] = {"hold", "hold_many", "read", "read_many"};
	static struct abd_perf_race race;
	struct abd_perf_many many[MANY_PATHS];
	struct abd_perf_path path[MANY_PATHS];
	double target = n == 16 && records == 1000000 ? 2.5 : 0;
	size_t errors = 0;

	abd_perf_say_step("batches of %zu among %zu records", n, records);
	for (unsigned i = 0; i < MANY_PATHS; i++) {
		many[i] = (struct abd_perf_many){arc, records, n, i, options->seed + i, 0};
		path[i] = (struct abd_perf_path){name[i], abd_perf_many_run, &many[i]};
	}
	if (abd_perf_race_run(&race, path, MANY_PATHS, options)) {
		const struct abd_perf_claim claim[] = {{MANY_HOLD_BATCH, MANY_HOLD, target, NULL},
			{MANY_READ_BATCH, MANY_READ, 0, NULL}};
		json_t *result = abd_perf_result_add(
			"arc-scale", "many", "%zu records, batches of %zu", records, n);

		abd_perf_result_number(result, "records", (double)records);
		abd_perf_result_number(result, "batch", (double)n);
		abd_perf_result_race(result, &race, path, 0);
		abd_perf_result_claims(result, &race, path, claim, 2);
	}
	for (unsigned i = 0; i < MANY_PATHS; i++)
		errors += many[i].errors;
	return errors;
}

int abd_perf_scale_many(const struct abd_perf_options *options, size_t records)
{
	static const size_t size[] = {1, 2, 4, 16, ABD_PERF_MANY_MAX};
	unsigned char zero[sizeof(uint64_t)] = {0};
	const struct abd_perf_data data = {.bytes = zero, .size = sizeof(zero)};
	abd_arc_t *arc = abd_perf_cached_fill(
		&data, records, sizeof(zero), ((size_t)1 << 20) + records * (400 + sizeof(zero)));
	size_t errors = 0;

	for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]) && !abd_perf_stop_wanted(); i++)
		errors += abd_perf_many_race(options, arc, records, size[i]);
	abd_arc_destroy(arc);
	if (errors > 0)
		abd_perf_say_warn("%zu of the records were not in the cache", errors);
	return errors > 0;
}
