/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel is best for which size on this machine, as lines for a shell to read.
 *
 * Of every tunable whose kernels serve sizes, an operation is measured over the operands that
 * engines have: 4 KiB runs at random addresses (scattered), the same with boundaries 512 bytes
 * apart (shifted), runs and linear memory (mixed), linear memory. Hot ones are the same again and
 * again, cold ones lie at random in memory that is larger than the caches. Each of these gets the
 * same share of a kernel's time.
 *
 * A cell is one size of one tunable. Its other kernels race each other; the fastest of them then
 * races the present one, which also races itself. So neither the choice among many nor the
 * machine's noise makes a winner.
 * Invariant: a plan changes only where a challenger surely is faster, and
 * nothing changes when others disturbed the measuring.
 */
#include "abd_perf_clock.h"
#include "abd_perf_command.h"
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_say.h"

#include <abd/abd.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define SHARE_NS 0.1e6 /* of an operand in an iteration, or one operation if that takes longer */

enum { SCATTERED, SHIFTED, MIXED, LINEAR, KINDS };
enum { SOME = 1 << SCATTERED | 1 << LINEAR, ALL = SOME | 1 << SHIFTED | 1 << MIXED };
enum { PAGE = 4096, SHIFT = 512, BLOCKS = 32, BLOCK_SIZES = 3 };

static struct abd_perf_options options;

/* The largest size whose operands both fit into the caches. Above, hot and cold are the same. */
#define HOT (abd_perf_env_last_cache() / 4)

struct sides {
	abd_t *a, *b;
	size_t a_off, b_off, size;
};

struct subject {
	const char *name;        /* of the tunable */
	const char *kernels[12]; /* all that may serve it, on any CPU; ended by NULL */
	/* the measured sizes, as powers of two, and how many powers apart they are */
	unsigned first, last, step;
	unsigned kinds; /* a set of 1 << kind */
	void (*work)(const struct sides *sides);
};

/*
 * Operands are places in these buffers, all filled with the same byte: so two places always hold
 * the same, and comparing reads all of it.
 */
static struct {
	size_t size; /* of each buffer, without the shift */
	abd_t *runs[2], *line[2];
	uint64_t random;
	size_t hot;
	uint64_t sum[4]; /* checksums go here, so that they are computed */
	struct block {
		size_t size, stored; /* stored: of the lz4 block that decodes to size */
		abd_t *abd;
	} block[BLOCKS * BLOCK_SIZES];
	size_t block_count, turn;
	char decoded[1 << 20];
	uint64_t times[2 * KINDS]; /* operations of an iteration, by kind, hot and cold */
} work;

#define WORK(name, does)                               \
	static void work_##name(const struct sides *s) \
	{                                              \
		does;                                  \
	}

WORK(copy, abd_copy_off(s->b, s->a, s->b_off, s->a_off, s->size))
/* The scattered side that is zeroed is compared no more: subjects come in order. */
WORK(zero, abd_zero_off(s->b, s->b_off, s->size))
WORK(flush_auto, abd_flush_copy_off(s->b, s->a, s->b_off, s->a_off, s->size, ABD_FLUSH_AUTO))
WORK(flush_shared, abd_flush_copy_off(s->b, s->a, s->b_off, s->a_off, s->size, ABD_FLUSH_SHARED))
WORK(flush_exclusive,
	abd_flush_copy_off(s->b, s->a, s->b_off, s->a_off, s->size, ABD_FLUSH_EXCLUSIVE))
WORK(fletcher, abd_fletcher_4(s->a, s->a_off, s->size, work.sum))
WORK(crc32c, work.sum[0] += abd_crc32c(s->a, s->a_off, s->size, 0))
WORK(xxh3, work.sum[0] += abd_xxh3(s->a, s->a_off, s->size, 0))

static void work_compare(const struct sides *s)
{
	if (!abd_equal_off(s->a, s->b, s->a_off, s->b_off, s->size))
		abd_perf_say_die(1, "compare: equal bytes are found different");
}

