/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rounds over all kinds of operands. A round's result is one number for each kernel: the geometric
 * mean of its speed, by that of the present kernel on the same operands at the same time.
 */
#include "abd_perf_tune_work.h"

#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <math.h>
#include <string.h>

/* How far a ratio must lie from 1, whatever its interval: two tunes in a row agree within that. */
#define ABD_PERF_TUNE_MARGIN 0.02
/* How wide the interval of a kernel raced against itself may be. */
#define ABD_PERF_TUNE_SPREAD 0.10
#define ABD_PERF_TUNE_SAMPLE_NS 0.5e6

enum { FIRST_ROUNDS = 3, ROUNDS_MIN = 9, ROUNDS_MAX = 60 };

struct heat {
	const struct abd_perf_tune_cell *cell;
	const struct abd_perf_options *options;
	unsigned variants;
	struct {
		unsigned kind;
		bool cold;
		uint64_t iterations;
	} variant[ABD_PERF_TUNE_VARIANTS];
	uint64_t random;
};

/* "slow": the present kernel takes 1.5 times as long as any other. "noise": up to 3 times, by
 * chance. */
static double heat_planted(struct heat *heat, bool present)
{
	double chance = (double)(abd_perf_random(&heat->random) % 1000) / 1000;

	if (strcmp(heat->options->times, "noise") == 0)
		return 1 + 2 * chance;
	return (present && strcmp(heat->options->times, "slow") == 0 ? 1.5 : 1) + chance / 1000;
}

static double heat_time(struct heat *heat, unsigned variant, uint64_t iterations)
{
	unsigned kind = heat->variant[variant].kind;
	bool cold = heat->variant[variant].cold;
	double start, ns;

	if (!cold)
		heat->cell->subject->work(kind, cold, heat->cell->size); /* warm */
	start = abd_perf_clock_ns();
	for (uint64_t i = 0; i < iterations; i++)
		heat->cell->subject->work(kind, cold, heat->cell->size);
	ns = abd_perf_clock_ns() - start;
	return ns / (double)iterations;
}

/* Which operands there are, and how often the work is done in a sample. */
static void heat_begin(struct heat *heat)
{
	const struct abd_perf_tune_cell *cell = heat->cell;

	heat->variants = 0;
	abd_perf_place_tune(cell->subject->name, cell->present);
	for (unsigned i = 0; i < ABD_PERF_TUNE_VARIANTS; i++) {
		unsigned v = heat->variants;
		double ns;

		if ((cell->subject->kinds >> i / 2 & 1) == 0 ||
			(i % 2 != 0 && cell->size > abd_perf_tune_work_hot()))
			continue;
		heat->variant[v].kind = i / 2;
		heat->variant[v].cold = i % 2 != 0;
		ns = heat_time(heat, v, 1);
		if (ns < ABD_PERF_TUNE_SAMPLE_NS / 8)
			ns = heat_time(heat, v, 1 + (uint64_t)(ABD_PERF_TUNE_SAMPLE_NS / 8 / ns));
		heat->variant[v].iterations = 1 + (uint64_t)(ABD_PERF_TUNE_SAMPLE_NS / ns);
		heat->variants++;
	}
}

/* One round: ratio[i] is how many times as fast kernel[i] is as kernel[0]. */
static void heat_round(struct heat *heat, const char *const *kernel, unsigned count, double *ratio)
{
	double ns[ABD_PERF_TUNE_KERNELS + 1], sum[ABD_PERF_TUNE_KERNELS + 1] = {0};
	uint32_t order[ABD_PERF_TUNE_KERNELS + 1];

	abd_perf_tune_work_move();
	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	for (unsigned v = 0; v < heat->variants; v++) {
		abd_perf_shuffle(order, count, &heat->random);
		for (unsigned i = 0; i < count; i++) {
			const char *name = kernel[order[i]];

			abd_perf_place_tune(heat->cell->subject->name, name);
			ns[order[i]] = heat->options->times != NULL
					       ? heat_planted(heat, name == heat->cell->present)
					       : heat_time(heat, v, heat->variant[v].iterations);
		}
		for (unsigned i = 0; i < count; i++)
			sum[i] += log(ns[0] / ns[i]);
	}
	for (unsigned i = 0; i < count; i++)
		ratio[i] = exp(sum[i] / heat->variants);
}

