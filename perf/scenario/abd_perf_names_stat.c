/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths are sorted by length and timed in groups; a line through the groups gives the cost of a
 * path and of a byte.
 */
#include "abd_perf_names_stat.h"
#include "abd_perf_clock.h"
#include "abd_perf_names_compare.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABD_PERF_STAT_PATHS 16384
#define ABD_PERF_STAT_GROUPS 16

struct abd_perf_stat_set {
	const char *path[ABD_PERF_STAT_PATHS];
	size_t count;
	double length[ABD_PERF_STAT_GROUPS]; /* mean */
};

static int abd_perf_stat_shorter(const void *a, const void *b)
{
	size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);

	return (x > y) - (x < y);
}

static size_t abd_perf_stat_begin(const struct abd_perf_stat_set *set, size_t group)
{
	return set->count * group / ABD_PERF_STAT_GROUPS;
}

static void abd_perf_stat_choose(
	struct abd_perf_stat_set *chosen, const struct abd_perf_names_set *set)
{
	chosen->count = set->count < ABD_PERF_STAT_PATHS ? set->count : ABD_PERF_STAT_PATHS;
	for (size_t i = 0; i < chosen->count; i++)
		chosen->path[i] =
			(const char *)set->text + set->path[set->count * i / chosen->count];
	qsort(chosen->path, chosen->count, sizeof(chosen->path[0]), abd_perf_stat_shorter);
	for (size_t group = 0; group < ABD_PERF_STAT_GROUPS; group++) {
		size_t begin = abd_perf_stat_begin(chosen, group),
		       end = abd_perf_stat_begin(chosen, group + 1);

		chosen->length[group] = 0;
		for (size_t i = begin; i < end; i++)
			chosen->length[group] +=
				(double)strlen(chosen->path[i]) / (double)(end - begin);
	}
}

/* ns of CPU time of an lstat() in each group. */
static void abd_perf_stat_round(const struct abd_perf_stat_set *set, int root, double *ns)
{
	struct stat status;

	for (size_t group = 0; group < ABD_PERF_STAT_GROUPS; group++) {
		size_t begin = abd_perf_stat_begin(set, group),
		       end = abd_perf_stat_begin(set, group + 1);
		double start = abd_perf_clock_ns();

		for (size_t i = begin; i < end; i++)
			fstatat(root, set->path[i], &status, AT_SYMLINK_NOFOLLOW);
		ns[group] = (abd_perf_clock_ns() - start) / (double)(end - begin);
	}
}

/* Least squares: y = fixed + slope x. */
static void abd_perf_stat_line(const double *x, const double *y, double *fixed, double *slope)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

	for (unsigned i = 0; i < ABD_PERF_STAT_GROUPS; i++) {
		mean_x += x[i] / ABD_PERF_STAT_GROUPS;
		mean_y += y[i] / ABD_PERF_STAT_GROUPS;
	}
	for (unsigned i = 0; i < ABD_PERF_STAT_GROUPS; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
	}
	*slope = xx > 0 ? xy / xx : 0;
	*fixed = mean_y - *slope * mean_x;
}

/* ns of a cycle: a step of a chain of additions, each of which waits for the one before. */
static double abd_perf_stat_cycle(void)
{
	double best = 0;

	for (unsigned tries = 0; tries < 20; tries++) {
		double start = abd_perf_clock_ns(), ns;
		uint64_t x = tries, y = 3;

		for (unsigned i = 0; i < 100000; i++) {
			for (unsigned j = 0; j < 16; j++) {
				x += y;
				__asm__ volatile("" : "+r"(x), "+r"(y));
			}
		}
		ns = (abd_perf_clock_ns() - start) / 1600000;
		best = best == 0 || ns < best ? ns : best;
	}
	return best;
}

void abd_perf_names_stat_run(const struct abd_perf_names_set *set, const char *root,
	const struct abd_perf_options *options)
{
	static struct abd_perf_stat_set chosen;
	double ns[ABD_PERF_STAT_GROUPS], fixed[ABD_PERF_ROUNDS_MAX], slope[ABD_PERF_ROUNDS_MAX],
		mean[ABD_PERF_ROUNDS_MAX];
	double cycle = abd_perf_stat_cycle();
	unsigned rounds = 0;
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	abd_perf_stat_choose(&chosen, set);
	if (fd < 0 || chosen.count < ABD_PERF_STAT_GROUPS * 4)
		goto out; /* too few for a line */
	abd_perf_stat_round(&chosen, fd, ns);
	for (; rounds < abd_perf_options_rounds(options) && !abd_perf_stop_wanted(); rounds++) {
		abd_perf_stat_round(&chosen, fd, ns);
		abd_perf_stat_line(chosen.length, ns, &fixed[rounds], &slope[rounds]);
		mean[rounds] = 0;
		for (unsigned i = 0; i < ABD_PERF_STAT_GROUPS; i++)
			mean[rounds] += ns[i] / ABD_PERF_STAT_GROUPS;
	}
	if (rounds > 0) {
		struct abd_perf_result *result =
			abd_perf_result_add("names", "stat", "lstat() of the tree's paths");

		abd_perf_result_number(result, "paths", (double)chosen.count);
		abd_perf_result_figure(result, "lstat", "ns", abd_perf_stat(mean, rounds));
		abd_perf_result_figure(result, "per path", "ns", abd_perf_stat(fixed, rounds));
		abd_perf_result_figure(result, "per byte", "ns", abd_perf_stat(slope, rounds));
		abd_perf_result_figure(result, "cycle", "ns", abd_perf_stat(&cycle, 1));
	}
out:
	if (fd >= 0)
		close(fd);
}

void abd_perf_names_stat_print(void)
{
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (strcmp(result->scenario, "names") != 0 || strcmp(result->group, "stat") != 0)
			continue;

		double cycle = abd_perf_result_find_figure(result, "cycle")->value.median;

		printf("lstat() here: %.0f ns on average; %.0f cycles plus %.1f per byte of path "
		       "(a line through groups by length). The "
		       "source: 640 cycles plus 10.\n",
			abd_perf_result_find_figure(result, "lstat")->value.median,
			abd_perf_result_find_figure(result, "per path")->value.median / cycle,
			abd_perf_result_find_figure(result, "per byte")->value.median / cycle);
	}
}
