/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often puts wait for readers: hardly ever in the steady state, whatever the cache held before,
 * and only if a reader stays for longer than memory lasts.
 */
#include "abd_rcu.h"
#include "arc_data.h"

#include <sys/syscall.h>

enum { CAPACITY = 32 << 20, LARGE = 32768, SMALL = 64, PUTS = 4000 };

static char data[LARGE];
static _Atomic uint64_t puts_ended;

static void put_many(abd_arc_t *arc, uint64_t first, unsigned count, size_t size)
{
	for (uint64_t n = first; n < first + count; n++, puts_ended++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, size) == 0, "put");
}

Test(arc_waits, the_index_shrinks_after_many_small_records)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0), *fresh = arc_make(CAPACITY, 0, 0);

	cr_assert(arc != NULL && fresh != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, 3 * CAPACITY / 256, SMALL);

	uint64_t small_index = arc_stats(arc).index_bytes, waits, fresh_waits;

	put_many(arc, 1u << 30, PUTS, LARGE);
	put_many(fresh, 1u << 30, PUTS, LARGE);
	waits = arc_stats(arc).grace_periods;
	fresh_waits = arc_stats(fresh).grace_periods;
	put_many(arc, 1u << 31, PUTS, LARGE);
	put_many(fresh, 1u << 31, PUTS, LARGE);
	waits = arc_stats(arc).grace_periods - waits;
	fresh_waits = arc_stats(fresh).grace_periods - fresh_waits;

	struct abd_arc_stats after = arc_stats(arc);

	cr_log_info("%u waits for %u puts, %u in a fresh cache", (unsigned)waits, PUTS,
		(unsigned)fresh_waits);
	cr_expect_leq(waits, fresh_waits + fresh_waits / 10, "%u waits, %u in a fresh cache",
		(unsigned)waits, (unsigned)fresh_waits);
	cr_expect_leq(after.index_bytes, small_index / 4, "%zu bytes of index, %zu before",
		(size_t)after.index_bytes, (size_t)small_index);
	cr_expect_geq(after.entries * 100, arc_stats(fresh).entries * 97, "%zu records, %zu",
		(size_t)after.entries, (size_t)arc_stats(fresh).entries);
	cr_expect_leq(after.used_bytes, after.capacity_bytes);
	abd_arc_destroy(arc);
	abd_arc_destroy(fresh);
}

/* A reader that stays in its section until it may leave, or until a thread waits for it. */
struct reader {
	pthread_t thread;
	long writer; /* 0: nobody */
	atomic_bool is_inside, may_leave;
};

/*
 * Whether the writer has slept in 50 looks, a millisecond each, since a put ended: it naps while it
 * waits. Once or twice it may be asleep for another reason.
 */
static bool writer_waits(const struct reader *reader, unsigned *seen, uint64_t *ended)
{
	uint64_t now = atomic_load(&puts_ended);

	*seen = now == *ended ? *seen + abd_test_sleeps(reader->writer) : 0;
	*ended = now;
	return *seen == 50;
}

static void *reader_stay(void *arg)
{
	struct reader *reader = arg;
	unsigned seen = 0;
	uint64_t ended = 0;

	abd_rcu_read_lock();
	atomic_store(&reader->is_inside, true);
	while (!atomic_load(&reader->may_leave) &&
		(reader->writer == 0 || !writer_waits(reader, &seen, &ended)))
		usleep(reader->writer == 0 ? 100 : 1000);
	abd_rcu_read_unlock();
	return NULL;
}

static void reader_begin(struct reader *reader, long writer)
{
	*reader = (struct reader){.writer = writer};
	cr_assert(pthread_create(&reader->thread, NULL, reader_stay, reader) == 0);
	while (!atomic_load(&reader->is_inside))
		usleep(100);
}

static void reader_leave(struct reader *reader)
{
	atomic_store(&reader->may_leave, true);
	pthread_join(reader->thread, NULL);
}

static abd_arc_t *make_full(void)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	cr_assert(arc != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, 2 * CAPACITY / LARGE, LARGE);
	return arc;
}

/* Half of what is kept free: 256 KiB. */
Test(arc_waits, puts_go_on_while_a_reader_stays_in_its_section)
{
	abd_arc_t *arc = make_full();
	struct reader reader;

	for (uint64_t round = 0; round < 50; round++) {
		struct abd_arc_stats before = arc_stats(arc);

		reader_begin(&reader, 0);
		put_many(arc, (round + 1) << 30, CAPACITY / 128 / LARGE, LARGE);

		struct abd_arc_stats inside = arc_stats(arc);

		reader_leave(&reader);
		cr_assert_eq(inside.waits, before.waits);
		cr_assert_eq(inside.evictions - before.evictions, CAPACITY / 128 / LARGE);
		cr_assert_geq(inside.evicted_bytes, (uint64_t)CAPACITY / 128);
		/* What waited is freed by the next puts. */
		put_many(arc, (round + 101) << 30, CAPACITY / 128 / LARGE, LARGE);
		cr_assert_leq(arc_stats(arc).evicted_bytes, (uint64_t)CAPACITY / 128);
	}
	cr_assert_eq(arc_stats(arc).waits, 0);
	abd_arc_destroy(arc);
}

Test(arc_waits, a_put_waits_for_a_reader_that_stays_for_longer_than_memory_lasts)
{
	abd_arc_t *arc = make_full();
	struct reader reader;

	reader_begin(&reader, syscall(SYS_gettid));
	put_many(arc, 1u << 30, CAPACITY / 16 / LARGE, LARGE);

	struct abd_arc_stats stats = arc_stats(arc);

	reader_leave(&reader);
	cr_assert_geq(stats.waits, 1);
	cr_assert_leq(stats.used_bytes, stats.capacity_bytes);
	abd_arc_destroy(arc);
}

/* Slots of many sizes leave slabs partly empty: puts evict ahead of need. */
Test(arc_waits, puts_of_many_sizes_go_on_while_a_reader_stays_in_its_section)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	struct reader reader;
	uint64_t n = 0, random = 1;

	cr_assert(arc != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	for (unsigned i = 0; i < 20000; i++)
		put_many(arc, n++, 1, 64 + abd_test_random(&random) % (LARGE / 2));
	for (unsigned round = 0; round < 50; round++) {
		struct abd_arc_stats before = arc_stats(arc);

		reader_begin(&reader, 0);
		for (unsigned i = 0; i < 5; i++)
			put_many(arc, n++, 1, 64 + abd_test_random(&random) % (LARGE / 2));
		cr_assert_eq(arc_stats(arc).waits, before.waits, "round %u", round);
		reader_leave(&reader);
		for (unsigned i = 0; i < 100; i++)
			put_many(arc, n++, 1, 64 + abd_test_random(&random) % (LARGE / 2));
	}
	cr_assert_leq(arc_stats(arc).waits, n / 500);
	abd_arc_destroy(arc);
}
