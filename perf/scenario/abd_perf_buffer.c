/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer: what it costs to make, view, borrow, seek in and free buffers, and what memory they take.
 *
 * Published figures are those of OpenZFS's own userspace buffers (libzpool at be7657e3f2, built
 * without debug checks, on a Zen 5 server part). That is another machine, so a ratio against them
 * only shows the order of magnitude. When a cost must not grow with the buffer, a small and a large
 * buffer are raced against each other.
 */
#include "abd_perf_crew.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define CHILD (4 * KIB) /* bytes of a gang's child */

struct abd_perf_cost {
	double (*run)(void *arg, uint64_t iterations);
	size_t size;             /* of the buffer */
	size_t count;            /* children of a gang; buffers of a burst */
	const char *max_order;   /* NULL: 10 */
	const char *linear_page; /* NULL: 1 */
	bool hold;               /* a buffer of this size is there before the clock starts */

	abd_t *abd;   /* that buffer */
	abd_t **many; /* count children, or room for a burst */
	abd_t *gang;
	size_t bytes, step; /* of the gang; of a seek in it */
};

/* ---- what is timed --------------------------------------------------------------------------- */

static void abd_perf_cost_tune(const struct abd_perf_cost *work)
{
	abd_perf_place_tune("max_order", work->max_order != NULL ? work->max_order : "10");
	abd_perf_place_tune("linear_page", work->linear_page != NULL ? work->linear_page : "1");
}

static int abd_perf_work_nothing(void *buf, size_t len, void *count)
{
	(void)buf, (void)len;
	++*(uint64_t *)count;
	return 0;
}

static char abd_perf_work_memory[4096];

/*
 * Defines the loop NAME: one turn does EACH operations, and the loop returns the ns that iterations
 * of them took. It contains only the calls: no timing, and no branches that a call's result does
 * not need. The code may use w, the case; byte, view and off are its own.
 */
#define WORK(NAME, EACH, ...)                                                             \
	static double abd_perf_work_##NAME(void *arg, uint64_t iterations)                \
	{                                                                                 \
		struct abd_perf_cost *w = arg;                                            \
		uint64_t each = (EACH), turns = iterations / each + (each > 1), seen = 0; \
		size_t off = 0;                                                           \
		double start;                                                             \
		abd_t view;                                                               \
		char byte;                                                                \
                                                                                          \
		(void)w, (void)view, (void)byte, (void)off;                               \
		abd_perf_cost_tune(w);                                                    \
		start = abd_perf_clock_ns();                                              \
		for (uint64_t i = 0; i < turns; i++) {                                    \
			__VA_ARGS__;                                                      \
		}                                                                         \
		abd_perf_keep(&seen);                                                     \
		return (abd_perf_clock_ns() - start) * (double)iterations /               \
		       (double)(turns * each);                                            \
	}

#define EVERY(statement)                      \
	for (size_t j = 0; j < w->count; j++) \
	statement

WORK(alloc, 1, abd_free(abd_alloc(w->size, false)))
WORK(burst, w->count, EVERY(w->many[j] = abd_alloc(w->size, false)); EVERY(abd_free(w->many[j])))
WORK(malloc, 1, void *memory = malloc(w->size); abd_perf_keep(memory); free(memory))
WORK(malloc_burst, w->count, EVERY(w->many[j] = malloc(w->size)); abd_perf_keep(w->many);
	EVERY(free(w->many[j])))
WORK(borrow, 1, void *buf = abd_borrow_buf_copy(w->abd, w->size);
	abd_return_buf(w->abd, buf, w->size))
WORK(view, 1, abd_free(abd_get_offset_size(w->abd, w->size - 512, 512)))
WORK(view_struct, 1, abd_free(abd_get_offset_struct(&view, w->abd, w->size - 512, 512)))
WORK(from_buf, 1, abd_free(abd_get_from_buf(abd_perf_work_memory, sizeof(abd_perf_work_memory))))
WORK(zeros, 1, abd_free(abd_get_zeros(w->size)))
/* The cost is that of the call and the seek. */
WORK(seek_end, 1, abd_copy_to_buf_off(&byte, w->abd, w->size - 1, 1); abd_perf_keep(&byte))
WORK(seek_start, 1, abd_copy_to_buf_off(&byte, w->abd, 0, 1); abd_perf_keep(&byte))
WORK(iterate, 1, abd_iterate_func(w->abd, 0, w->size, abd_perf_work_nothing, &seen))
/* Making and freeing the gang counts. */
WORK(gang_append, w->count, abd_alloc_gang_struct(&view);
	EVERY((void)abd_gang_add(&view, w->many[j], false)); abd_free(&view))
