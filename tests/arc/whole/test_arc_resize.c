/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A resize to a smaller capacity joins lines of the index: while puts go on, two resizes at once,
 * and while readers look up.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

enum { RECORD = 64, MIB = 1 << 20 };

static void put(abd_arc_t *arc, uint64_t n)
{
	char record[RECORD];

	arc_fill(record, RECORD, n, 0, RECORD);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), record, RECORD), 0);
}

/* Whether it is there, as it was put. */
static bool is_there(abd_arc_t *arc, uint64_t n)
{
	char record[RECORD], read[RECORD];

	if (abd_arc_read(arc, arc_at(n), read, 0, RECORD) != RECORD)
		return false;
	arc_fill(record, RECORD, n, 0, RECORD);
	return memcmp(read, record, RECORD) == 0;
}

static void drop(abd_arc_t *arc, uint64_t n)
{
	cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
}

static void wait_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* ---- while a reader takes its time ----------------------------------------------------------- */

struct section {
	pthread_t thread;
	atomic_bool begun, over;
};

static void *stay_in_section(void *arg)
{
	struct section *section = arg;

	abd_arc_rcu_read_lock();
	atomic_store(&section->begun, true);
	while (!atomic_load(&section->over))
		wait_ms(1);
	abd_arc_rcu_read_unlock();
	return NULL;
}

static void section_begin(struct section *section)
{
	atomic_init(&section->begun, false);
	atomic_init(&section->over, false);
	cr_assert_eq(pthread_create(&section->thread, NULL, stay_in_section, section), 0);
	while (!atomic_load(&section->begun))
		wait_ms(1);
}

static void section_end(struct section *section)
{
	atomic_store(&section->over, true);
	pthread_join(section->thread, NULL);
}

struct resize {
	pthread_t thread;
	abd_arc_t *arc;
	size_t capacity;
};

static void *do_resize(void *arg)
{
	struct resize *resize = arg;

	abd_arc_resize(resize->arc, resize->capacity);
	return NULL;
}

/* Until it waits for the section. */
static void resize_begin(struct resize *resize)
{
	struct abd_arc *arc = resize->arc;
	bool waits;

	cr_assert_eq(pthread_create(&resize->thread, NULL, do_resize, resize), 0);
	do {
		wait_ms(5);
		pthread_mutex_lock(&arc->lock);
		waits = arc->index->is_shrinking && arc->goal == resize->capacity;
		pthread_mutex_unlock(&arc->lock);
	} while (!waits);
}

/*
 * 330 records begin a doubling of the first page's lines; at 300, the new ones are too many. A page
 * of which few lines were in use, and that no resize let grow, once filled up with what they had no
 * room for: then no line could be split any more.
 */
Test(abd_arc_resize, puts_meanwhile_make_the_index_grow_and_evict_nothing)
{
	struct resize resize = {.arc = arc_make(64 * MIB, 0, 0), .capacity = 60 * MIB};
	abd_arc_t *arc = resize.arc;
	struct section section;

	for (uint64_t n = 0; n < 330; n++)
		put(arc, n);
	for (uint64_t n = 0; n < 30; n++)
		drop(arc, n);
	section_begin(&section);
	resize_begin(&resize);
	for (uint64_t n = 1000; n < 6000; n++)
		put(arc, n);
	cr_expect_eq(arc_stats(arc).evictions, 0, "while it waits");
	section_end(&section);
	pthread_join(resize.thread, NULL);
	for (uint64_t n = 6000; n < 20000; n++)
		put(arc, n);
	cr_expect_eq(arc_stats(arc).evictions, 0, "afterwards");
	for (uint64_t n = 1000; n < 20000; n++)
		cr_assert(is_there(arc, n), "%u", (unsigned)n);
	abd_arc_destroy(arc);
}

Test(abd_arc_resize, two_at_once_leave_an_index_for_the_smaller_one)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 64 * MIB,
		.expected_entries = 100000};
	abd_arc_t *arc = abd_arc_create(&config);
	struct resize first = {.arc = arc, .capacity = 48 * MIB},
		      second = {.arc = arc, .capacity = MIB};
	struct section section;

	cr_assert_not_null(arc);
	for (uint64_t n = 0; n < 50000; n++)
		put(arc, n);
	section_begin(&section);
	resize_begin(&first);
	resize_begin(&second);
	section_end(&section);
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	cr_expect_leq(abd_arc_index_bytes(arc->index), MIB / 4);
	for (uint64_t n = 50000; n < 60000; n++)
		put(arc, n);
	cr_expect_gt(arc_stats(arc).entries, 2000);
	abd_arc_destroy(arc);
}

