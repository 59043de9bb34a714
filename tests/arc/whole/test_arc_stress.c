/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads over the same few keys: put, read, hold, release, remove and resize at once, with
 * every byte read checked. The first 8 bytes of a record say its key and version, from which the
 * rest follows. Seconds of a processor by default; minutes with ABD_TEST_LONG set, or
 * ABD_TEST_SECONDS. Threads end and begin all the while, some with holds that others release.
 */
#include "arc_data.h"

enum { KEYS = 200, RECORD = 20000, THREADS = 4, HANDED = 8 };

struct stress {
	abd_arc_t *arc;
	atomic_bool stop;
	atomic_uint version;
	atomic_size_t reads, holds, lives;
	_Atomic(const char *) trouble;
	pthread_mutex_t lock;
	abd_arc_hold_t handed[HANDED]; /* holds on their way from one thread to another */
	bool is_handed[HANDED];
};

static size_t size_of(uint64_t key, uint64_t version)
{
	return 8 + (key * 2654435761u + version * 40503u) % (version % 8 == 0 ? RECORD - 8 : 6000);
}

static unsigned random_of(uint64_t key, uint64_t version)
{
	return (unsigned)((key + version) % 65);
}

/* Whether [off, +size) at read is of a record of key that was put once. */
static bool is_sound(
	const char *read, size_t off, size_t size, uint64_t key, uint64_t name, char *scratch)
{
	uint64_t version = name & UINT32_MAX;
	size_t whole = size_of(key, version);

	if (name >> 32 != key || off + size > whole)
		return false;
	arc_fill(scratch, whole, key, version, random_of(key, version));
	return memcmp(read, scratch + off, size) == 0;
}

static void trouble(struct stress *stress, const char *what)
{
	atomic_store(&stress->trouble, what);
	atomic_store(&stress->stop, true);
}

static void do_put(struct stress *stress, uint64_t n, char *buf)
{
	uint64_t version = atomic_fetch_add(&stress->version, 1);
	size_t size = size_of(n, version);

	arc_fill(buf, size, n, version, random_of(n, version));
	int error = abd_arc_put(stress->arc, arc_at(n), buf, size);

	if (error != 0 && error != -ENOSPC)
		trouble(stress, "a put failed");
}

static void do_read(struct stress *stress, uint64_t n, char *buf, char *scratch, uint64_t random)
{
	size_t size = random % 4 == 0 ? RECORD : 8 + (size_t)(random >> 8) % 1000;
	ssize_t result = abd_arc_read(stress->arc, arc_at(n), buf, 0, size);
	uint64_t name;

	if (result == -EINVAL) /* it is smaller; what it says is right for its version anyway */
		result = abd_arc_read(stress->arc, arc_at(n), buf, 0, 8);
	if (result < 0) {
		if (result != -ENOENT && result != -EINVAL)
			trouble(stress, "a read failed");
		return;
	}
	memcpy(&name, buf, sizeof(name));
	if (!is_sound(buf, 0, (size_t)result, n, name, scratch))
		trouble(stress, "a read returned bytes that were never put together");
	atomic_fetch_add(&stress->reads, 1);
}

static void check_hold(
	struct stress *stress, const abd_arc_hold_t *hold, uint64_t n, char *buf, char *scratch)
{
	uint64_t name;
	ssize_t produced = (ssize_t)hold->stored_size;

	if (hold->compressed)
		produced = abd_lz4_decompress_to_buf(
			buf, hold->abd, hold->logical_size, 0, hold->stored_size);
	else
		abd_copy_to_buf(buf, hold->abd, hold->stored_size);
	memcpy(&name, buf, sizeof(name));
	if (produced != (ssize_t)hold->logical_size ||
		!is_sound(buf, 0, hold->logical_size, name >> 32, name, scratch) ||
		(n < KEYS && name >> 32 != n))
		trouble(stress, "a hold shows bytes that were never put together");
	atomic_fetch_add(&stress->holds, 1);
}

/* Give a hold to whoever comes next, and take the one that lay there. */
static bool hand_over(struct stress *stress, abd_arc_hold_t *hold, size_t place)
{
	abd_arc_hold_t mine = *hold;
	bool was;

	pthread_mutex_lock(&stress->lock);
	was = stress->is_handed[place];
	*hold = stress->handed[place];
	stress->handed[place] = mine;
	stress->is_handed[place] = true;
	pthread_mutex_unlock(&stress->lock);
	return was;
}