WORK(gang_iterate, w->count,
	abd_iterate_func(w->gang, 0, abd_get_size(w->gang), abd_perf_work_nothing, &seen))
/* Steps of 0.618 of the size visit all parts and rarely repeat one (Weyl's sequence). */
WORK(gang_seek, 1, off += w->step; off -= off >= w->bytes ? w->bytes : 0;
	abd_copy_to_buf_off(&byte, w->gang, off, 1); abd_perf_keep(&byte))
WORK(gang_four, 1, abd_t *gang = abd_alloc_gang();
	EVERY((void)abd_gang_add(gang, w->many[j], false)); abd_free(gang))

/* ---- freed by another thread ------------------------------------------------------------ */

/* One thread allocates w->count buffers, another frees them, by turns; what both take counts. */
struct abd_perf_relay {
	struct abd_perf_cost *work;
	void *(*alloc)(const struct abd_perf_cost *work);
	void (*free)(void *memory);
	uint64_t turns;
	double ns; /* that the other thread took */
	sem_t filled, emptied;
};

static int abd_perf_relay_cpu; /* the other thread's */

static void *abd_perf_relay_free(void *arg)
{
	struct abd_perf_relay *relay = arg;
	struct abd_perf_cost *w = relay->work;

	abd_perf_crew_pin(abd_perf_relay_cpu);
	for (uint64_t i = 0; i < relay->turns; i++) {
		while (sem_wait(&relay->filled) != 0) /* a signal came */
			;
		double start = abd_perf_clock_ns();

		EVERY(relay->free(w->many[j]));
		relay->ns += abd_perf_clock_ns() - start;
		sem_post(&relay->emptied);
	}
	return NULL;
}

static double abd_perf_relay_run(struct abd_perf_relay *relay, uint64_t iterations)
{
	struct abd_perf_cost *w = relay->work;
	pthread_t other;
	double ns = 0;

	abd_perf_cost_tune(w);
	relay->turns = iterations / w->count + 1;
	sem_init(&relay->filled, 0, 0);
	sem_init(&relay->emptied, 0, 0);
	if (pthread_create(&other, NULL, abd_perf_relay_free, relay) != 0)
		abd_perf_say_die(1, "no thread to free buffers");
	for (uint64_t i = 0; i < relay->turns; i++) {
		double start = abd_perf_clock_ns();

		EVERY(w->many[j] = relay->alloc(w));
		ns += abd_perf_clock_ns() - start;
		sem_post(&relay->filled);
		while (sem_wait(&relay->emptied) != 0)
			;
	}
	pthread_join(other, NULL);
	sem_destroy(&relay->filled);
	sem_destroy(&relay->emptied);
	return (ns + relay->ns) * (double)iterations / (double)(relay->turns * w->count);
}

static void *abd_perf_relay_buffer(const struct abd_perf_cost *work)
{
	return abd_alloc(work->size, false);
}

static void abd_perf_relay_buffer_free(void *buffer)
{
	abd_free(buffer);
}

static void *abd_perf_relay_memory(const struct abd_perf_cost *work)
{
	return malloc(work->size);
}

static double abd_perf_work_relay(void *arg, uint64_t iterations)
{
	struct abd_perf_relay relay = {
		arg, abd_perf_relay_buffer, abd_perf_relay_buffer_free, .ns = 0};

	return abd_perf_relay_run(&relay, iterations);
}

static double abd_perf_work_malloc_relay(void *arg, uint64_t iterations)
{
	struct abd_perf_relay relay = {arg, abd_perf_relay_memory, free, .ns = 0};

	return abd_perf_relay_run(&relay, iterations);
}

/* ---- the rows -------------------------------------------------------------------------------- */

struct abd_perf_row {
	const char *name;
	struct abd_perf_cost work;
	const char *against;       /* what the base is, in words */
	struct abd_perf_cost base; /* raced against work; none if its function is NULL */
	double target;             /* least speed of work over base; 0: for information */
	double published_ns;       /* OpenZFS's; 0: none */
	double published_target;   /* how many times as fast as that */
	double limit_ns;           /* at most; 0: none */
};