/* Blocks take turns, because a decoder's branches are learnt. */
static void work_lz4(const struct sides *s)
{
	size_t i = work.turn++ % BLOCKS;

	while (work.block[i].size != s->size)
		i += BLOCKS;
	if (abd_lz4_decompress_to_buf(work.decoded, work.block[i].abd, s->size, 0,
		    work.block[i].stored) != (ssize_t)s->size)
		abd_perf_say_die(1, "lz4: a block is not decoded");
}

#define AROUND "nt-avx512", "nt-avx2", "nt-sse2", "movnti", "movdir64b"

/* AUTO and SHARED never write cached lines back: many writers slow that down (flush.h). */
static const struct subject subjects[] = {
	{"compare",
		{"avx512", "avx2", "sse2", "neon", "libc", "avx512-near", "avx512-pair",
			"avx512-four", "avx2-pair", "avx2-four"},
		12, 26, 1, ALL, work_compare},
	{"copy",
		{"avx512", "libc", "avx512-four", "string", "nt-avx512", "nt-pair-avx512",
			"nt-four-avx512"},
		12, 26, 1, ALL, work_copy},
	{"zero", {"libc", "avx512", "avx512-four", "nt-pair-avx512"}, 12, 26, 1, SOME, work_zero},
	{"flush_auto", {AROUND}, 12, 20, 4, SOME, work_flush_auto},
	{"flush_shared", {AROUND}, 12, 20, 4, SOME, work_flush_shared},
	{"flush_exclusive", {AROUND, "clwb", "clflushopt"}, 12, 20, 4, SOME, work_flush_exclusive},
	{"lz4", {"avx512", "avx2", "neon", "portable"}, 13, 19, 3, 1 << SCATTERED, work_lz4},
	{"fletcher", {"avx512", "avx2", "scalar"}, 12, 24, 4, SOME, work_fletcher},
	{"crc32c", {"vpclmul", "pclmul"}, 12, 24, 4, SOME, work_crc32c},
	{"xxh3", {"avx512", "avx2", "portable"}, 12, 24, 4, SOME, work_xxh3},
	{.name = NULL},
};

/* Half of the blocks of a size are of table rows, with short matches, half of what fio writes. */
static void make_blocks(size_t size)
{
	static const struct abd_perf_rows_kind kind = {"rows", 256, 24, 8};
	struct abd_perf_data data[2];
	struct abd_perf_records records;

	abd_perf_rows_make(&data[0], &options, &kind, size * BLOCKS / 2);
	abd_perf_fio_make(&data[1], &options, size * BLOCKS / 2);
	for (unsigned half = 0; half < 2; half++) {
		abd_perf_records_make(&records, &data[half], size);
		for (size_t i = 0; i < BLOCKS / 2; i++, work.block_count++) {
			size_t stored = records.record[i].payload_size;
			abd_t *abd = abd_alloc(stored, false);

			abd_copy_from_buf(abd, records.record[i].payload, stored);
			work.block[work.block_count] = (struct block){size, stored, abd};
		}
		abd_perf_records_free(&records);
		free(data[half].bytes);
	}
}

static void work_make(void)
{
	size_t most = abd_perf_env_memory() / 12 / MIB * MIB, size = 4 * abd_perf_env_last_cache();

	size = size < 128 * MIB ? 128 * MIB : size > 512 * MIB ? 512 * MIB : size;
	size = size < most ? size : most;
	if (size < 68 * MIB)
		abd_perf_say_die(1, "too little memory: %d MiB are needed", 12 * 68);
	work.size = size - 2 * MIB;
	work.random = options.seed;
	abd_perf_place_tune("max_order", "0");
	for (unsigned i = 0; i < 2; i++) {
		work.line[i] = abd_alloc_linear(size, false);
		work.runs[i] = abd_alloc(size, false);
		if (work.line[i] == NULL || work.runs[i] == NULL)
			abd_perf_say_die(1, "no memory for buffers of %zu MiB", size / MIB);
	}
	abd_perf_place_shuffle(work.runs, 2);
	for (unsigned i = 0; i < 2; i++) {
		memset(abd_to_buf(work.line[i]), 0x5A, size);
		abd_copy(work.runs[i], work.line[i], size);
	}
	for (unsigned size_log = 13; size_log <= 19; size_log += 3)
		make_blocks((size_t)1 << size_log);
	abd_perf_place_tune("max_order", "10");
}