static void do_hold(struct stress *stress, uint64_t n, char *buf, char *scratch, uint64_t random)
{
	abd_arc_key_t key = arc_key(n), other = arc_key(n + 1);
	abd_arc_hold_t hold, second;
	int error = abd_arc_hold(stress->arc, &key, &hold);

	if (error != 0) {
		if (error != -ENOENT)
			trouble(stress, "a hold failed");
		return;
	}
	check_hold(stress, &hold, n, buf, scratch);
	if (abd_arc_hold(stress->arc, &other, &second) == 0) {
		do_put(stress, n + 1, buf);
		check_hold(stress, &second, n + 1, buf, scratch);
		abd_arc_release(&second);
	}
	if (random % 3 == 0) {
		if (!hand_over(stress, &hold, random / 3 % HANDED))
			return;
		n = KEYS; /* of any key */
	}
	check_hold(stress, &hold, n, buf, scratch);
	abd_arc_release(&hold);
}

static void do_resize(struct stress *stress, uint64_t random)
{
	static const size_t capacities[] = {270000, 400000, 1 << 20, 2 << 20};

	if (abd_arc_resize(stress->arc, capacities[random % 4]) != 0)
		trouble(stress, "a resize failed");
}

static void do_something(struct stress *stress, uint64_t random, char *buf, char *scratch)
{
	uint64_t n = (random >> 32) % (KEYS - 1);
	unsigned what = (unsigned)(random >> 20) % 1000;

	if (what < 5)
		do_resize(stress, random);
	else if (what < 40)
		abd_arc_remove(stress->arc, arc_at(n));
	else if (what < 250)
		do_put(stress, n, buf);
	else if (what < 450)
		do_hold(stress, n, buf, scratch, random);
	else
		do_read(stress, n, buf, scratch, random);
}

/* One life of a thread: a few hundred calls. */
static void *live(void *arg)
{
	struct stress *stress = arg;
	uint64_t state = atomic_fetch_add(&stress->lives, 1) * 7919;
	char *buf = malloc(RECORD), *scratch = malloc(RECORD);

	for (unsigned i = 0; i < 300 && !atomic_load(&stress->stop); i++)
		do_something(stress, abd_test_random(&state), buf, scratch);
	free(buf);
	free(scratch);
	return NULL;
}

static void *live_again_and_again(void *arg)
{
	struct stress *stress = arg;
	pthread_t thread;

	while (!atomic_load(&stress->stop)) {
		if (pthread_create(&thread, NULL, live, stress) != 0) {
			trouble(stress, "no thread");
			break;
		}
		live(stress);
		pthread_join(thread, NULL);
	}
	return NULL;
}

/* On a busy machine this takes longer than the time that was asked for. */
static bool is_enough(struct stress *stress)
{
	struct abd_arc_stats stats = arc_stats(stress->arc);

	return atomic_load(&stress->reads) > 100 && atomic_load(&stress->holds) > 100 &&
	       stats.evictions > 10 && stats.replaces > 10 && stats.grace_periods > 10;
}

static void run(struct stress *stress, double seconds, uint32_t flags, uint32_t hit_batch)
{
	pthread_t thread[THREADS / 2];
	clock_t began = clock();

	memset(stress, 0, sizeof(*stress));
	pthread_mutex_init(&stress->lock, NULL);
	stress->arc = arc_make(400000, hit_batch, flags);
	for (unsigned i = 0; i < THREADS / 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, live_again_and_again, stress), 0);
	do {
		usleep(20000);
	} while (!atomic_load(&stress->stop) &&
		 ((double)(clock() - began) < seconds * CLOCKS_PER_SEC || !is_enough(stress)));
	atomic_store(&stress->stop, true);
	for (unsigned i = 0; i < THREADS / 2; i++)
		pthread_join(thread[i], NULL);
}

/* The end: everything is released, the capacity holds again, nothing is left. */
static void finish(struct stress *stress)
{
	char *buf = malloc(RECORD), *scratch = malloc(RECORD);
	struct abd_arc_stats stats;

	cr_assert_null(atomic_load(&stress->trouble), "%s", atomic_load(&stress->trouble));
	for (unsigned i = 0; i < HANDED; i++) {
		if (!stress->is_handed[i])
			continue;
		check_hold(stress, &stress->handed[i], KEYS, buf, scratch);
		abd_arc_release(&stress->handed[i]);
	}
	cr_assert_null(atomic_load(&stress->trouble), "%s", atomic_load(&stress->trouble));
	stats = arc_stats(stress->arc);
	cr_assert_eq(stats.held_bytes, 0);
	cr_assert_eq(abd_arc_resize(stress->arc, 270000), 0);
	stats = arc_stats(stress->arc);
	cr_assert_eq(stats.evicted_bytes, 0);
	cr_assert(stats.used_bytes <= stats.capacity_bytes);
	cr_assert_eq(stats.damaged, 0);
	abd_arc_destroy(stress->arc);
	free(buf);
	free(scratch);
}