/* bytes: of the buffer; many: children or buffers; held: it is there before the clock starts. */
#define COST(name, bytes, many, order, held)                                                   \
	{                                                                                      \
		.run = abd_perf_work_##name, .size = (bytes), .count = (many), .hold = (held), \
		.max_order = (order)                                                           \
	}

static const struct abd_perf_row abd_perf_buffer_rows[] = {
	{"alloc + free, 512 B", COST(alloc, 512, 0, NULL, false), "malloc + free",
		COST(malloc, 512, 0, NULL, false), 0, 50, 3, 12},
	{"alloc + free, 4 KiB", COST(alloc, 4 * KIB, 0, NULL, false), "malloc + free",
		COST(malloc, 4 * KIB, 0, NULL, false), 0, 110, 3, 0},
	{"alloc + free, 8 KiB", COST(alloc, 8 * KIB, 0, NULL, false), "malloc + free",
		COST(malloc, 8 * KIB, 0, NULL, false), 0, 170, 0, 0},
	{"alloc + free, 128 KiB", COST(alloc, 128 * KIB, 0, NULL, false), "malloc + free",
		COST(malloc, 128 * KIB, 0, NULL, false), 0, 3460, 5, 0},
	{"alloc + free, 128 KiB, max_order 0", COST(alloc, 128 * KIB, 0, "0", false), NULL, {0}, 0,
		3460, 5, 0},
	{"alloc + free, 1 MiB", COST(alloc, MIB, 0, NULL, false), "malloc + free",
		COST(malloc, MIB, 0, NULL, false), 0, 27500, 5, 0},
	{"alloc + free, 1 MiB, max_order 0", COST(alloc, MIB, 0, "0", false), NULL, {0}, 0, 27500,
		5, 0},
	{"alloc 1,000, free 1,000: 512 B", COST(burst, 512, 1000, NULL, false),
		"malloc, free alike", COST(malloc_burst, 512, 1000, NULL, false), 0, 50, 0, 25},
	{"alloc 1,000, free 1,000: 4 KiB", COST(burst, 4 * KIB, 1000, NULL, false),
		"malloc, free alike", COST(malloc_burst, 4 * KIB, 1000, NULL, false), 0, 110, 0, 0},
	{"alloc 1,000, free 1,000: 128 KiB, max_order 0", COST(burst, 128 * KIB, 1000, "0", false),
		"malloc, free alike", COST(malloc_burst, 128 * KIB, 1000, NULL, false), 0, 3460, 0,
		0},
	{"alloc 1,000, free 1,000: 1 MiB", COST(burst, MIB, 1000, NULL, false),
		"malloc, free alike", COST(malloc_burst, MIB, 1000, NULL, false), 0, 27500, 0, 0},
	{"alloc 1,000, another thread frees: 512 B", COST(relay, 512, 1000, NULL, false),
		"malloc, free alike", COST(malloc_relay, 512, 1000, NULL, false), 0, 50, 0, 40},
	{"alloc 1,000, another thread frees: 4 KiB", COST(relay, 4 * KIB, 1000, NULL, false),
		"malloc, free alike", COST(malloc_relay, 4 * KIB, 1000, NULL, false), 0, 110, 0, 0},
	{"borrow + return, 3 KiB, one run", COST(borrow, 3 * KIB, 0, NULL, true), "the rule off",
		{.run = abd_perf_work_borrow, .size = 3 * KIB, .linear_page = "0", .hold = true}, 0,
		65, 0, 5},
	{"borrow + return, 4 KiB, one run", COST(borrow, 4 * KIB, 0, NULL, true), "the rule off",
		{.run = abd_perf_work_borrow, .size = 4 * KIB, .linear_page = "0", .hold = true}, 0,
		135, 0, 5},
	{"borrow + return, 128 KiB, one run", COST(borrow, 128 * KIB, 0, NULL, true), "32 runs",
		COST(borrow, 128 * KIB, 0, "0", true), 0, 1880, 0, 5},
	{"view + free, 4,096 chunks", COST(view, 16 * MIB, 0, "0", true), "2 chunks",
		COST(view, 8 * KIB, 0, "0", true), 0.95, 19, 0, 10},
	{"view + free, caller's struct, 4,096 chunks", COST(view_struct, 16 * MIB, 0, "0", true),
		"2 chunks", COST(view_struct, 8 * KIB, 0, "0", true), 0.95, 0, 0, 10},
	{"from_buf + free", {.run = abd_perf_work_from_buf}, NULL, {0}, 0, 14, 0, 0},
	{"zeros + free, 128 KiB", {.run = abd_perf_work_zeros, .size = 128 * KIB}, NULL, {0}, 0, 19,
		0, 0},
	{"seek to the end, 4,096 chunks", COST(seek_end, 16 * MIB, 0, "0", true), "2 chunks",
		COST(seek_end, 8 * KIB, 0, "0", true), 0.95, 0, 0, 10},
	{"seek to the end, runs of 11 orders", COST(seek_end, 8 * MIB - 4 * KIB, 0, NULL, true),
		"to the start", COST(seek_start, 8 * MIB - 4 * KIB, 0, NULL, true), 0, 0, 0, 10},
	{"iterate 128 KiB, max_order 0", COST(iterate, 128 * KIB, 0, "0", true), NULL, {0}, 0, 150,
		0, 0},
	{"gang of 4 existing + free", COST(gang_four, 0, 4, NULL, false), NULL, {0}, 0, 121, 0, 0},
	{"gang append, per child, of 10,000", COST(gang_append, 0, 10000, NULL, false), "of 10",
		COST(gang_append, 0, 10, NULL, false), 0.95, 0, 0, 0},
	{"gang iterate, per child, of 10,000", COST(gang_iterate, 0, 10000, NULL, false), "of 10",
		COST(gang_iterate, 0, 10, NULL, false), 0.95, 0, 0, 0},
	/* log2(10,000) / log2(10) = 4: a logarithmic seek keeps at least a quarter of the speed. */
	{"gang seek, 10,000 children", COST(gang_seek, 0, 10000, NULL, false), "10 children",
		COST(gang_seek, 0, 10, NULL, false), 0.25, 0, 0, 0},
};

