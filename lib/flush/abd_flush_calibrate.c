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
 * Cost: 13 sizes x 8 kernels x 2 samples of 0.2 ms and 0.1 ms to prepare each, 62 ms of CPU time.
 */
#include "abd_flush_span.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Beyond 256 KiB the fence costs nothing, and no ratio changes. */
#define CALIBRATE_MOST ((size_t)256 << 10)
#define CALIBRATE_REGION_SIZE ((size_t)2 << 20)
#define CALIBRATE_ROUNDS 2
#define CALIBRATE_SAMPLE_NS 200e3
/* The measuring's part of the 100 ms that flush.h promises: a busy machine gets fewer rounds. */
#define CALIBRATE_BUDGET_NS 70e6

/*
 * A kernel replaces the plan's own only if it needs less than this share of its time. So noise
 * replaces nothing, and kernels that one copy and one fence can't tell apart keep the order that
 * other measurements gave them (abd_flush_table.c).
 */
#define CALIBRATE_MARGIN 0.95

struct abd_flush_calibration {
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	double ns[ABD_FLUSH_KERNELS_MAX]; /* per copy of the size at hand */
	size_t count;
	char *region, *source;
	size_t at; /* where in the region the next copy goes */
	double deadline_ns;
};

/* What this thread spent on a CPU: being interrupted is not the kernel's fault. */
static double abd_flush_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void abd_flush_copy_next(struct abd_flush_calibration *c, size_t kernel, size_t size)
{
	struct abd_flush_walk walk = {.kernel = c->kernels[kernel]};

	abd_flush_span(&walk, c->region + c->at, c->source, size);
	abd_flush_end(&walk, 0);
	c->at = (c->at + size) % CALIBRATE_REGION_SIZE; /* sizes divide it */
}

static double abd_flush_sample(struct abd_flush_calibration *c, size_t kernel, size_t size)
{
	/* Reading the clock is a system call, so small copies read it once per burst. */
	size_t copies = 0, burst = 1 + 8192 / size;
	double start, ns;

	/*
	 * The first kernel copies around the caches where one can, and so gets the region out of
	 * them. What the previous kernel left there must not matter: with lines in the cache,
	 * copies around it cost up to a fifth more, and clwb costs less.
	 */
	for (size_t done = c->at = 0; done < CALIBRATE_REGION_SIZE; done += CALIBRATE_MOST)
		abd_flush_copy_next(c, 0, CALIBRATE_MOST);
	start = abd_flush_clock_ns();
	do {
		for (size_t i = 0; i < burst; i++, copies++)
			abd_flush_copy_next(c, kernel, size);
		ns = abd_flush_clock_ns() - start;
	} while (ns < CALIBRATE_SAMPLE_NS);
	return ns / (double)copies;
}

static void abd_flush_measure(struct abd_flush_calibration *c, size_t size)
{
	for (unsigned round = 0; round < CALIBRATE_ROUNDS; round++) {
		if (round > 0 && abd_flush_clock_ns() > c->deadline_ns)
			return;
		for (size_t i = 0; i < c->count; i++) {
			double ns = abd_flush_sample(c, i, size);

			if (round == 0 || ns < c->ns[i])
				c->ns[i] = ns;
		}
	}
}

/* Whether kernel i may serve an intent. */
static bool abd_flush_may(const struct abd_flush_calibration *c, size_t i, unsigned intent)
{
	return intent == ABD_FLUSH_EXCLUSIVE || c->kernels[i]->lines != NULL ||
	       c->kernels[0]->lines == NULL;
}

/* The winner at the measured size; holder is the plan's own kernel, which the others must beat. */
static const struct abd_kernel *abd_flush_winner(
	const struct abd_flush_calibration *c, const struct abd_kernel *holder, unsigned intent)
{
	const struct abd_kernel *winner = holder;
	double limit = HUGE_VAL;

	for (size_t i = 0; i < c->count; i++)
		if (&c->kernels[i]->kernel == holder && abd_flush_may(c, i, intent))
			limit = c->ns[i] * CALIBRATE_MARGIN;
	for (size_t i = 0; i < c->count; i++)
		if (abd_flush_may(c, i, intent) && c->ns[i] < limit) {
			winner = &c->kernels[i]->kernel;
			limit = c->ns[i];
		}
	return winner;
}

static void abd_flush_plans_measure(struct abd_flush_calibration *c)
{
	struct abd_plan before[ABD_FLUSH_INTENTS], after[ABD_FLUSH_INTENTS];

	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++) {
		abd_choice_plan_get(&abd_flush_choices[intent], false, &before[intent]);
		after[intent] = (struct abd_plan){.origin = "calibrated"};
	}
	for (size_t size = ABD_LINE_SIZE; size <= CALIBRATE_MOST; size *= 2) {
		abd_flush_measure(c, size);
		for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
			abd_plan_add(&after[intent], size < CALIBRATE_MOST ? size : SIZE_MAX,
				abd_flush_winner(c, abd_plan_at(&before[intent], size), intent));
	}
	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
		abd_choice_plan_set(&abd_flush_choices[intent], &after[intent], false);
}

int abd_flush_calibrate(void)
{
	struct abd_flush_calibration c = {.count = 0};
	size_t map_size = CALIBRATE_REGION_SIZE + CALIBRATE_MOST,
	       supported = abd_flush_supported(c.kernels);
	char *map =
		mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < supported; i++)
		if (abd_flush_durability_of(c.kernels[i]) >= abd_flush_durability_of(c.kernels[0]))
			c.kernels[c.count++] = c.kernels[i];
	c.deadline_ns = abd_flush_clock_ns() + CALIBRATE_BUDGET_NS;
	c.region = map;
	c.source = map + CALIBRATE_REGION_SIZE;
	/*
	 * Take page faults now, so that none is measured. Huge pages mean fewer faults; small pages
	 * serve too.
	 */
	madvise(map, map_size, MADV_HUGEPAGE);
	memset(map, 1, map_size);
	abd_flush_plans_measure(&c);
	munmap(map, map_size);
	return 0;
}