/* The ns that the work takes times times. Hot operands are warmed up by it once before. */
static double work_time(
	const struct subject *subject, size_t size, unsigned kind, bool cold, uint64_t times)
{
	size_t pages = (work.size - size) / PAGE + 1, random = work.hot;
	struct sides sides = {.a = kind == LINEAR ? work.line[0] : work.runs[0],
		.b = kind >= MIXED ? work.line[1] : work.runs[1],
		.size = size};
	double start = 0;

	for (uint64_t i = cold; i <= times; i++) {
		if (i == 1)
			start = abd_perf_clock_ns();
		if (cold)
			random = (size_t)abd_perf_random(&work.random);
		sides.a_off = random % pages * PAGE;
		sides.b_off = random / pages % pages * PAGE + (kind == SHIFTED ? SHIFT : 0);
		subject->work(&sides);
	}
	return abd_perf_clock_ns() - start;
}

static void work_share(const struct subject *subject, size_t size)
{
	for (unsigned i = 0; i < 2 * KINDS && options.times == NULL; i++) {
		bool cold = i % 2 != 0,
		     used = (subject->kinds >> i / 2 & 1) != 0 && (!cold || size <= HOT);

		work.times[i] = used;
		/* Each of three passes is as long as the one before says; the first warms up. */
		for (unsigned pass = 0; used && pass < 3; pass++)
			work.times[i] = 1 + (uint64_t)(SHARE_NS * (double)work.times[i] /
						       (1 + work_time(subject, size, i / 2, cold,
								    work.times[i])));
	}
}

static double work_run(const struct subject *subject, size_t size, uint64_t iterations)
{
	double ns = 0;

	for (uint64_t i = 0; i < iterations; i++) {
		work.hot = (size_t)abd_perf_random(&work.random);
		for (unsigned j = 0; j < 2 * KINDS; j++)
			if (work.times[j] > 0)
				ns += work_time(subject, size, j / 2, j % 2 != 0, work.times[j]);
	}
	return ns;
}

enum { CELLS_MAX = 96, NAME_SIZE = 24, PLAN_SIZE = 1024, CANT_TELL = 2 };

#define MARGIN 0.02 /* how far a ratio must lie from 1: two tunes in a row agree within that */
#define SPREAD 0.10 /* the widest interval that a kernel raced against itself may have */
enum { OTHERS = 10, DISTURBED = 20 }; /* percent: others' CPU time, and disturbed cells, at most */

struct cell {
	const struct subject *subject;
	size_t size, low, high;        /* it stands for sizes above low, up to high */
	char present[NAME_SIZE];       /* the kernel that serves this size now */
	const char *challenger;        /* the fastest other kernel; NULL: there is no other */
	struct abd_perf_summary ratio; /* how many times as fast the challenger is */
	bool replaced;                 /* the challenger is surely faster */
	bool disturbed;                /* the present kernel differs from itself */
};

static char plans[16][512]; /* what abd_tuning_get() said of the subjects at first */
static struct cell cells[CELLS_MAX];
static unsigned cell_count;

/*
 * The row for a size of a plan as abd_tuning_get() says it, "word<=64,scalar<=4096,libc (set)": its
 * kernel's name. Returns the row's last size.
 */
static size_t plan_row(const char *plan, size_t size, char name[NAME_SIZE])
{
	for (;;) {
		size_t length = strcspn(plan, "<, "), last = SIZE_MAX;
		char *end = NULL;

		if (plan[length] == '<')
			last = strtoull(plan + length + 2, &end, 10);
		if (size <= last) {
			snprintf(name, NAME_SIZE, "%.*s", (int)length, plan);
			return last;
		}
		plan = end + 1;
	}
}

/* The kernel for a size after all changes. Returns up to which size it is known to serve. */
static size_t plan_after(const struct subject *subject, size_t size, char name[NAME_SIZE])
{
	size_t last = plan_row(plans[subject - subjects], size, name);

	for (const struct cell *cell = cells; cell < cells + cell_count; cell++) {
		if (cell->subject != subject || !cell->replaced || size > cell->high)
			continue;
		if (size > cell->low) {
			strcpy(name, cell->challenger);
			return cell->high;
		}
		last = last < cell->low ? last : cell->low;
	}
	return last;
}

