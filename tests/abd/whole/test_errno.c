/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gives memory back keeps errno, so that clean-up may stand between a call that failed and the
 * look at its errno. Every system call and callback on the way sets errno here, though it succeeds.
 * tests/made looks whether a public call that gives back is missing.
 */
#include "abd_test.h"

#pragma GCC diagnostic ignored "-Wunused-result" /* nothing is returned */

enum {
	ERRNO_BEFORE = 4242,
	ERRNO_INSIDE = 4343,
	LARGE = 300000, /* memory of this size is in no magazine: it goes back at once */
	SIZE = 100000,
	COUNT = 200,
};

/* How often something inside of the calls set errno. */
static unsigned set_inside;

static void keeps_errno_begin(void)
{
	abd_test_wrap_errno(ERRNO_INSIDE);
	errno = ERRNO_BEFORE;
}

static void keeps_errno_end(const char *name)
{
	int after = errno;

	set_inside += abd_test_wrap_errno(0);
	abd_test_check(after == ERRNO_BEFORE, "errno is %d after %s", after, name);
}

/** The call keeps errno. */
#define keeps_errno(name, ...)           \
	do {                             \
		keeps_errno_begin();     \
		(void)name(__VA_ARGS__); \
		keeps_errno_end(#name);  \
	} while (0)

static void ended(void *buf, size_t size, void *arg)
{
	errno = ERRNO_INSIDE;
	set_inside++;
}

static void begin(void)
{
	set_inside = 0;
	abd_test_wrap_errno(0);
}

TestSuite(abd_errno, .init = begin);

Test(abd_errno, buffers_that_end_keep_it)
{
	static char memory[10];
	abd_t *many[COUNT], *gang = abd_alloc_gang(), *linear;
	void *buf;

	cr_assert_eq(abd_tuning_set("reserve_ms", "6"), 0); /* free memory ages at once */
	for (int i = 0; i < COUNT; i++)
		cr_assert_not_null(many[i] = abd_alloc(SIZE + 4096 * (size_t)(i % 7), false));
	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(LARGE, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, many[COUNT - 1], true), 0);
	keeps_errno(abd_free, gang);
	for (int i = 0; i < COUNT - 1; i++)
		if (i % 3 != 0)
			keeps_errno(abd_free, many[i]);
	keeps_errno(abd_cache_reap_now);
	for (int i = 0; i < COUNT - 1; i += 3)
		keeps_errno(abd_free, many[i]);
	keeps_errno(abd_fini);

	linear = abd_alloc_linear(LARGE, false);
	keeps_errno(abd_free_const, abd_get_offset_const(linear, 10, 20));
	keeps_errno(abd_free, linear);
	buf = abd_buf_alloc(LARGE, false);
	keeps_errno(abd_buf_free, buf, LARGE);
	buf = abd_buf_alloc(LARGE, true);
	keeps_errno(abd_buf_free_marked, buf, LARGE, true);
	buf = abd_buf_alloc(LARGE, true);
	linear = abd_get_from_buf(buf, LARGE);
	keeps_errno(abd_take_ownership_of_buf, linear, true);
	keeps_errno(abd_release_ownership_of_buf, linear);
	keeps_errno(abd_free, linear);
	keeps_errno(abd_buf_free_marked, buf, LARGE, true);
	keeps_errno(abd_free, abd_get_from_buf_cb(memory, sizeof(memory), ended, NULL));
	abd_tuning_set("reserve_ms", "12000");
	cr_assert_gt(set_inside, 8, "only %u calls inside set it", set_inside);
}

Test(abd_errno, borrows_that_are_returned_keep_it)
{
	abd_t *abd = abd_alloc(LARGE, false);

	abd_zero(abd, LARGE);
	keeps_errno(abd_return_buf, abd, abd_borrow_buf_copy(abd, LARGE), LARGE);
	keeps_errno(abd_return_buf_copy, abd, abd_borrow_buf_copy(abd, LARGE), LARGE);
	keeps_errno(abd_return_buf_const, abd, abd_borrow_buf_const(abd, LARGE), LARGE);
	abd_free(abd);
}

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	free(buf);
	errno = ERRNO_INSIDE;
}