static double seconds_for(double seconds)
{
	const char *wanted = getenv("ABD_TEST_SECONDS");

	if (wanted != NULL)
		return atof(wanted);
	return getenv("ABD_TEST_LONG") != NULL ? 60 * seconds : seconds;
}

Test(arc_stress, threads_over_the_same_keys_read_only_what_was_put)
{
	struct abd_stats before, after;
	static struct stress stress;

	abd_stats_get(&before, sizeof(before));
	run(&stress, seconds_for(4), 0, 0);
	finish(&stress);
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.scatter_data_size, before.scatter_data_size);
	cr_assert_eq(after.linear_data_size, before.linear_data_size);
}

Test(arc_stress, the_same_with_checksums_and_every_hit_reported_at_once)
{
	static struct stress stress;

	run(&stress, seconds_for(4), ABD_ARC_CHECKSUM, 1);
	finish(&stress);
}

/* ---- a reader that stays in its section while everything around it is evicted ---------------- */

static void *write_for_a_while(void *arg)
{
	struct stress *stress = arg;
	uint64_t state = 99;
	char *buf = malloc(RECORD);

	while (!atomic_load(&stress->stop))
		do_put(stress, abd_test_random(&state) % KEYS, buf);
	free(buf);
	return NULL;
}

Test(arc_stress, the_capacity_holds_with_two_writers)
{
	static struct stress stress;
	pthread_t thread[2];

	memset(&stress, 0, sizeof(stress));
	stress.arc = arc_make(500000, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, write_for_a_while, &stress), 0);
	for (unsigned i = 0; i < 2000; i++) {
		struct abd_arc_stats stats = arc_stats(stress.arc);

		cr_assert(stats.used_bytes <=
				  stats.capacity_bytes + stats.held_bytes + 2 * (RECORD + 8192),
			"%zu of %zu", (size_t)stats.used_bytes, (size_t)stats.capacity_bytes);
		sched_yield();
	}
	atomic_store(&stress.stop, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	cr_assert_null(atomic_load(&stress.trouble), "%s", atomic_load(&stress.trouble));

	struct abd_arc_stats stats = arc_stats(stress.arc);

	cr_assert(stats.used_bytes <= stats.capacity_bytes);
	abd_arc_destroy(stress.arc);
}

/* ---- holds beside writers: only held records go beyond the capacity -------------------------- */

enum { HELD = 8, RECORD_COST = RECORD + 8192 };

static void *hold_for_a_while(void *arg)
{
	struct stress *stress = arg;
	abd_arc_hold_t hold[HELD] = {{NULL, 0, 0, false, NULL}};
	uint64_t state = 5;

	while (!atomic_load(&stress->stop)) {
		abd_arc_hold_t *slot = &hold[abd_test_random(&state) % HELD];
		abd_arc_key_t key = arc_key(abd_test_random(&state) % KEYS);

		if (slot->entry != NULL)
			abd_arc_release(slot);
		else if (abd_arc_hold(stress->arc, &key, slot) == 0)
			atomic_fetch_add(&stress->holds, 1);
	}
	for (unsigned i = 0; i < HELD; i++)
		if (hold[i].entry != NULL)
			abd_arc_release(&hold[i]);
	return NULL;
}

Test(arc_stress, the_capacity_is_exceeded_by_what_is_held_and_nothing_else)
{
	void *(*const what[3])(void *) = {write_for_a_while, write_for_a_while, hold_for_a_while};
	static struct stress stress;
	pthread_t thread[3];

	memset(&stress, 0, sizeof(stress));
	stress.arc = arc_make(500000, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, what[i], &stress), 0);
	for (unsigned i = 0; i < 2000 || atomic_load(&stress.holds) < 100; i++) {
		struct abd_arc_stats stats = arc_stats(stress.arc);

		/* Two puts on their way, and what was released since writers last looked. */
		cr_assert(stats.used_bytes <= stats.capacity_bytes + stats.held_bytes +
						      (2 + HELD) * RECORD_COST,
			"%zu of %zu, %zu held", (size_t)stats.used_bytes,
			(size_t)stats.capacity_bytes, (size_t)stats.held_bytes);
		sched_yield();
	}
	atomic_store(&stress.stop, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	cr_assert_null(atomic_load(&stress.trouble), "%s", atomic_load(&stress.trouble));

	struct abd_arc_stats stats = arc_stats(stress.arc);

	cr_assert_eq(stats.held_bytes, 0);
	cr_assert(stats.used_bytes <= stats.capacity_bytes, "%zu of %zu", (size_t)stats.used_bytes,
		(size_t)stats.capacity_bytes);
	abd_arc_destroy(stress.arc);
}
