/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two barriers enclose each piece of work. Work NULL ends the members.
 */
#include "abd_perf_crew.h"
#include "abd_perf_clock.h"
#include "abd_perf_race.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct abd_perf_member {
	struct abd_perf_crew *crew;
	pthread_t thread;
	unsigned number;
	int cpu;
	double begun_ns, ended_ns; /* by the crew's clock */
};

struct abd_perf_crew {
	pthread_barrier_t start, end;
	double (*work)(void *arg, unsigned member, uint64_t iterations); /* NULL: end the thread */
	void *arg;
	uint64_t iterations;
	unsigned count;
	struct abd_perf_member member[];
};

/* Work may prepare something before it starts its clock: only the ns that it returns count. */
static void abd_perf_crew_work(struct abd_perf_member *member)
{
	struct abd_perf_crew *crew = member->crew;
	double ns = crew->work(crew->arg, member->number, crew->iterations);

	member->ended_ns = abd_perf_clock_ns();
	member->begun_ns = member->ended_ns - ns;
}

void abd_perf_crew_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *abd_perf_crew_member(void *arg)
{
	struct abd_perf_member *member = arg;
	struct abd_perf_crew *crew = member->crew;

	abd_perf_crew_pin(member->cpu);
	for (;;) {
		pthread_barrier_wait(&crew->start);
		if (crew->work == NULL)
			return NULL;
		abd_perf_crew_work(member);
		pthread_barrier_wait(&crew->end);
	}
}

struct abd_perf_crew *abd_perf_crew_make(unsigned count, const struct abd_perf_options *options)
{
	struct abd_perf_crew *crew = calloc(1, sizeof(*crew) + count * sizeof(crew->member[0]));

	if (crew == NULL)
		return NULL;
	crew->count = count;
	abd_perf_clock = count == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	abd_perf_race_cpus = count < options->cpu_count ? count : options->cpu_count;
	pthread_barrier_init(&crew->start, NULL, count);
	pthread_barrier_init(&crew->end, NULL, count);
	for (unsigned i = 0; i < count; i++) {
		struct abd_perf_member *member = &crew->member[i];

		*member = (struct abd_perf_member){
			.crew = crew, .number = i, .cpu = options->cpus[i % options->cpu_count]};
		/*
		 * Members that were started wait at the barrier for ever: the caller ends the
		 * program anyway.
		 */
		if (i > 0 &&
			pthread_create(&member->thread, NULL, abd_perf_crew_member, member) != 0)
			return NULL;
	}
	abd_perf_crew_pin(options->cpus[0]);
	return crew;
}

double abd_perf_crew_run(struct abd_perf_crew *crew,
	double (*work)(void *arg, unsigned member, uint64_t iterations), void *arg,
	uint64_t iterations)
{
	crew->work = work;
	crew->arg = arg;
	crew->iterations = iterations;
	pthread_barrier_wait(&crew->start);
	if (work == NULL)
		return 0;
	abd_perf_crew_work(&crew->member[0]);
	pthread_barrier_wait(&crew->end);

	double begun_ns = crew->member[0].begun_ns, ended_ns = crew->member[0].ended_ns;

	for (unsigned i = 1; i < crew->count; i++) {
		begun_ns = fmin(begun_ns, crew->member[i].begun_ns);
		ended_ns = fmax(ended_ns, crew->member[i].ended_ns);
	}
	return (ended_ns - begun_ns) / crew->count;
}

void abd_perf_crew_end(struct abd_perf_crew *crew)
{
	abd_perf_crew_run(crew, NULL, NULL, 0);
	for (unsigned i = 1; i < crew->count; i++)
		pthread_join(crew->member[i].thread, NULL);
	abd_perf_clock = CLOCK_THREAD_CPUTIME_ID;
	abd_perf_race_cpus = 1;
	pthread_barrier_destroy(&crew->start);
	pthread_barrier_destroy(&crew->end);
	free(crew);
}