ABD_TEST_CHILD(errno_of_an_engine)
{
	struct abd_allocator engine = {.alloc = engine_alloc, .free = engine_free};

	abd_test_child_expect(abd_allocator_set(&engine) == 0);
	abd_t *abd = abd_alloc_linear(1000, false);

	errno = ERRNO_BEFORE;
	abd_free(abd);
	abd_test_child_expect(errno == ERRNO_BEFORE);
	return 0;
}

Test(abd_errno, is_kept_when_the_engine_s_own_allocator_sets_it)
{
	abd_test_child_passes("errno_of_an_engine", NULL);
}

ABD_TEST_CHILD(errno_of_a_start)
{
	abd_test_wrap_errno(ERRNO_INSIDE);
	errno = ERRNO_BEFORE;
	abd_cache_reap_now();
	abd_test_child_expect(errno == ERRNO_BEFORE);
	return 0;
}

Test(abd_errno, is_kept_by_a_reap_that_is_the_first_call)
{
	abd_test_child_passes("errno_of_a_start", NULL);
}

#if ABD_HAS_ARC
static void evicted(abd_arc_evicted_t *record, void *arg)
{
	abd_free(abd_arc_evicted_take(record));
	errno = ERRNO_INSIDE;
	set_inside++;
}

static void evicted_keeps(abd_arc_evicted_t *record, void *arg)
{
	abd_t *taken;

	keeps_errno_begin();
	taken = abd_arc_evicted_take(record);
	keeps_errno_end("abd_arc_evicted_take");
	abd_free(taken);
	keeps_errno_begin(); /* the call that is under way goes on */
}

static void fill_cache(abd_arc_t *arc, uint64_t pool, size_t records)
{
	static char text[30000];
	uint64_t seed = pool;

	for (uint64_t n = 0; n < records; n++) {
		abd_arc_key_t key = {.pool = pool, .birth = n};

		abd_test_random_fill(&seed, text, sizeof(text) / 2);
		(void)abd_arc_put(arc, &key, text, 1000 + n * 37 % 29000);
	}
}

static void caches_keep_it(void (*cb)(abd_arc_evicted_t *record, void *arg))
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 8 << 20, .evicted_cb = cb};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	size_t held = 0;

	cr_assert_not_null(arc);
	fill_cache(arc, 1, 2000);
	for (uint64_t n = 0; n < 2000; n++) {
		abd_arc_key_t key = {.pool = 1, .birth = n};

		if (abd_arc_hold(arc, &key, &hold) != 0)
			continue;
		held++;
		if (n % 3 == 0)
			keeps_errno(abd_arc_remove, arc, &key);
		if (n % 3 == 1)
			keeps_errno(abd_arc_hold_drop, arc, &hold);
		keeps_errno(abd_arc_release, &hold);
	}
	cr_assert_gt(held, 100);

	abd_arc_key_t missing = {.pool = 3, .birth = 1};

	cr_assert_eq(abd_arc_hold_or_fill(arc, &missing, LARGE, 0, &hold, &fill), 1);
	keeps_errno(abd_arc_fill_abandon, &fill);
	fill_cache(arc, 2, 2000);
	keeps_errno(abd_arc_remove_pool, arc, 1);
	keeps_errno(abd_arc_trim, arc, 1 << 20, 0);
	keeps_errno(abd_arc_resize, arc, 4 << 20);
	keeps_errno(abd_arc_destroy, arc);
	cr_assert_gt(set_inside, 8, "only %u calls inside set it", set_inside);
}

Test(abd_errno, caches_keep_it)
{
	caches_keep_it(NULL);
}

Test(abd_errno, caches_keep_it_round_eviction_callbacks)
{
	caches_keep_it(evicted);
}

Test(abd_errno, is_kept_when_a_callback_takes_a_record)
{
	caches_keep_it(evicted_keeps);
}
#endif

#if ABD_HAS_URING
Test(abd_errno, a_ring_that_ends_keeps_it)
{
	struct abd_uring uring = {.abd_home = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

	keeps_errno(abd_uring_end, &uring);
	cr_assert_eq(set_inside, 1);
}
#endif