/*
 * Streaming leaves nothing in the caches. Where the operands fit into them, who reads the copy pays
 * for that, which no race of copies shows: so streaming challenges above that only.
 */
static bool heat_may(const struct abd_perf_tune_cell *cell, const char *kernel)
{
	bool flushes = strncmp(cell->subject->name, "flush", 5) == 0;

	return flushes || strncmp(kernel, "nt-", 3) != 0 || cell->size > abd_perf_tune_work_hot();
}

/* The present kernel and all others that this CPU has; a name is refused where it has not. */
static unsigned heat_kernels(
	const struct abd_perf_tune_cell *cell, const char *kernel[ABD_PERF_TUNE_KERNELS + 1])
{
	unsigned count = 1;

	kernel[0] = cell->present;
	for (unsigned i = 0; i < ABD_PERF_TUNE_KERNELS && cell->subject->kernels[i] != NULL; i++)
		if (strcmp(cell->subject->kernels[i], cell->present) != 0 &&
			heat_may(cell, cell->subject->kernels[i]) &&
			abd_tuning_set(cell->subject->name, cell->subject->kernels[i]) == 0)
			kernel[count++] = cell->subject->kernels[i];
	return count;
}

/* A few rounds of all; one that is half as fast does not run again. */
static const char *heat_challenger(struct heat *heat)
{
	const char *kernel[ABD_PERF_TUNE_KERNELS + 1];
	double ratio[ABD_PERF_TUNE_KERNELS + 1], best[ABD_PERF_TUNE_KERNELS + 1] = {0};
	unsigned count = heat_kernels(heat->cell, kernel), winner = 0;

	for (unsigned round = 0; round < FIRST_ROUNDS && count > 1; round++) {
		unsigned left = 1;

		heat_round(heat, kernel, count, ratio);
		for (unsigned i = 1; i < count; i++) {
			kernel[left] = kernel[i];
			best[left] = best[i] + ratio[i];
			left += ratio[i] > 0.5;
		}
		count = left;
	}
	for (unsigned i = 1; i < count; i++)
		if (winner == 0 || best[i] > best[winner])
			winner = i;
	return winner != 0 ? kernel[winner] : NULL;
}

/* Decide by ratio and noise. */
static void abd_perf_tune_cell_decide(struct abd_perf_tune_cell *cell)
{
	const struct abd_perf_summary *noise = &cell->noise;

	cell->disturbed =
		abd_perf_stat_verdict(noise, ABD_PERF_TUNE_MARGIN) != ABD_PERF_CANT_TELL ||
		noise->high - noise->low > ABD_PERF_TUNE_SPREAD;
	cell->replaced = !cell->disturbed && abd_perf_stat_verdict(&cell->ratio,
						     ABD_PERF_TUNE_MARGIN) == ABD_PERF_FASTER;
}

void abd_perf_tune_cell_measure(
	struct abd_perf_tune_cell *cell, const struct abd_perf_options *options, double seconds)
{
	double end = abd_perf_clock_wall_ns() + seconds * 1e9, ratio[3];
	double challenger[ROUNDS_MAX], again[ROUNDS_MAX];
	struct heat heat = {.cell = cell, .options = options, .random = options->seed};
	unsigned rounds = 0;

	heat_begin(&heat);
	cell->challenger = heat_challenger(&heat);
	if (cell->challenger == NULL)
		return;
	while (rounds < ROUNDS_MAX && !abd_perf_say_stopped() &&
		(rounds < ROUNDS_MIN || abd_perf_clock_wall_ns() < end)) {
		const char *kernel[3] = {cell->present, cell->present, cell->challenger};

		heat_round(&heat, kernel, 3, ratio);
		again[rounds] = ratio[1];
		challenger[rounds++] = ratio[2];
	}
	if (rounds == 0)
		return;
	cell->noise = abd_perf_stat(again, rounds);
	cell->ratio = abd_perf_stat(challenger, rounds);
	abd_perf_tune_cell_decide(cell);
}
