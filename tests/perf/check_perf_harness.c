/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The harness measures known things correctly: intervals against a table, a loop of known ratio,
 * work of known time, A against A, a planted slowdown.
 * It is a program of its own, because abd-perf's sources are not part of the library that the unit
 * tests link.
 */
#include "abd_perf_chase.h"
#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_latency.h"
#include "abd_perf_race.h"
#include "abd_perf_say.h"
#include "abd_perf_steps.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned failures;

static void check(bool condition, const char *claim)
{
	printf("%s: %s\n", condition ? "ok" : "FAILED", claim);
	failures += !condition;
}

/*
 * Steps of a chain of multiplications, so that a compiler or a CPU can't make two of them cost less
 * than twice one. It stays in a register: how long a store takes to reach its load differs from
 * turn to turn on Intel's CPUs.
 */
static double spin(void *arg, uint64_t iterations)
{
	const unsigned *steps = arg;
	double start = abd_perf_clock_ns();
	uint64_t x = 3;

	for (uint64_t i = 0; i < iterations; i++) {
		for (unsigned j = 0; j < *steps; j++) {
			x *= 0x9e3779b97f4a7c15u;
			__asm__ volatile("" : "+r"(x));
		}
	}
	return abd_perf_clock_ns() - start;
}

static struct abd_perf_summary race_ratio(unsigned steps_a, unsigned steps_b, unsigned rounds)
{
	static struct abd_perf_race race;
	struct abd_perf_path path[] = {{"a", spin, &steps_a}, {"b", spin, &steps_b}};
	struct abd_perf_options options = {.repeat = rounds, .seed = 1};

	abd_perf_race_run(&race, path, 2, &options);
	return abd_perf_race_ratio(&race, 0, 1);
}

