/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-scale: many threads want one missing record at a time. One of them fetches it, which takes
 * FETCH_NS; the others sleep in abd_arc_hold_or_fill(). Of each key: how many fetched it, and the
 * times from the commit until each of those that slept had its hold.
 */
#include "abd_perf_arc_wake.h"
#include "abd_perf_crew.h"
#include "abd_perf_latency.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>
#include <abd/arc.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WAKE_SIZE 4096
#define FETCH_NS 200000

struct abd_perf_wake {
	abd_arc_t *arc;
	pthread_barrier_t together;
	pthread_mutex_t lock;
	struct abd_perf_latency latency;
	_Atomic double committed; /* when, of the key at hand; 0: it is still missing */
	atomic_ulong fills;
};

static void abd_perf_wake_fetch(struct abd_perf_wake *wake, abd_arc_fill_t *fill)
{
	struct timespec time = {0, FETCH_NS};

	atomic_fetch_add(&wake->fills, 1);
	nanosleep(&time, NULL);
	abd_zero(fill->abd, WAKE_SIZE);
	atomic_store(&wake->committed, abd_perf_clock_wall_ns());
	if (abd_arc_fill_commit(fill, WAKE_SIZE, WAKE_SIZE, ABD_ARC_PLAIN, NULL) != 0)
		abd_perf_say_die(1, "a fill failed");
}

static double abd_perf_wake_member(void *arg, unsigned member, uint64_t keys)
{
	struct abd_perf_wake *wake = arg;

	(void)member;
	for (uint64_t n = 0; n < keys; n++) {
		abd_arc_key_t key = {1, {n, 0}, 1};
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;
		double asked;
		int got;

		if (pthread_barrier_wait(&wake->together) == PTHREAD_BARRIER_SERIAL_THREAD)
			atomic_store(&wake->committed, 0);
		pthread_barrier_wait(&wake->together);
		asked = abd_perf_clock_wall_ns();
		got = abd_arc_hold_or_fill(wake->arc, &key, WAKE_SIZE, 0, &hold, &fill);
		if (got == 1) {
			abd_perf_wake_fetch(wake, &fill);
			continue;
		}
		double now = abd_perf_clock_wall_ns(), committed = atomic_load(&wake->committed);

		if (got != 0)
			abd_perf_say_die(1, "no hold");
		abd_arc_release(&hold);
		pthread_mutex_lock(&wake->lock);
		if (asked < committed)
			abd_perf_latency_add(&wake->latency, now - committed);
		pthread_mutex_unlock(&wake->lock);
	}
	return 1;
}

void abd_perf_scale_wake(const struct abd_perf_options *options, unsigned threads)
{
	static struct abd_perf_wake wake;
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = (size_t)64 << 20};
	struct abd_perf_crew *crew = abd_perf_crew_make(threads, options);
	uint64_t keys = options->quick ? 200 : 2000;

	wake = (struct abd_perf_wake){.arc = abd_arc_create(&config)};
	if (wake.arc == NULL || crew == NULL)
		abd_perf_say_die(1, "no memory for a cache and its threads");
	abd_perf_say_step("one missing key, %u threads", threads);
	pthread_barrier_init(&wake.together, NULL, threads);
	pthread_mutex_init(&wake.lock, NULL);
	if (abd_perf_say_wanted()) {
		(void)abd_perf_crew_run(crew, abd_perf_wake_member, &wake, keys);

		json_t *result = abd_perf_result_add("arc-scale", "wake", "%u threads", threads);

		abd_perf_result_number(result, "threads", threads);
		abd_perf_result_number(
			result, "fills of a key", (double)atomic_load(&wake.fills) / (double)keys);
		abd_perf_result_number(
			result, "slept for a key", (double)wake.latency.count / (double)keys);
		abd_perf_result_value(
			result, "p50", "ns", abd_perf_latency_percentile(&wake.latency, 50));
		abd_perf_result_value(
			result, "p99", "ns", abd_perf_latency_percentile(&wake.latency, 99));
		abd_perf_result_value(result, "longest", "ns", (double)wake.latency.max_ns);
	}
	pthread_mutex_destroy(&wake.lock);
	pthread_barrier_destroy(&wake.together);
	abd_perf_crew_end(crew);
	abd_arc_destroy(wake.arc);
}