Test(abd_arc_resize, a_larger_cache_keeps_the_room_that_was_asked_for_and_waits_for_nobody)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 16 * MIB,
		.expected_entries = 30000};
	abd_arc_t *arc = abd_arc_create(&config);
	size_t bytes = abd_arc_index_bytes(arc->index);
	struct section section;

	section_begin(&section);
	cr_assert_eq(abd_arc_resize(arc, 32 * MIB), 0);
	cr_assert_eq(abd_arc_resize(arc, 32 * MIB), 0);
	section_end(&section);
	cr_expect_eq(abd_arc_index_bytes(arc->index), bytes);
	cr_assert_eq(abd_arc_resize(arc, 16 * MIB), 0);
	cr_expect_lt(abd_arc_index_bytes(arc->index), bytes / 8);
	abd_arc_destroy(arc);
}

/* ---- under readers --------------------------------------------------------------------------- */

enum { STAY = 300, COME_AND_GO = 6000 };

struct reading {
	abd_arc_t *arc;
	atomic_bool stop;
	atomic_size_t missing, looks, rounds;
};

static void *read_what_stays(void *arg)
{
	struct reading *reading = arg;
	uint64_t state = (uintptr_t)&state;

	while (!atomic_load(&reading->stop)) {
		if (!is_there(reading->arc, abd_test_random(&state) % STAY))
			atomic_fetch_add(&reading->missing, 1);
		atomic_fetch_add_explicit(&reading->looks, 1, memory_order_relaxed);
	}
	return NULL;
}

static void *put_and_drop(void *arg)
{
	struct reading *reading = arg;

	while (!atomic_load(&reading->stop)) {
		for (uint64_t n = STAY; n < COME_AND_GO; n++)
			put(reading->arc, n);
		for (uint64_t n = STAY; n < COME_AND_GO; n++)
			drop(reading->arc, n);
		atomic_fetch_add(&reading->rounds, 1);
	}
	return NULL;
}

Test(abd_arc_resize, readers_find_what_stays_while_it_joins_the_lines_of_thousands)
{
	const unsigned rounds = getenv("ABD_TEST_LONG") != NULL ? 1000 : 10;
	void *(*const what[])(void *) = {read_what_stays, read_what_stays, put_and_drop};
	struct reading reading = {.arc = arc_make(64 * MIB, 0, 0)};
	size_t capacity = 64 * MIB;
	pthread_t thread[3];

	for (uint64_t n = 0; n < STAY; n++)
		put(reading.arc, n);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, what[i], &reading), 0);
	while (atomic_load(&reading.rounds) < rounds) {
		capacity -= 4096; /* room for all, always */
		cr_assert_eq(abd_arc_resize(reading.arc, capacity), 0);
		if (capacity < 32 * MIB)
			cr_assert_eq(abd_arc_resize(reading.arc, capacity = 64 * MIB), 0);
	}
	atomic_store(&reading.stop, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	cr_expect_eq(atomic_load(&reading.missing), 0, "%zu of %zu", atomic_load(&reading.missing),
		atomic_load(&reading.looks));
	cr_expect_eq(arc_stats(reading.arc).evictions, 0);
	cr_expect_geq(reading.arc->index->turns, 2, "lines were joined");
	abd_arc_destroy(reading.arc);
}

/* Someone else makes room, and may be waiting for a reader. */
Test(abd_arc_resize, puts_go_on_while_it_makes_room)
{
	abd_arc_t *arc = arc_make(4 * MIB, 0, 0);
	struct abd_arc_stats stats;
	uint64_t n = 0;

	while (arc_stats(arc).evictions < 1000)
		put(arc, n++);
	abd_arc_reclaim(arc);
	pthread_mutex_lock(&arc->lock);
	arc->capacity = 3 * MIB;
	arc->ceiling = SIZE_MAX;
	arc->leeway = MIB / 16;
	abd_arc_ceiling_follow(arc);
	size_t used = abd_arc_used(arc), ceiling = arc->ceiling;

	pthread_mutex_unlock(&arc->lock);
	cr_assert_eq(ceiling, used + MIB / 16);
	pthread_mutex_lock(&arc->reclaim_lock);
	for (unsigned i = 0; i < 60; i++) /* the index may be about to double meanwhile */
		put(arc, n++);
	stats = arc_stats(arc);
	pthread_mutex_unlock(&arc->reclaim_lock);
	cr_assert_leq(stats.used_bytes, ceiling);
	cr_assert_gt(stats.used_bytes, (uint64_t)3 * MIB);
	/* It has ended: puts make room themselves. */
	cr_assert_eq(abd_arc_resize(arc, 3 * MIB), 0);
	cr_assert_eq(arc->ceiling, 0);
	for (unsigned i = 0; i < 200; i++)
		put(arc, n++);
	cr_assert_leq(arc_stats(arc).used_bytes, (uint64_t)3 * MIB);
	abd_arc_destroy(arc);
}