static void check_statistics(void)
{
	/* Ranks of the 95 % interval of a median, from tables of the binomial distribution. */
	static const struct {
		unsigned n, low, high; /* of n values 1 to n */
	} table[] = {{6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {25, 8, 18}, {100, 40, 61}};
	double values[100];
	bool right = true;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned n = table[i].n;

		for (unsigned j = 0; j < n; j++)
			values[j] = (double)((j * 7 + 3) % n + 1);
		if (n % 7 == 0)
			continue;

		struct abd_perf_summary summary = abd_perf_stat(values, n);

		right = right && summary.low == table[i].low && summary.high == table[i].high &&
			summary.median == (n + 1) / 2.0;
	}
	check(right, "the 95 % interval of the median has the ranks of the tables");

	double odd[] = {1, 2, 3, 4, 1000};

	check(abd_perf_stat(odd, 5).median == 3 && abd_perf_stat(odd, 5).mad == 1,
		"an outlier moves neither median nor MAD");
	check(abd_perf_stat(odd, 1).low == 1 && abd_perf_stat(odd, 1).high == 1,
		"one value is its own range");
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Times from 1 ns to 100 s, as many of each magnitude, against the same times sorted. */
static void check_latencies(void)
{
	enum { TIMES = 20000 };
	static struct abd_perf_latency half[2], latency;
	static double time[TIMES];
	static const double percent[] = {0.01, 1, 50, 90, 99, 99.9, 100};
	uint64_t random = 9;
	bool near = true;

	for (unsigned i = 0; i < TIMES; i++) {
		time[i] = floor(exp(
			(double)(abd_perf_random(&random) >> 11) / 9007199254740992.0 * log(1e11)));
		abd_perf_latency_add(&half[i % 2], time[i]);
	}
	abd_perf_latency_merge(&latency, &half[0]);
	abd_perf_latency_merge(&latency, &half[1]);
	qsort(time, TIMES, sizeof(time[0]), ascending);
	for (unsigned i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		double right = time[(size_t)ceil((double)TIMES * percent[i] / 100) - 1];

		near = near && fabs(abd_perf_latency_percentile(&latency, percent[i]) - right) <=
				       right / 128;
	}
	check(near, "percentiles of latencies are within 1/128 of those of the sorted times");
	check(latency.count == TIMES && (double)latency.min_ns == time[0] &&
			(double)latency.max_ns == time[TIMES - 1],
		"count, least and most are exact");
}

static void check_verdicts(void)
{
	struct abd_perf_summary five = {.median = 2, .low = 1.9, .high = 2.1, .rounds = 5},
				sure = {.median = 1.05, .low = 1.03, .high = 1.07, .rounds = 15},
				across = {.median = 1.01, .low = 0.99, .high = 1.03, .rounds = 15},
				slow = {.median = 0.9, .low = 0.88, .high = 0.93, .rounds = 15};

	check(abd_perf_stat_verdict(&five, 0) == ABD_PERF_CANT_TELL,
		"five rounds never support a verdict");
	check(abd_perf_stat_verdict(&sure, 0) == ABD_PERF_FASTER, "an interval above 1 is faster");
	check(abd_perf_stat_verdict(&sure, 0.04) == ABD_PERF_CANT_TELL,
		"not when A against A differed by as much");
	check(abd_perf_stat_verdict(&across, 0) == ABD_PERF_CANT_TELL,
		"an interval around 1 can't tell");
	check(abd_perf_stat_verdict(&slow, 0) == ABD_PERF_SLOWER, "an interval below 1 is slower");
}

/*
 * Works for *arg nanoseconds of its CPU, iterations times: how busy the machine is doesn't matter.
 */
static double work(void *arg, uint64_t iterations)
{
	double start = abd_perf_clock_ns(), end = start + *(double *)arg * (double)iterations;

	while (abd_perf_clock_ns() < end)
		;
	return abd_perf_clock_ns() - start;
}

static bool work_is_as_long_as_it_is(void)
{
	static struct abd_perf_race race;
	double two_ms = 2e6, four_ms = 4e6;
	struct abd_perf_path path[] = {{"2 ms", work, &two_ms}, {"4 ms", work, &four_ms}};
	struct abd_perf_options options = {.repeat = 6, .seed = 1};

	abd_perf_race_run(&race, path, 2, &options);
	return abd_perf_race_ns(&race, 0).median >= 2e6 &&
	       abd_perf_race_ns(&race, 0).median < 2.2e6 &&
	       fabs(abd_perf_race_ratio(&race, 0, 1).median - 2) < 0.2;
}

/* The loop's time in units of the reference, times the reference, is the loop's time. */
static bool relative_is_to_the_reference(void)
{
	static struct abd_perf_race race;
	unsigned steps = 1000;
	struct abd_perf_path path = {"a", spin, &steps};
	struct abd_perf_options options = {.repeat = 6, .seed = 1};

	abd_perf_race_run(&race, &path, 1, &options);

	struct abd_perf_summary ns = abd_perf_race_ns(&race, 0);
	double reference_ns = abd_perf_stat(race.reference_ns, race.rounds).median;

	return ns.relative_low <= ns.relative && ns.relative <= ns.relative_high &&
	       fabs(ns.relative * reference_ns / ns.median - 1) < 0.05 &&
	       abd_perf_race_rate(&race, 0, 7).relative == ns.relative;
}

/* The second call comes after calibrating: it is the round that is thrown away. */
static double cold_start(void *arg, uint64_t iterations)
{
	unsigned *calls = arg;

	return (++*calls == 2 ? 1e9 : 20e6) * (double)iterations;
}

static void check_first_round(void)
{
	static struct abd_perf_race race;
	unsigned calls = 0;
	struct abd_perf_path path = {"a", cold_start, &calls};
	struct abd_perf_options options = {.repeat = 3, .seed = 1};
	bool warm = abd_perf_race_run(&race, &path, 1, &options) && race.rounds == 3;

	for (unsigned i = 0; i < race.rounds; i++)
		warm = warm && race.ns[0][i] == 20e6;
	check(warm, "the first round is thrown away");
}

/* Member 0 works; the other one waits 5 ms in vain. */
static double wait_or_work(void *arg, unsigned member, uint64_t iterations)
{
	double start = abd_perf_clock_ns();

	(void)arg;
	for (uint64_t i = 0; i < iterations && member > 0; i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return abd_perf_clock_ns() - start;
}

static double crew_sample(void *arg, uint64_t iterations)
{
	return abd_perf_crew_run(arg, wait_or_work, NULL, iterations);
}

static void check_crew(void)
{
	static struct abd_perf_race race;
	struct abd_perf_options options = {.repeat = 2, .seed = 1, .cpu_count = 2};

	options.cpus[0] = options.cpus[1] = sched_getcpu();

	struct abd_perf_path path = {"a", crew_sample, abd_perf_crew_make(2, &options)};

	abd_perf_race_run(&race, &path, 1, &options);
	abd_perf_crew_end(path.arg);

	struct abd_perf_summary ns = abd_perf_race_ns(&race, 0);

	check(ns.median >= 2.5e6, "what a thread of a crew waits is part of the crew's time");
	check(ns.idle > 0.5 && ns.idle_why != NULL && strcmp(ns.idle_why, "threads waited") == 0,
		"a figure whose two clocks differ says why");
}

/* Members work one after the other, as those do that share a CPU: a millisecond each. */
static double work_in_turn(void *arg, unsigned member, uint64_t iterations)
{
	atomic_uint *turn = arg;

	while (atomic_load(turn) != member)
		sched_yield();

	double begun = abd_perf_clock_ns();

	while (abd_perf_clock_ns() < begun + 1e6 * (double)iterations)
		continue;
	atomic_fetch_add(turn, 1);
	return abd_perf_clock_ns() - begun;
}

static void check_large_crew(void)
{
	enum { MEMBERS = 8 };
	struct abd_perf_options options = {.cpu_count = 1};
	atomic_uint turn = 0;

	options.cpus[0] = sched_getcpu();

	struct abd_perf_crew *crew = abd_perf_crew_make(MEMBERS, &options);
	double ns = abd_perf_crew_run(crew, work_in_turn, &turn, 1);

	abd_perf_crew_end(crew);
	check(ns >= 1e6, "members that work one after the other are no faster than one");
}

/* All lines are on one circle, and no step tells the next one: hardly two are alike. */
static void check_chase(void)
{
	enum { LINES = 4096, WORDS = 16 };
	static uint32_t memory[LINES * WORDS], step[LINES];
	uint32_t at = 0, alike = 0, length = 0;

	abd_perf_chase_link(memory, LINES, 7);
	do {
		uint32_t next = memory[at * WORDS];

		alike += step[(next - at) % LINES]++ >= 8;
		at = next;
		length++;
	} while (at != 0 && length <= LINES);
	check(length == LINES, "a chase visits every line once");
	check(alike < LINES / 100, "a chase has no stride");
	check(abd_perf_chase_ns((size_t)1 << 20) > 0, "a line's time is above 0");
}

static void check_filter(void)
{
	struct abd_perf_summary none = {0};
	unsigned steps = 1;
	struct abd_perf_path path = {"a", spin, &steps};
	struct abd_perf_options options = {.repeat = 1, .seed = 1};
	static struct abd_perf_race race;

	abd_perf_say_filter("^this: STEP [0-9]$");
	abd_perf_say_begin("this", 3);
	abd_perf_say_step("step 1");
	check(abd_perf_say_wanted(), "a filter is an expression over scenario and step");
	abd_perf_say_step("step 12");
	check(!abd_perf_say_wanted() && !abd_perf_race_run(&race, &path, 1, &options) &&
			none.rounds == race.rounds,
		"a step that is filtered out is not raced");
	abd_perf_say_step("step 2");
	check(abd_perf_race_run(&race, &path, 1, &options), "the next one is");
	check(abd_perf_say_wanted_steps() == 2, "steps that were wanted are counted");
}

static void check_times(void)
{
	char text[32];

	check(strcmp(abd_perf_say_time(0.2, text, sizeof(text)), "1 s") == 0 &&
			strcmp(abd_perf_say_time(59.4, text, sizeof(text)), "59 s") == 0 &&
			strcmp(abd_perf_say_time(59.5, text, sizeof(text)), "1 min 0 s") == 0 &&
			strcmp(abd_perf_say_time(125, text, sizeof(text)), "2 min 5 s") == 0,
		"times are told in minutes and seconds");
}

static void check_options(void)
{
	struct abd_perf_options quick = {.mode = ABD_PERF_QUICK}, normal = {0},
				longer = {.runtime_s = 9, .repeat = 10};

	check(abd_perf_options_rounds(&quick) == 6 && abd_perf_options_rounds(&normal) == 9 &&
			abd_perf_options_rounds(&longer) == 10,
		"rounds are the mode's or those asked for");
	check(fabs(abd_perf_options_sample_ns(&longer, 3) - 0.3e9) < 1 &&
			fabs(abd_perf_options_sample_ns(&normal, 3) - 6e6) < 1,
		"a runtime is shared by rounds and paths");
}

static double backwards(void *arg, uint64_t iterations)
{
	(void)arg;
	return -(double)iterations;
}

/* In a process of its own, which must end with 1 and not race for ever. */
static void check_clock(void)
{
	static struct abd_perf_race race;
	const struct abd_perf_path path = {"backwards", backwards, NULL};
	const struct abd_perf_options options = {.mode = ABD_PERF_QUICK};
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_CPU, &(struct rlimit){10, 10});
		abd_perf_race_run(&race, &path, 1, &options);
		_exit(0);
	}
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 1,
		"a clock that goes back ends the program");
}

