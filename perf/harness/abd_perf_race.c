/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures in rounds, and computes times, speeds and ratios from the rounds.
 */
#include "abd_perf_race.h"
#include "abd_perf_clock.h"
#include "abd_perf_say.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#define ABD_PERF_RACE_CHAIN 400000u
#define ABD_PERF_RACE_IDLE 0.05 /* clocks that differ by less say the same */

struct abd_perf_summary abd_perf_race_noise;
clockid_t abd_perf_clock = CLOCK_THREAD_CPUTIME_ID;
unsigned abd_perf_race_cpus = 1;

/* A sample in ns: no clock that is used may be set back, so a time below 0 is none. */
static double abd_perf_race_sample(const struct abd_perf_path *path, uint64_t count)
{
	double ns = path->run(path->arg, count);

	if (ns < 0)
		abd_perf_say_die(1, "%s: the clock went back by %.0f ns", path->name, -ns);
	return ns;
}

/*
 * The number of iterations that fills sample_ns. Doubles it until the path takes an eighth of that,
 * then scales, with 5 % to spare.
 */
static uint64_t abd_perf_race_calibrate(const struct abd_perf_path *path, double sample_ns)
{
	for (uint64_t count = 1;; count *= 2) {
		double ns = abd_perf_race_sample(path, count);

		if (ns < sample_ns / 8 && count < (uint64_t)1 << 40)
			continue;

		double scaled = (double)count * sample_ns / ns * 1.05;

		return scaled < 1 ? 1 : (uint64_t)scaled + 1;
	}
}

/* --warmup: call all paths in turn until the time is over. */
static void abd_perf_race_warm(const struct abd_perf_path *paths, unsigned count,
	const uint64_t *iterations, double seconds)
{
	double end_ns = abd_perf_clock_wall_ns() + seconds * 1e9;

	while (abd_perf_clock_wall_ns() < end_ns && !abd_perf_say_stopped()) {
		for (unsigned i = 0; i < count; i++)
			paths[i].run(paths[i].arg, iterations[i]);
	}
}

/*
 * How long a fixed chain of arithmetic takes now: about a millisecond, without touching memory. It
 * depends on the CPU's clock alone, so a change of the clock can be told from a change of the code.
 */
static double abd_perf_race_reference_ns(void)
{
	static uint64_t random;
	double start = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < ABD_PERF_RACE_CHAIN; i++)
		random ^= abd_perf_random(&random);
	abd_perf_keep(&random);
	return abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Both clocks around a sample, and what is counted. */
struct abd_perf_race_clocks {
	double wall_ns, cpu_ns;
	long waits, interrupts;
	uint64_t counted[ABD_PERF_COUNTERS];
};

static struct abd_perf_race_clocks abd_perf_race_clocks_read(void)
{
	struct abd_perf_race_clocks now = {0};
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	now.wall_ns = abd_perf_clock_wall_ns();
	now.cpu_ns = abd_perf_clock_read(CLOCK_PROCESS_CPUTIME_ID);
	now.waits = usage.ru_nvcsw;
	now.interrupts = usage.ru_nivcsw;
	if (abd_perf_race_cpus == 1)
		abd_perf_counter_read(now.counted);
	return now;
}

static void abd_perf_race_clocks_add(
	struct abd_perf_race *race, unsigned path, const struct abd_perf_race_clocks *before)
{
	struct abd_perf_race_clocks now = abd_perf_race_clocks_read();

	race->wall_ns[path] += (now.wall_ns - before->wall_ns) * abd_perf_race_cpus;
	race->cpu_ns[path] += now.cpu_ns - before->cpu_ns;
	race->waits[path] += now.waits - before->waits;
	race->interrupts[path] += now.interrupts - before->interrupts;
	for (unsigned i = 0; i < ABD_PERF_COUNTERS; i++)
		race->counted[path][i] += now.counted[i] - before->counted[i];
}

/* Time that the wall clock shows and CPU time does not, and where it went. */
static void abd_perf_race_idle(
	const struct abd_perf_race *race, unsigned path, struct abd_perf_summary *summary)
{
	double idle = race->wall_ns[path] > 0 ? 1 - race->cpu_ns[path] / race->wall_ns[path] : 0;

	if (idle < ABD_PERF_RACE_IDLE)
		return;
	summary->idle = idle;
	if (race->waits[path] > race->interrupts[path])
		summary->idle_why = "threads waited";
	else
		summary->idle_why = race->interrupts[path] > 0 ? "other programs had the CPU"
							       : "another machine had the CPU";
}

static void abd_perf_race_round(struct abd_perf_race *race, const struct abd_perf_path *paths,
	const uint64_t *iterations, uint64_t *random)
{
	uint32_t order[ABD_PERF_PATHS_MAX];

	for (unsigned i = 0; i < race->paths; i++)
		order[i] = i;
	abd_perf_shuffle(order, race->paths, random);
	for (unsigned i = 0; i < race->paths; i++) {
		const struct abd_perf_path *path = &paths[order[i]];
		uint64_t count = iterations[order[i]];

		struct abd_perf_race_clocks before = abd_perf_race_clocks_read();

		race->ns[order[i]][race->rounds] =
			abd_perf_race_sample(path, count) / (double)count;
		race->iterations[order[i]] += count;
		abd_perf_race_clocks_add(race, order[i], &before);
	}
	race->reference_ns[race->rounds] = abd_perf_race_reference_ns();
}

