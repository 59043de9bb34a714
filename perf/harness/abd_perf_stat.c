/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order statistics: of n samples, sorted, the k-th and the (n + 1 - k)-th enclose the true median
 * with probability 1 - 2 P(B < k), B binomial (n, 1/2).
 * David and Nagaraja, "Order Statistics", section 7.1.
 */
#include "abd_perf_stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_ROUNDS_MIN 6 /* with 5, no pair of samples encloses the median with 95 % */

static int abd_perf_stat_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double abd_perf_stat_middle(const double *sorted, unsigned n)
{
	return n % 2 != 0 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* How many samples may be left out at each end: the largest k with P(B <= k - 1) <= 2.5 %. */
static unsigned abd_perf_stat_rank(unsigned n)
{
	double term = pow(0.5, n), below = 0;
	unsigned k = 0;

	while (below + term <= 0.025) {
		below += term;
		k++;
		term *= (double)(n - k + 1) / k;
	}
	return k;
}

struct abd_perf_summary abd_perf_stat(const double *values, unsigned n)
{
	double sorted[ABD_PERF_ROUNDS_MAX];
	struct abd_perf_summary summary = {.rounds = n};
	unsigned k = abd_perf_stat_rank(n);

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), abd_perf_stat_order);
	summary.median = abd_perf_stat_middle(sorted, n);
	summary.low = sorted[k > 0 ? k - 1 : 0];
	summary.high = sorted[k > 0 ? n - k : n - 1];
	for (unsigned i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - summary.median);
	qsort(sorted, n, sizeof(*sorted), abd_perf_stat_order);
	summary.mad = abd_perf_stat_middle(sorted, n);
	return summary;
}

double abd_perf_stat_line(const double *x, const double *y, unsigned n, double place, double *value)
{
	double x_mean = 0, y_mean = 0, xx = 0, xy = 0;

	for (unsigned i = 0; i < n; i++) {
		x_mean += x[i] / n;
		y_mean += y[i] / n;
	}
	for (unsigned i = 0; i < n; i++) {
		xx += (x[i] - x_mean) * (x[i] - x_mean);
		xy += (x[i] - x_mean) * (y[i] - y_mean);
	}
	*value = y_mean + xy / xx * (place - x_mean);
	return xy / xx;
}

enum abd_perf_verdict abd_perf_stat_verdict(const struct abd_perf_summary *ratio, double margin)
{
	if (ratio->rounds < ABD_PERF_ROUNDS_MIN)
		return ABD_PERF_CANT_TELL;
	if (ratio->low > 1 + margin)
		return ABD_PERF_FASTER;
	return ratio->high < 1 - margin ? ABD_PERF_SLOWER : ABD_PERF_CANT_TELL;
}