#define ABD_PERF_ROWS (sizeof(abd_perf_buffer_rows) / sizeof(abd_perf_buffer_rows[0]))

static void *abd_perf_cost_need(void *memory, size_t size)
{
	if (memory == NULL)
		abd_perf_say_die(1, "no memory for a buffer of %zu bytes", size);
	return memory;
}

static void abd_perf_cost_gang(struct abd_perf_cost *work)
{
	work->gang = abd_perf_cost_need(abd_alloc_gang(), 0);
	for (size_t i = 0; i < work->count; i++) {
		work->many[i] = abd_perf_cost_need(abd_alloc_linear(CHILD, false), CHILD);
		if (abd_gang_add(work->gang, work->many[i], false) != 0)
			abd_perf_cost_need(NULL, CHILD);
	}
	work->bytes = abd_get_size(work->gang);
	work->step = (size_t)((double)work->bytes * 0.6180339887);
}

static void abd_perf_cost_begin(struct abd_perf_cost *work)
{
	abd_perf_cost_tune(work);
	if (work->hold) {
		work->abd = abd_perf_cost_need(abd_alloc(work->size, false), work->size);
		abd_zero(work->abd, work->size);
	}
	if (work->count > 0)
		work->many = abd_perf_cost_need(calloc(work->count, sizeof(abd_t *)), work->count);
	if (work->count > 0 && work->size == 0)
		abd_perf_cost_gang(work);
}

static void abd_perf_cost_end(struct abd_perf_cost *work)
{
	abd_free(work->gang);
	for (size_t i = 0; work->gang != NULL && i < work->count; i++)
		abd_free(work->many[i]);
	free(work->many);
	abd_free(work->abd);
}

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
	json_t *result = abd_perf_result_add("buffer", "cost", "%s", row->name);
	struct abd_perf_summary ns = abd_perf_race_ns(race, 0);

	if (row->work.size != 0)
		abd_perf_result_size(result, "size", row->work.size);
	if (row->work.count != 0)
		abd_perf_result_number(result, "count", (double)row->work.count);
	abd_perf_result_text(
		result, "max_order", row->work.max_order != NULL ? row->work.max_order : "10");
	abd_perf_result_figure(result, "ours", "ns", ns);
	if (row->published_ns != 0) {
		abd_perf_result_ratio(result, "ours", "OpenZFS",
			abd_perf_buffer_against(row->published_ns, &ns), row->published_target,
			&(struct abd_perf_said){
				NULL, 0, "libzpool at be7657e3f2, on another machine"});
		abd_perf_result_number(result, "published_ns", row->published_ns);
	}
	if (row->limit_ns != 0) {
		abd_perf_result_ratio(result, "ours", "limit",
			abd_perf_buffer_against(row->limit_ns, &ns), 1, NULL);
		abd_perf_result_number(result, "limit_ns", row->limit_ns);
	}
	if (race->paths > 1) {
		abd_perf_result_figure(result, row->against, "ns", abd_perf_race_ns(race, 1));
		abd_perf_result_ratio(result, "ours", row->against, abd_perf_race_ratio(race, 0, 1),
			row->target, NULL);
	}
}