/* Forget what the rounds that don't count have added. */
static void abd_perf_race_clocks_clear(struct abd_perf_race *race)
{
	memset(race->wall_ns, 0, sizeof(race->wall_ns));
	memset(race->cpu_ns, 0, sizeof(race->cpu_ns));
	memset(race->waits, 0, sizeof(race->waits));
	memset(race->interrupts, 0, sizeof(race->interrupts));
	memset(race->counted, 0, sizeof(race->counted));
	memset(race->iterations, 0, sizeof(race->iterations));
}

bool abd_perf_race_run(struct abd_perf_race *race, const struct abd_perf_path *paths,
	unsigned count, const struct abd_perf_options *options)
{
	unsigned rounds = abd_perf_options_rounds(options);
	double sample_ns = abd_perf_options_sample_ns(options, count);
	uint64_t iterations[ABD_PERF_PATHS_MAX];
	uint64_t random = options->seed;

	race->paths = count;
	race->rounds = 0;
	race->counts = false;
	if (!abd_perf_say_wanted())
		return false;
	for (unsigned i = 0; i < count && !abd_perf_say_stopped(); i++)
		iterations[i] = abd_perf_race_calibrate(&paths[i], sample_ns);
	if (options->warmup_s > 0 && !abd_perf_say_stopped())
		abd_perf_race_warm(paths, count, iterations, options->warmup_s);
	if (!abd_perf_say_stopped())
		abd_perf_race_round(race, paths, iterations, &random); /* overwritten */
	abd_perf_race_clocks_clear(race);
	race->counts = true;
	while (race->rounds < rounds && !abd_perf_say_stopped()) {
		abd_perf_race_round(race, paths, iterations, &random);
		race->rounds++;
	}
	return race->rounds > 0;
}

/* Add the path's time in units of the reference to its summary. */
static struct abd_perf_summary abd_perf_race_relate(
	const struct abd_perf_race *race, unsigned path, struct abd_perf_summary summary)
{
	double relative[ABD_PERF_ROUNDS_MAX];
	struct abd_perf_summary of;

	abd_perf_race_idle(race, path, &summary);
	for (unsigned i = 0; i < race->rounds; i++) {
		if (race->reference_ns[i] <= 0)
			return summary;
		relative[i] = race->ns[path][i] / race->reference_ns[i];
	}
	of = abd_perf_stat(relative, race->rounds);
	summary.relative = of.median;
	summary.relative_low = of.low;
	summary.relative_high = of.high;
	return summary;
}

struct abd_perf_summary abd_perf_race_ns(const struct abd_perf_race *race, unsigned path)
{
	return abd_perf_race_relate(race, path, abd_perf_stat(race->ns[path], race->rounds));
}

struct abd_perf_summary abd_perf_race_rate(
	const struct abd_perf_race *race, unsigned path, double work)
{
	double rate[ABD_PERF_ROUNDS_MAX];

	for (unsigned i = 0; i < race->rounds; i++)
		rate[i] = work / race->ns[path][i];
	return abd_perf_race_relate(race, path, abd_perf_stat(rate, race->rounds));
}

struct abd_perf_summary abd_perf_race_ratio(
	const struct abd_perf_race *race, unsigned a, unsigned b)
{
	double ratio[ABD_PERF_ROUNDS_MAX];

	for (unsigned i = 0; i < race->rounds; i++)
		ratio[i] = race->ns[b][i] / race->ns[a][i];
	return abd_perf_stat(ratio, race->rounds);
}

/*
 * Work for A against A: copies that stay in the second-level cache, and the arithmetic that fills
 * them.
 */
static double abd_perf_race_work(void *arg, uint64_t iterations)
{
	static uint64_t words[2][4096];
	double start = abd_perf_clock_ns();
	uint64_t random = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < iterations; i++) {
		for (unsigned j = 0; j < 4096; j++)
			words[0][j] = abd_perf_random(&random);
		memcpy(words[1], words[0], sizeof(words[0]));
		abd_perf_keep(words[1]);
	}
	return abd_perf_clock_ns() - start;
}

void abd_perf_race_noise_measure(const struct abd_perf_options *options)
{
	static const struct abd_perf_path same[] = {
		{"A", abd_perf_race_work, NULL},
		{"A again", abd_perf_race_work, NULL},
	};
	static struct abd_perf_race race;

	if (!abd_perf_race_run(&race, same, 2, options))
		return;
	abd_perf_race_noise = abd_perf_race_ratio(&race, 0, 1);
	if (fabs(abd_perf_race_noise.median - 1) > 0.02)
		abd_perf_say_warn("the same code against itself differs by %.1f %%: this machine "
				  "is too noisy now",
			fabs(abd_perf_race_noise.median - 1) * 100);
}