struct halfway {
	abd_arc_t *arc;
	struct section section;
	atomic_bool reached;
};

/* The resize has freed a third: from now on it waits for a reader. */
static void stop_halfway(abd_arc_evicted_t *evicted, void *arg)
{
	struct halfway *halfway = arg;

	(void)evicted;
	if (atomic_load(&halfway->reached) || arc_stats(halfway->arc).used_bytes > 12 * MIB)
		return;
	section_begin(&halfway->section);
	atomic_store(&halfway->reached, true);
}

/* Until another thread reclaims, and goes on to: it waits for the section. */
static void wait_until_reclaiming(abd_arc_t *arc)
{
	for (unsigned seen = 0; seen < 10; wait_ms(5)) {
		if (pthread_mutex_trylock(&arc->reclaim_lock) == 0) {
			pthread_mutex_unlock(&arc->reclaim_lock);
			seen = 0;
		} else {
			seen++;
		}
	}
}

/* Puts would wait for it, did they need room, and then do its work. */
Test(abd_arc_resize, puts_beside_it_may_use_an_eighth_of_the_difference)
{
	struct halfway halfway = {.arc = NULL};
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 16 * MIB,
		.evicted_cb = stop_halfway,
		.evicted_arg = &halfway};
	abd_arc_t *arc = halfway.arc = abd_arc_create(&config);
	struct resize resize = {.arc = arc, .capacity = 4 * MIB};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	uint64_t n = 0;

	while (arc_stats(arc).used_bytes < 15 * MIB)
		put(arc, n++);
	cr_assert_eq(pthread_create(&resize.thread, NULL, do_resize, &resize), 0);
	while (!atomic_load(&halfway.reached))
		wait_ms(5);
	wait_until_reclaiming(arc);
	size_t used = arc_stats(arc).used_bytes;

	cr_assert_gt(arc->ceiling, used + MIB + MIB / 4);
	for (unsigned i = 0; i < 100000 && arc_stats(arc).used_bytes < used + MIB; i++)
		put(arc, n++);
	used = arc_stats(arc).used_bytes - used;
	cr_expect_eq(abd_arc_hold_or_fill(arc, arc_at(n), RECORD, 0, &hold, &fill), 1);
	abd_arc_fill_abandon(&fill);
	section_end(&halfway.section);
	pthread_join(resize.thread, NULL);
	cr_expect_geq(used, MIB);
	cr_expect_leq(arc_stats(arc).used_bytes, 4 * MIB);
	abd_arc_destroy(arc);
}

Test(abd_arc_resize, a_64th_is_kept_free_from_16_kib_to_32_mib)
{
	cr_assert_eq(abd_arc_target(256 << 10), 240 << 10);
	cr_assert_eq(abd_arc_target(MIB), 1008 << 10);
	cr_assert_eq(abd_arc_target(2 * MIB), 2016 << 10);
	cr_assert_eq(abd_arc_target((size_t)1 << 30), (size_t)1008 << 20);
	cr_assert_eq(abd_arc_target((size_t)3 << 30), (size_t)(3 * 1024 - 32) << 20);
}

/*
 * An index for many small records takes more than a far smaller cache has. Puts go on, also of what
 * nearly fills it, while the index shrinks.
 */
Test(abd_arc_resize, what_an_index_was_refuses_nothing)
{
	static const size_t from[] = {32 * MIB, 64 * MIB}, to[] = {64 << 10, 80 << 10, 512 << 10};
	static char record[MIB];

	arc_fill(record, sizeof(record), 1, 1, 64);
	for (size_t i = 0; i < 6; i++) {
		abd_arc_t *arc = arc_make(from[i % 2], 0, 0);

		for (uint64_t n = 0; n < from[i % 2] / 200; n++)
			cr_assert_eq(abd_arc_put(arc, arc_at(n), record, 64), 0);
		cr_assert_eq(abd_arc_resize(arc, to[i / 2]), 0);
		for (uint64_t n = 0; n < 3000; n++)
			cr_assert_eq(abd_arc_put(arc, arc_at(n), record, 64), 0, "%zu: put %u", i,
				(unsigned)n);
		cr_assert_eq(abd_arc_put(arc, arc_at(0), record, to[i / 2] / 4), 0);
		abd_arc_destroy(arc);
	}

	abd_arc_t *arc = arc_make(MIB, 0, 0);
	size_t most = MIB / 100 * 97;

	cr_assert_eq(abd_arc_put(arc, arc_at(0), record, most), 0);
	for (uint64_t n = 1; n < 10000; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, 16), 0);
	cr_assert_eq(abd_arc_put(arc, arc_at(0), record, most), 0, "as when it was empty");
	abd_arc_destroy(arc);
}