/* Machines are shared: what must hold is tried up to five times. */
static bool some(bool (*claim)(void))
{
	for (unsigned i = 0; i < 5; i++) {
		if (claim())
			return true;
	}
	return false;
}

static bool same_is_same(void)
{
	struct abd_perf_summary ratio = race_ratio(1000, 1000, 15);

	return fabs(ratio.median - 1) < 0.01;
}

static bool twice_is_twice(void)
{
	struct abd_perf_summary ratio = race_ratio(1000, 2000, 15);

	return fabs(ratio.median - 2) < 0.04;
}

static bool tenth_is_found(void)
{
	struct abd_perf_summary ratio = race_ratio(1100, 1000, 15);

	return abd_perf_stat_verdict(&ratio, 0) == ABD_PERF_SLOWER &&
	       fabs(ratio.median - 1 / 1.1) < 0.02;
}

static bool hundredth_is_not_told_in_five_rounds(void)
{
	struct abd_perf_summary ratio = race_ratio(1010, 1000, 5);

	return abd_perf_stat_verdict(&ratio, 0) == ABD_PERF_CANT_TELL;
}

static void check_line(void)
{
	static const double x[] = {1, 2, 4, 5}, y[] = {5, 7, 11, 13}, bent[] = {6, 6, 10, 14};
	double at, slope = abd_perf_stat_line(x, y, 4, 10, &at);

	check(fabs(slope - 2) < 1e-9 && fabs(at - 23) < 1e-9,
		"a line is the one through its points");
	slope = abd_perf_stat_line(x, bent, 4, 3, &at);
	check(fabs(slope - 2) < 1e-9 && fabs(at - 9) < 1e-9, "and lies between those beside it");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void step_loop(void *arg)
{
	for (unsigned i = 0; i < *(const unsigned *)arg; i++)
		abd_perf_keep(&i);
}

#if defined(__x86_64__)
static void step_string(void *arg)
{
	static char from[4096], to[4096];
	char *a = from, *b = to;
	size_t size = *(const unsigned *)arg;

	__asm__ volatile("rep movsb" : "+S"(a), "+D"(b), "+c"(size) : : "memory");
}
#else
#define step_string step_loop
#endif

static void check_steps(void)
{
	unsigned few = 100, many = 200;
	long once = abd_perf_steps(step_loop, &few), twice = abd_perf_steps(step_loop, &many);

	if (once == 0) {
		printf("no process can be stepped through here\n");
		return;
	}
	check(once >= 200 && once < 1200, "a loop of 100 takes some instructions for each turn");
	check(twice > once && (twice - once) % 100 == 0, "and as many more as it has more turns");
	check(abd_perf_steps(step_loop, &few) == once, "and the same ones each time");
	if (step_string != step_loop)
		check(abd_perf_steps(step_string, &many) == abd_perf_steps(step_string, &few),
			"a string instruction counts once");
}

int main(void)
{
	check_statistics();
	check_verdicts();
	check_latencies();
	check(some(same_is_same), "the same loop against itself differs by less than 1 %");
	check(some(twice_is_twice), "a loop of half the steps is twice as fast");
	check(some(tenth_is_found), "10 % more steps are found, and are 10 %");
	check(some(work_is_as_long_as_it_is),
		"work of 2 ms is measured as such, and of 4 as twice that");
	check(some(relative_is_to_the_reference),
		"a time relative to the reference is its share of it");
	check(hundredth_is_not_told_in_five_rounds(), "1 % more steps can't be told in 5 rounds");
	check_times();
	check_options();
	check_first_round();
	check_clock();
	check_crew();
	check_large_crew();
	check_chase();
	check_steps();
	check_line();
	check_filter(); /* last, for it leaves a filter behind */
	return failures != 0;
}
