/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Summaries of samples: the median, its 95 % interval, and how far samples lie from the median.
 * The interval is that of order statistics: no assumption about how samples are distributed, and
 * nothing random in it.
 */
#ifndef ABD_PERF_STAT_H
#define ABD_PERF_STAT_H

#define ABD_PERF_ROUNDS_MAX 512

struct abd_perf_summary {
	double median;
	double low,
		/*
		 * 95 % interval of the median; with fewer than 6 rounds the range of the samples,
		 * which covers the median with less than 95 %
		 */
		high;
	double mad; /* median absolute deviation from the median */
	unsigned rounds;
	/*
	 * For times and rates: the time in units of a reference loop that was timed in the same
	 * rounds; 0 without one.
	 */
	double relative, relative_low, relative_high;
	/*
	 * The share of the wall clock in which the CPUs used did not work for us, and why; NULL: no
	 * more than a few percent, so both clocks say the same.
	 */
	double idle;
	const char *idle_why;
};

/** The slope of the line through n points by least squares, and where it is at a place. */
double abd_perf_stat_line(
	const double *x, const double *y, unsigned n, double place, double *value);

enum abd_perf_verdict { ABD_PERF_CANT_TELL, ABD_PERF_FASTER, ABD_PERF_SLOWER };

/** Summarise n values, 1 to ABD_PERF_ROUNDS_MAX, in any order. */
struct abd_perf_summary abd_perf_stat(const double *values, unsigned n);

/**
 * The verdict on a ratio. To be sure, its interval must lie on one side of 1, farther away than
 * margin (the difference of A against A on this machine), and come from at least 6 rounds.
 */
enum abd_perf_verdict abd_perf_stat_verdict(const struct abd_perf_summary *ratio, double margin);

#endif
