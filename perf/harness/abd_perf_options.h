/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was asked for on the command line of `abd-perf run`, `abd-perf tune` and `abd-perf env`.
 * Sizes are 8k, 1m, 64 (bytes). Invariant: no flag is ignored. A flag that none of the chosen
 * scenarios can use is refused.
 */
#ifndef ABD_PERF_OPTIONS_H
#define ABD_PERF_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags that not every scenario can use. */
enum {
	ABD_PERF_USES_INPUT = 1 << 0,
	ABD_PERF_USES_THREADS = 1 << 1,
	ABD_PERF_USES_RECORD_SIZE = 1 << 2,
	ABD_PERF_USES_IO_SIZE = 1 << 3,
	ABD_PERF_USES_CACHE = 1 << 4,
};

/** Their names, by bit. */
#define ABD_PERF_USES 5
extern const char *const abd_perf_options_uses[ABD_PERF_USES];

/* How much is measured: nothing said, --quick, --full, --long. */
enum abd_perf_mode { ABD_PERF_NORMAL, ABD_PERF_QUICK, ABD_PERF_FULL, ABD_PERF_LONG };

#define ABD_PERF_NAMES_MAX 16
#define ABD_PERF_CPUS_MAX 1024

struct abd_perf_options {
	const char *names[ABD_PERF_NAMES_MAX];
	unsigned name_count;
	bool sources;   /* "sources" was named: what measures the sources' claims */
	unsigned given; /* which of ABD_PERF_USES_... were given */

	const char *filter; /* a regular expression; NULL: all steps */
	const char *input;  /* NULL: the machine's own files */
	const char *cache;  /* a shared library; NULL: the library's own */
	unsigned threads;   /* 0: measure with 1, and with one per CPU */
	size_t record_size; /* 0: all */
	size_t io_size;     /* 0: the scenario's own */
	double runtime_s;   /* per comparison; 0: as long as the samples take */
	double warmup_s; /* per comparison, before its first round; below 0: the scenario's own */
	unsigned repeat; /* rounds; 0: the mode's */
	/* 0: 6 with --long; 3 for what is named; the scenario's for its headline; else 1 */
	unsigned processes;
	unsigned process; /* which of them this is, from 1 */
	double left_s;    /* the time left when it was started; 0: it is the first */
	uint64_t seed;
	const char *json, *csv, *bmf; /* NULL: none */
	enum abd_perf_mode mode;
	bool quick;        /* few sizes and small sets: all modes but ABD_PERF_FULL */
	bool plant;        /* for tests: plant a wrong byte, which must be found */
	const char *times; /* for tests of tune: invented times, "slow", "noise" or "same" */

	int cpus[ABD_PERF_CPUS_MAX]; /* the CPUs to use, in order */
	unsigned cpu_count;
};

/**
 * Read the command line; argv[0] is the command's name. Ends the program with a message when the
 * command line is wrong.
 */
void abd_perf_options_run(struct abd_perf_options *options, int argc, char **argv);
/** Read the command line of `abd-perf env`, which only knows --cpus. */
void abd_perf_options_env(struct abd_perf_options *options, int argc, char **argv);
/** Read the command line of `abd-perf tune`. */
void abd_perf_options_tune(struct abd_perf_options *options, int argc, char **argv);

/** Rounds and the length of a sample, from --repeat, --runtime and the mode. */
unsigned abd_perf_options_rounds(const struct abd_perf_options *options);
double abd_perf_options_sample_ns(const struct abd_perf_options *options, unsigned paths);
/** "quick", "normal", "full", "long". */
const char *abd_perf_options_mode_text(enum abd_perf_mode mode);

/** "8k", "1m", "1450" for a size, in text. Returns text. */
const char *abd_perf_options_size_text(size_t size, char *text, size_t room);
/** Read a size. False: text is not a size, or is 0. */
bool abd_perf_options_size(const char *text, size_t *size);

#endif