static void plan_change(const struct subject *subject, char plan[PLAN_SIZE])
{
	char name[NAME_SIZE], next[NAME_SIZE];
	size_t used = 0, last = plan_after(subject, 0, name), next_last;

	for (; last != SIZE_MAX; last = next_last, strcpy(name, next)) {
		next_last = plan_after(subject, last + 1, next);
		if (strcmp(name, next) != 0)
			used += (size_t)snprintf(
				plan + used, PLAN_SIZE - used, "%s<=%zu,", name, last);
	}
	snprintf(plan + used, PLAN_SIZE - used, "%s", name);
}

/* The times of tests: "slow", where the present kernel takes 1.5 times as long; "noise"; "same". */
static double planted_ns(const char *kind, bool present)
{
	static uint64_t random;
	double chance = (double)abd_perf_random_below(&random, 1000) / 1000;
	double slow = present && strcmp(kind, "slow") == 0 ? 1.5 : 1;

	return 1e6 * (slow + chance * (strcmp(kind, "noise") == 0 ? 2 : 0.001));
}

static const struct cell *raced;

static double race_one(void *arg, uint64_t iterations)
{
	const char *kernel = *(const char **)arg;

	if (options.times != NULL)
		return (double)iterations * planted_ns(options.times, kernel == raced->present);
	abd_perf_place_tune(raced->subject->name, kernel);
	return work_run(raced->subject, raced->size, iterations);
}

/* False: stopped. */
static bool race(struct abd_perf_race *race, const char **kernel, unsigned count, unsigned rounds)
{
	struct abd_perf_options few = options;
	struct abd_perf_path path[ABD_PERF_PATHS_MAX];

	few.mode = ABD_PERF_QUICK; /* short samples: the rounds are what decides */
	few.repeat = rounds;
	for (unsigned i = 0; i < count; i++)
		path[i] = (struct abd_perf_path){kernel[i], race_one, &kernel[i]};
	return abd_perf_race_run(race, path, count, &few);
}

/*
 * The kernels of this CPU but the present one. Streaming leaves nothing in the caches, and whoever
 * reads a copy next pays for that: so it challenges only where the operands fit into none.
 */
static unsigned cell_others(const struct cell *cell, const char *kernel[ABD_PERF_PATHS_MAX])
{
	bool may_stream = strncmp(cell->subject->name, "flush", 5) == 0 || cell->size > HOT;
	unsigned count = 0;

	for (const char *const *name = cell->subject->kernels; *name != NULL; name++)
		if (strcmp(*name, cell->present) != 0 &&
			(may_stream || strncmp(*name, "nt-", 3) != 0) &&
			abd_tuning_set(cell->subject->name, *name) == 0)
			kernel[count++] = *name;
	return count;
}

static void cell_measure(struct cell *cell)
{
	static struct abd_perf_race result;
	const char *kernel[ABD_PERF_PATHS_MAX];
	unsigned count = cell_others(cell, kernel), best = 0;
	struct abd_perf_summary noise;

	raced = cell;
	abd_perf_place_tune(cell->subject->name, cell->present);
	work_share(cell->subject, cell->size);
	if (count == 0 || !race(&result, kernel, count, 2))
		return;
	for (unsigned i = 1; i < count; i++)
		if (abd_perf_race_ns(&result, i).median < abd_perf_race_ns(&result, best).median)
			best = i;
	cell->challenger = kernel[best];
	kernel[0] = kernel[1] = cell->present;
	kernel[2] = cell->challenger;
	if (!race(&result, kernel, 3, 9))
		return;
	noise = abd_perf_race_ratio(&result, 1, 0);
	cell->ratio = abd_perf_race_ratio(&result, 2, 0);
	cell->disturbed = abd_perf_stat_verdict(&noise, MARGIN) != ABD_PERF_CANT_TELL ||
			  noise.high - noise.low > SPREAD;
	cell->replaced =
		!cell->disturbed && abd_perf_stat_verdict(&cell->ratio, MARGIN) == ABD_PERF_FASTER;
}

/*
 * The cells of a subject; with --quick every second size. Each stands for the sizes half way to its
 * neighbours, as powers go; the largest one for all above, too.
 */
