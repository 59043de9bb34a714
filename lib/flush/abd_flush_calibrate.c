/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring on this machine which flush kernel serves which size.
 *
 * Every kernel that promises as much durability as the first copies the same bytes to place after
 * place in a region of memory. The samples of all kernels are interleaved, and the fastest sample
 * of each counts: other work on the machine only makes a sample slower. EXCLUSIVE takes the
 * winners. AUTO and SHARED take the winners among the copies around the cache: one thread can't
 * measure how many writers slow down write-back. The source (abd_flush_table.c) saw write-back fall
 * from 2.4 GB/s with two threads to 0.8 with five, while copies around the cache stayed level.
 *
 * Cost: 7 sizes x 8 kernels x 3 samples of 0.2 ms and 0.1 ms to prepare each, 52 ms of CPU time.
 */
#include "abd_flush_span.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	/* Columns: sizes up to 64 bytes, up to 128, and so on by doubling; the last one up to 16
	   MiB and everything above. */
	CALIBRATE_COLUMNS = 19,
	/* Every second column is measured: 64, 256, ... bytes. A column between takes the result
	 * of the next smaller one. */
	CALIBRATE_STEP = 2,
	/*
	 * Sizes up to 256 KiB are measured: beyond, the fence costs nothing and no ratio changes.
	 */
	CALIBRATE_END = 13,
	CALIBRATE_ROUNDS = 3,
};

#define CALIBRATE_SAMPLE_NS 200e3
/*
 * 70 of the 100 ms that abd_flush_calibrate() promises; a quiet machine needs 52. On a busy machine
 * there are fewer rounds, not a longer wait.
 */
#define CALIBRATE_BUDGET_NS 70e6
#define CALIBRATE_REGION_SIZE ((size_t)2 << 20)

/*
 * A kernel replaces the plan's own only if it needs less than this share of its time. So noise
 * replaces nothing, and kernels that one copy and one fence can't tell apart keep the order that
 * other measurements gave them (abd_flush_table.c).
 */
#define CALIBRATE_MARGIN 0.95

struct abd_flush_calibration {
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count;
	char *region, *source;
	size_t source_size;               /* that of the largest copy */
	size_t at;                        /* where in the region the next copy goes */
	double deadline_ns;               /* after it, sizes are measured in one round only */
	double ns[ABD_FLUSH_KERNELS_MAX]; /* per copy of the size at hand; 0: not a candidate */
};

/* The kernel of each column. */
struct abd_flush_row {
	const struct abd_flush_kernel *kernels[CALIBRATE_COLUMNS];
};

static size_t abd_flush_column_size(unsigned column)
{
	return ABD_LINE_SIZE << column;
}

/* What this thread spent on a CPU: being interrupted is not the kernel's fault. */
static double abd_flush_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/*
 * Get the whole region out of the caches, if the first kernel copies around them: what the previous
 * kernel left there must not matter. When lines are in the cache, copies around it cost up to a
 * fifth more, and clwb costs less.
 */
static void abd_flush_evict(struct abd_flush_calibration *c)
{
	struct abd_flush_walk walk = {c->kernels[0], 0};

	for (size_t at = 0; at < CALIBRATE_REGION_SIZE; at += c->source_size)
		abd_flush_span(&walk, c->region + at, c->source, c->source_size);
	abd_flush_end(&walk, 0);
	c->at = 0;
}

static double abd_flush_sample(struct abd_flush_calibration *c, size_t kernel, size_t size)
{
	/* Reading the clock is a system call, so small copies read it once per burst. */
	size_t copies = 0, burst = 1 + 8192 / size;
	double start, ns;

	abd_flush_evict(c);
	start = abd_flush_clock_ns();
	do {
		for (size_t i = 0; i < burst; i++, copies++) {
			struct abd_flush_walk walk = {c->kernels[kernel], 0};

			abd_flush_span(&walk, c->region + c->at, c->source, size);
			abd_flush_end(&walk, 0);
			c->at = (c->at + size) % CALIBRATE_REGION_SIZE; /* sizes divide it */
		}
		ns = abd_flush_clock_ns() - start;
	} while (ns < CALIBRATE_SAMPLE_NS);
	return ns / (double)copies;
}

static void abd_flush_measure(struct abd_flush_calibration *c, size_t size)
{
	enum abd_flush_durability best = abd_flush_durability_of(c->kernels[0]);

	memset(c->ns, 0, sizeof(c->ns));
	for (unsigned round = 0; round < CALIBRATE_ROUNDS; round++) {
		if (round > 0 && abd_flush_clock_ns() > c->deadline_ns)
			return;
		for (size_t i = 0; i < c->count; i++) {
			double ns;

			if (abd_flush_durability_of(c->kernels[i]) < best)
				continue;
			ns = abd_flush_sample(c, i, size);
			if (c->ns[i] == 0 || ns < c->ns[i])
				c->ns[i] = ns;
		}
	}
}

