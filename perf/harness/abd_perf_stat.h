/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What many samples say: the median, its 95 % interval, and how far samples stray from it.
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
		 * 95 % interval of the median; with fewer than 6 rounds the range, which is less
		 * than that
		 */
		high;
	double mad; /* median absolute deviation from the median */
	unsigned rounds;
	/*
	 * Of times and rates: the time in units of a loop that was timed in the same rounds; 0
	 * where none was.
	 */
	double relative, relative_low, relative_high;
};

enum abd_perf_verdict { ABD_PERF_CANT_TELL, ABD_PERF_FASTER, ABD_PERF_SLOWER };

/** Summarise n values, 1 to ABD_PERF_ROUNDS_MAX, in any order. */
struct abd_perf_summary abd_perf_stat(const double *values, unsigned n);
/** The same in another unit. */
struct abd_perf_summary abd_perf_stat_scale(struct abd_perf_summary summary, double factor);

/**
 * What a ratio's interval supports: it must lie on one side of 1, by more than A against A differed
 * on this machine (margin), and come from at least 6 rounds.
 */
enum abd_perf_verdict abd_perf_stat_verdict(const struct abd_perf_summary *ratio, double margin);
const char *abd_perf_stat_verdict_text(enum abd_perf_verdict verdict);

#endif