static void cells_add(const struct subject *subject)
{
	unsigned step = options.mode == ABD_PERF_QUICK ? 2 * subject->step : subject->step, log;

	snprintf(plans[subject - subjects], sizeof(plans[0]), "%s", abd_tuning_get(subject->name));
	for (log = subject->first; log <= subject->last && cell_count < CELLS_MAX; log += step) {
		struct cell *cell = &cells[cell_count++];

		cell->subject = subject;
		cell->size = (size_t)1 << log;
		cell->low = (size_t)exp2(log - (log == subject->first ? 1 : step / 2.0));
		cell->high = log + step > subject->last ? SIZE_MAX : (size_t)exp2(log + step / 2.0);
		plan_row(plans[subject - subjects], cell->size, cell->present);
	}
}

static void cells_measure(void)
{
	char text[24];

	abd_perf_place_tune("flush", "auto"); /* it would take precedence over flush_auto */
	for (const struct subject *subject = subjects; subject->name != NULL; subject++)
		cells_add(subject);
	abd_perf_say_begin("tune", cell_count);
	for (struct cell *cell = cells; cell < cells + cell_count && !abd_perf_say_stopped();
		cell++) {
		abd_perf_say_step("%s, %s", cell->subject->name,
			abd_perf_options_size_text(cell->size, text, sizeof(text)));
		cell_measure(cell);
	}
	abd_perf_say_end();
}

/* Whether nothing can be told; prints why. */
static bool disturbed(double others)
{
	unsigned count = 0;

	for (unsigned i = 0; i < cell_count; i++)
		count += cells[i].disturbed;
	if (others <= OTHERS && count * 100 <= cell_count * DISTURBED)
		return false;
	printf("# can't tell: other programs used %.0f %% of the CPUs, and the same kernel against "
	       "itself differs in %u of %u measurements\n",
		others, count, cell_count);
	return true;
}

static void say_cell(const struct cell *cell)
{
	const struct abd_perf_summary *ratio = &cell->ratio;
	char size[24];

	printf("# %s: %s; %s: %.3f [%.3f, %.3f] times as fast%s\n",
		abd_perf_options_size_text(cell->size, size, sizeof(size)), cell->present,
		cell->challenger, ratio->median, ratio->low, ratio->high,
		cell->replaced ? ", replaces it" : "");
}

static void say_subject(const struct subject *subject)
{
	char plan[PLAN_SIZE];
	bool changed = false;

	printf("#\n# %s was %s\n", subject->name, plans[subject - subjects]);
	for (const struct cell *cell = cells; cell < cells + cell_count; cell++) {
		if (cell->subject == subject && cell->challenger != NULL)
			say_cell(cell);
		changed |= cell->subject == subject && cell->replaced;
	}
	plan_change(subject, plan);
	if (!changed || abd_tuning_set(subject->name, plan) != 0) {
		printf("# %s stays as it is\n", subject->name); /* or the plan is too long */
		return;
	}
	printf("export ABD_");
	for (const char *letter = subject->name; *letter != '\0'; letter++)
		putchar(toupper((unsigned char)*letter));
	printf("='%s'\n", plan);
}

int abd_perf_tune(int argc, char **argv)
{
	json_t *facts;
	double others;

	abd_perf_options_tune(&options, argc, argv);
	abd_perf_say_stoppable();
	abd_perf_env_look(&options);
	abd_perf_crew_pin(options.cpus[0]);
	if (options.times == NULL)
		work_make();
	cells_measure();
	if (abd_perf_say_stopped()) {
		printf("# ended early\n");
		return 130;
	}
	others = abd_perf_env_look_back(&options);
	if (disturbed(options.times == NULL ? others : 0))
		return CANT_TELL;
	facts = abd_perf_env_facts();
	printf("# What to set for libabd %s, by abd-perf tune, %s\n# %s (%s)\n"
	       "# Beside each size: its kernel, the fastest other one, and the 95 %% interval.\n",
		abd_version(), json_string_value(json_object_get(facts, "time")),
		json_string_value(json_object_get(facts, "cpu")), abd_tuning_get("cpu"));
	for (const struct subject *subject = subjects; subject->name != NULL; subject++)
		say_subject(subject);
	return fflush(stdout) != 0;
}