/*
 * Whether kernel i was measured and may be chosen. cached: copies through the cache may be chosen
 * too.
 */
static bool abd_flush_candidate(const struct abd_flush_calibration *c, size_t i, bool cached)
{
	return c->ns[i] != 0 && (cached || c->kernels[i]->lines != NULL);
}

static size_t abd_flush_place(
	const struct abd_flush_calibration *c, const struct abd_flush_kernel *kernel)
{
	size_t i = 0;

	while (c->kernels[i] != kernel)
		i++;
	return i;
}

/* The winner at the measured size; holder is the plan's own kernel, which the others must beat. */
static size_t abd_flush_winner(const struct abd_flush_calibration *c, size_t holder, bool cached)
{
	double limit = abd_flush_candidate(c, holder, cached) ? c->ns[holder] * CALIBRATE_MARGIN
							      : HUGE_VAL;
	size_t winner = holder;

	for (size_t i = 0; i < c->count; i++)
		if (abd_flush_candidate(c, i, cached) && c->ns[i] < limit) {
			winner = i;
			limit = c->ns[i];
		}
	return winner;
}

/* A measured size decides for the columns up to the next measured one; the last for all above. */
static void abd_flush_decide(const struct abd_flush_calibration *c, struct abd_flush_row *row,
	unsigned column, bool cached)
{
	const struct abd_flush_kernel *holder = row->kernels[column];
	size_t winner = abd_flush_winner(c, abd_flush_place(c, holder), cached);
	unsigned end = column + CALIBRATE_STEP;

	if (end >= CALIBRATE_END)
		end = CALIBRATE_COLUMNS;
	for (; column < end; column++) {
		const struct abd_flush_kernel **kernel = &row->kernels[column];

		if (*kernel == holder ||
			!abd_flush_candidate(c, abd_flush_place(c, *kernel), cached))
			*kernel = c->kernels[winner];
	}
}

static void abd_flush_row_get(unsigned intent, struct abd_flush_row *row)
{
	struct abd_plan plan;

	abd_choice_plan_get(&abd_flush_choices[intent], false, &plan);
	for (unsigned column = 0; column < CALIBRATE_COLUMNS; column++)
		row->kernels[column] = (const struct abd_flush_kernel *)abd_plan_at(
			&plan, abd_flush_column_size(column));
}

static void abd_flush_row_set(unsigned intent, const struct abd_flush_row *row)
{
	struct abd_plan plan = {.count = 0, .origin = "calibrated"};

	static_assert(CALIBRATE_COLUMNS <= ABD_PLAN_ROWS, "a plan holds a row for each column");
	for (unsigned column = 0; column < CALIBRATE_COLUMNS - 1; column++)
		abd_plan_add(&plan, abd_flush_column_size(column), &row->kernels[column]->kernel);
	abd_plan_add(&plan, SIZE_MAX, &row->kernels[CALIBRATE_COLUMNS - 1]->kernel);
	abd_choice_plan_set(&abd_flush_choices[intent], &plan, false);
}

static void abd_flush_rows_measure(struct abd_flush_calibration *c)
{
	static const bool cached[ABD_FLUSH_INTENTS] = {[ABD_FLUSH_EXCLUSIVE] = true};
	struct abd_flush_row row[ABD_FLUSH_INTENTS];
	bool only_cached = c->kernels[0]->lines == NULL;

	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
		abd_flush_row_get(intent, &row[intent]);
	for (unsigned column = 0; column < CALIBRATE_END; column += CALIBRATE_STEP) {
		abd_flush_measure(c, abd_flush_column_size(column));
		for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
			abd_flush_decide(c, &row[intent], column, cached[intent] || only_cached);
	}
	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
		abd_flush_row_set(intent, &row[intent]);
}

int abd_flush_calibrate(void)
{
	struct abd_flush_calibration c = {.source_size = abd_flush_column_size(CALIBRATE_END - 1)};
	size_t map_size = CALIBRATE_REGION_SIZE + c.source_size;
	char *map =
		mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -ENOMEM;
	c.deadline_ns = abd_flush_clock_ns() + CALIBRATE_BUDGET_NS;
	c.count = abd_flush_supported(c.kernels);
	c.region = map;
	c.source = map + CALIBRATE_REGION_SIZE;

	/*
	 * Take page faults now, so that none is measured. Huge pages mean fewer faults; small pages
	 * serve too.
	 */
	madvise(map, map_size, MADV_HUGEPAGE);
	memset(map, 1, map_size);
	abd_flush_rows_measure(&c);
	munmap(map, map_size);
	return 0;
}