static void abd_perf_buffer_row(
	const struct abd_perf_row *row, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_cost work = row->work, base = row->base;
	struct abd_perf_path path[] = {
		{row->name, work.run, &work},
		{row->against, base.run, &base},
	};

	abd_perf_say_step("%s", row->name);
	abd_perf_cost_begin(&work);
	if (base.run != NULL)
		abd_perf_cost_begin(&base);
	/* The iterator would join runs that lie side by side. */
	if (work.run == abd_perf_work_iterate)
		abd_perf_place_shuffle(&work.abd, 1);
	if (abd_perf_race_run(&race, path, base.run != NULL ? 2 : 1, options))
		abd_perf_buffer_record(row, &race);
	abd_perf_cost_end(&work);
	abd_perf_cost_end(&base);
	abd_cache_reap_now();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* What was counted, against a limit; OpenZFS has published. */
static void abd_perf_buffer_counted(json_t *result, double value, const char *unit, double limit,
	const char *limit_text, double published)
{
	double ratio = limit / value;

	abd_perf_result_value(result, "ours", unit, value);
	abd_perf_result_number(
		result, strcmp(unit, "x") == 0 ? "published_x" : "published_bytes", published);
	abd_perf_result_ratio(result, limit_text, "ours", abd_perf_stat(&ratio, 1), 1, NULL);
}

/* Bytes of struct and run table of a 128 KiB buffer at max_order 0, as the library counts them. */
static void abd_perf_buffer_struct(void)
{
	struct abd_stats before, after;
	json_t *result =
		abd_perf_result_add("buffer", "memory", "struct + table, 128 KiB, max_order 0");
	abd_t *abd;

	abd_perf_place_tune("max_order", "0");
	abd_stats_get(&before, sizeof(before));
	abd = abd_alloc(128 * KIB, false);
	abd_stats_get(&after, sizeof(after));
	abd_free(abd);
	abd_perf_place_tune("max_order", "10");

	double bytes = (double)(after.struct_size - before.struct_size);

	abd_perf_buffer_counted(result, bytes, "bytes", 600, "limit of 600 bytes", 592);
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
	before = (double)abd_perf_env_resident(false);
	for (size_t i = 0; i < count; i++) {
		buffers[i] = abd_alloc(128 * KIB, false);
		if (buffers[i] == NULL)
			abd_perf_say_die(1, "no memory for %zu MiB of payload", payload / MIB);
		abd_zero(buffers[i], 128 * KIB);
	}
	growth = ((double)abd_perf_env_resident(false) - before) / (double)payload;
	for (size_t i = 0; i < count; i++)
		abd_free(buffers[i]);
	free(buffers);
	abd_cache_reap_now();
	abd_perf_place_tune("max_order", "10");

	json_t *result = abd_perf_result_add("buffer", "memory",
		"heap growth over payload, %zu MiB in 128 KiB buffers, max_order %s", payload / MIB,
		max_order);

	abd_perf_buffer_counted(result, growth, "x", 1.05, "limit of 1.05x", 2);
}

static int abd_perf_buffer_run(const struct abd_perf_options *options)
{
	size_t payload = (options->quick ? 128 : 512) * MIB;

	abd_perf_relay_cpu = options->cpus[1 % options->cpu_count];
	abd_perf_say_begin("buffer", ABD_PERF_ROWS + 3);
	abd_perf_say_step("memory of structs");
	abd_perf_buffer_struct();
	abd_perf_say_step("growth of the heap");
	abd_perf_buffer_heap("10", payload);
	abd_perf_say_step("growth of the heap, max_order 0");
	abd_perf_buffer_heap("0", payload);
	for (size_t i = 0; i < ABD_PERF_ROWS && !abd_perf_say_stopped(); i++)
		abd_perf_buffer_row(&abd_perf_buffer_rows[i], options);
	return 0;
}

const struct abd_perf_scenario abd_perf_buffer = {
	.name = "buffer",
	.summary = "what it costs to make, view, borrow, seek and end buffers, and the memory they "
		   "take",
	.normal_s = 4,
	.full_s = 12,
	.run = abd_perf_buffer_run,
};
