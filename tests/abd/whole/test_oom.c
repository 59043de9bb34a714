/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out at every single allocation of every call that allocates. The call must return
 * NULL or -ENOMEM, leak nothing and change nothing, and the next call must work.
 * Each case first runs once to count its allocation sites. Then it runs once for each site with
 * only that one refused, and once with that one and all that follow refused. The count is printed,
 * so that a vanished site is noticed.
 */
#include "abd_gang.h"
#include "abd_test.h"

#include <abd/pool.h>

#define SIZE ABD_TEST_KIND_SIZE

/* What the cases work on. Their calls leave it as it was, whether they succeed or not. */
static struct {
	struct abd_test_buffer mixed, gang_buffer, linear, target;
	abd_t *gang, *full; /* an empty one, one whose table is full */
	abd_t own;
	char flat[64];
} f;

/*
 * Each case calls once, undoes what it did, and returns whether there was memory; errno must say so
 * if not.
 */

static bool ended(abd_t *abd)
{
	bool there = abd != NULL;

	cr_assert(there || errno == ENOMEM, "errno is %d", errno);
	abd_free(abd);
	return there;
}

static bool alloc_single(void)
{
	return ended(abd_alloc(8192, false));
}

static bool alloc_without_the_rule(void)
{
	abd_tuning_set("linear_page", "0");

	bool there = ended(abd_alloc(8192, false));

	abd_tuning_set("linear_page", "1");
	return there;
}

static bool alloc_many_runs(void)
{
	return ended(abd_alloc(7 * 4096 + 1 - 4096, true));
}

static bool alloc_refused_orders(void)
{
	abd_test_refuse_script("x.x");

	bool there = ended(abd_alloc(SIZE, false));

	abd_test_refuse_nothing();
	return there;
}

static bool alloc_small(void)
{
	return ended(abd_alloc(100, false));
}

static bool alloc_linear(void)
{
	return ended(abd_alloc_linear(SIZE, true));
}

static bool alloc_linear_struct(void)
{
	memset(&f.own, 0x77, sizeof(f.own));
	if (abd_alloc_linear_struct(&f.own, 5000, false) != NULL)
		return ended(&f.own);
	for (size_t i = 0; i < sizeof(f.own); i++)
		cr_assert_eq(((char *)&f.own)[i], 0x77, "the struct was written");
	return ended(NULL);
}

static bool alloc_for_io(void)
{
	return ended(abd_alloc_for_io(100, false));
}

static bool alloc_sametype(void)
{
	return ended(abd_alloc_sametype(f.mixed.abd, SIZE));
}

static bool alloc_gang(void)
{
	return ended(abd_alloc_gang());
}

static bool buf_alloc(void)
{
	void *buf = abd_buf_alloc(70000, true);

	cr_assert(buf != NULL || errno == ENOMEM);
	abd_buf_free(buf, 70000);
	return buf != NULL;
}

static bool get_offset(void)
{
	return ended(abd_get_offset(f.mixed.abd, 1));
}

static bool get_offset_size(void)
{
	return ended(abd_get_offset_size(f.gang_buffer.abd, 1, 9000));
}

static bool get_offset_const(void)
{
	const abd_t *view = abd_get_offset_const(f.gang_buffer.abd, 1, 9000);

	cr_assert(view != NULL || errno == ENOMEM);
	abd_free_const(view);
	return view != NULL;
}

static bool get_zeros(void)
{
	return ended(abd_get_zeros(1));
}

static bool get_from_buf(void)
{
	return ended(abd_get_from_buf(f.flat, sizeof(f.flat)));
}

static size_t callbacks;

static void callback(void *buf, size_t size, void *arg)
{
	callbacks++;
}

static bool get_from_buf_cb(void)
{
	size_t ran = callbacks;
	bool there = ended(abd_get_from_buf_cb(f.flat, sizeof(f.flat), callback, NULL));

	cr_assert_eq(callbacks, ran + there);
	return there;
}

static bool from_iov(void)
{
	struct iovec iov[] = {{f.flat, 1}, {f.flat + 1, 0}, {f.flat + 2, 3}, {f.flat + 9, 1},
		{f.flat, 1}, {f.flat, 1}, {f.flat, 1}, {f.flat, 64}};

	return ended(abd_from_iov(iov, 8));
}

/* Add to a gang that is thrown away afterwards; and check that a refusal changed neither side. */
static bool gang_add(abd_t *gang, abd_t *child, bool free_it)
{
	size_t size = abd_get_size(gang), child_size = abd_get_size(child);
	uint32_t refs = child->abd_gang_refs;
	abd_flags_t flags = child->abd_flags;
	int error = abd_gang_add(gang, child, free_it);

	if (error == 0)
		return true;
	cr_assert_eq(error, -ENOMEM);
	cr_assert_eq(abd_get_size(gang), size);
	cr_assert(abd_get_size(child) == child_size && child->abd_gang_refs == refs &&
			  child->abd_flags == flags,
		"the child changed");
	return false;
}

/* A gang of count linear buffers that it owns; made without faults. */
static abd_t *gang_of(size_t count)
{
	abd_t *gang = abd_alloc_gang();

	for (size_t i = 0; i < count; i++)
		cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(10, false), true), 0);
	return gang;
}

static bool gang_add_first(void)
{
	abd_t gang;

	abd_alloc_gang_struct(&gang);

	bool there = gang_add(&gang, f.linear.abd, false);

	abd_free(&gang);
	return there;
}

/* The cases with a gang to begin with have it made by prepare, outside the faults. */
static abd_t *first, *second;

static void prepare_full(void)
{
	first = gang_of(6);
	cr_assert_eq(ABD_GANG(first).abd_table->capacity, 6);
}

static void prepare_two(void)
{
	first = gang_of(4);
	second = gang_of(9);
}

static void unprepare(void)
{
	abd_free(first);
	abd_free(second);
	first = second = NULL;
}

static void prepare_child(void)
{
	first = gang_of(6);
	second = abd_alloc_linear(10, false);
}

static bool gang_add_hands_over(void)
{
	if (!gang_add(first, second, true))
		return false;
	second = NULL;
	return true;
}

static bool gang_add_grows(void)
{
	return gang_add(first, f.linear.abd, false);
}

static bool gang_add_shares(void)
{
	return gang_add(first, second, false);
}

static bool gang_add_swallows(void)
{
	if (!gang_add(first, second, true))
		return false;
	second = NULL;
	return true;
}

static bool borrow(void)
{
	char *buf = abd_borrow_buf_copy(f.mixed.abd, SIZE);

	cr_assert(buf != NULL || errno == ENOMEM);
	if (buf != NULL)
		abd_return_buf(f.mixed.abd, buf, SIZE);
	return buf != NULL;
}

static bool borrow_const(void)
{
	const abd_t *abd = f.mixed.abd;
	const void *buf = abd_borrow_buf_const(abd, SIZE);

	cr_assert(buf != NULL || errno == ENOMEM);
	if (buf != NULL)
		abd_return_buf_const(abd, buf, SIZE);
	return buf != NULL;
}

static bool borrow_without_content(void)
{
	char *buf = abd_borrow_buf(f.gang_buffer.abd, 9000);

	cr_assert(buf != NULL || errno == ENOMEM);
	if (buf == NULL)
		return false;
	memcpy(buf, f.gang_buffer.model, 9000);
	abd_return_buf_copy(f.gang_buffer.abd, buf, 9000);
	return true;
}

static bool borrow_linear(void)
{
	char *buf = abd_borrow_buf(f.linear.abd, SIZE);

	cr_assert(buf != NULL || errno == ENOMEM);
	if (buf != NULL)
		abd_return_buf(f.linear.abd, buf, SIZE);
	return buf != NULL;
}

/* lz4: what the room then holds is no promise, so the target is not looked at. */

static bool done(ssize_t result)
{
	cr_assert(result >= 0 || result == -ENOMEM, "%zd", result);
	return result >= 0;
}

static ssize_t block_size;

static void prepare_block(void)
{
	abd_zero(f.target.abd, SIZE);
	block_size = abd_lz4_compress(f.target.abd, f.mixed.abd, 3, 0, 9000);
	cr_assert_gt(block_size, 0);
}

static bool lz4_compress(void)
{
	return done(abd_lz4_compress(f.target.abd, f.mixed.abd, 3, 0, 9000));
}

static bool lz4_decompress(void)
{
	abd_t *to = first;

	return done(abd_lz4_decompress(to, f.target.abd, 1, 9000, 3, (size_t)block_size));
}

static void prepare_scattered(void)
{
	prepare_block();
	abd_tuning_set("max_order", "0");
	first = abd_alloc(SIZE, false);
	abd_tuning_set("max_order", "10");
}

static void prepare_gang_room(void)
{
	prepare_block();
	first = abd_alloc_gang();
	for (size_t i = 0; i < 100; i++)
		cr_assert_eq(abd_gang_add(first, abd_alloc_linear(100, false), true), 0);
}

/* The block itself in many pieces. */
static void prepare_gang_block(void)
{
	void *buf;

	prepare_block();
	first = gang_of(2000);
	buf = abd_borrow_buf_copy(f.target.abd, SIZE);
	abd_copy_from_buf(first, (char *)buf + 3, (size_t)block_size);
	abd_return_buf(f.target.abd, buf, SIZE);
}

static bool lz4_decompress_exact(void)
{
	abd_t *to = first;

	return done(abd_lz4_decompress_exact(to, f.target.abd, 1, 9000, 3, (size_t)block_size));
}

static bool lz4_decompress_to_buf(void)
{
	char *to = malloc(9000);
	bool there = done(abd_lz4_decompress_to_buf(to, f.target.abd, 9000, 3, (size_t)block_size));

	cr_assert(!there || memcmp(to, f.mixed.model, 9000) == 0);
	free(to);
	return there;
}

static bool lz4_decompress_pieces(void)
{
	char *to = malloc(9000);
	bool there = done(abd_lz4_decompress_to_buf(to, first, 9000, 0, (size_t)block_size));

	cr_assert(!there || memcmp(to, f.mixed.model, 9000) == 0);
	free(to);
	return there;
}

static bool lz4_decompress_exact_to_buf(void)
{
	char *to = malloc(9000);
	bool there = done(abd_lz4_decompress_exact_to_buf(to, first, 9000, 0, (size_t)block_size));

	cr_assert(!there || memcmp(to, f.mixed.model, 9000) == 0);
	free(to);
	return there;
}

static bool lz4_decompress_range(void)
{
	char to[100];
	bool there = done(abd_lz4_decompress_range_to_buf(
		to, f.target.abd, 5000, 100, 3, (size_t)block_size));

	cr_assert(!there || memcmp(to, f.mixed.model + 5000, 100) == 0);
	return there;
}

/* With memory for 9 points behind the head. */
static union {
	struct abd_lz4_index head;
	uint8_t memory[sizeof(struct abd_lz4_index) + 9 * 2 * sizeof(uint32_t)];
} block_index;

static bool lz4_compress_effort(void)
{
	return done(abd_lz4_compress_effort(f.target.abd, f.mixed.abd, 3, 0, 9000, 3));
}

static bool lz4_compress_indexed(void)
{
	return done(abd_lz4_compress_indexed(
		f.target.abd, f.mixed.abd, 3, 0, 9000, 1024, 3, &block_index.head));
}

static void prepare_indexed(void)
{
	abd_zero(f.target.abd, SIZE);
	block_size = abd_lz4_compress_indexed(
		f.target.abd, f.mixed.abd, 3, 0, 9000, 1024, 3, &block_index.head);
	cr_assert_gt(block_size, 0);
}

static bool lz4_decompress_indexed_range(void)
{
	char to[100];
	bool there = done(abd_lz4_decompress_indexed_range_to_buf(
		to, f.target.abd, 5010, 100, 3, (size_t)block_size, &block_index.head));

	cr_assert(!there || memcmp(to, f.mixed.model + 5010, 100) == 0);
	return there;
}

static const struct oom_case {
	const char *name;
	bool (*call)(void);
	void (*prepare)(void);
} cases[] = {
	{"abd_alloc, single run", alloc_single, NULL},
	{"abd_alloc, single run without the rule", alloc_without_the_rule, NULL},
	{"abd_alloc, several orders", alloc_many_runs, NULL},
	{"abd_alloc, refused orders", alloc_refused_orders, NULL},
	{"abd_alloc, small", alloc_small, NULL},
	{"abd_alloc_linear", alloc_linear, NULL},
	{"abd_alloc_linear_struct", alloc_linear_struct, NULL},
	{"abd_alloc_for_io", alloc_for_io, NULL},
	{"abd_alloc_sametype", alloc_sametype, NULL},
	{"abd_alloc_gang", alloc_gang, NULL},
	{"abd_buf_alloc", buf_alloc, NULL},
	{"abd_get_offset", get_offset, NULL},
	{"abd_get_offset_size", get_offset_size, NULL},
	{"abd_get_offset_const", get_offset_const, NULL},
	{"abd_get_zeros", get_zeros, NULL},
	{"abd_get_from_buf", get_from_buf, NULL},
	{"abd_get_from_buf_cb", get_from_buf_cb, NULL},
	{"abd_from_iov", from_iov, NULL},
	{"abd_gang_add, the first child", gang_add_first, NULL},
	{"abd_gang_add, a full table", gang_add_grows, prepare_full},
	{"abd_gang_add, a child that goes over", gang_add_hands_over, prepare_child},
	{"abd_gang_add, sharing a gang's children", gang_add_shares, prepare_two},
	{"abd_gang_add, swallowing a gang", gang_add_swallows, prepare_two},
	{"abd_borrow_buf_copy", borrow, NULL},
	{"abd_borrow_buf_const", borrow_const, NULL},
	{"abd_borrow_buf", borrow_without_content, NULL},
	{"abd_borrow_buf of a linear buffer", borrow_linear, NULL},
	{"abd_lz4_compress", lz4_compress, NULL},
	{"abd_lz4_compress_effort", lz4_compress_effort, NULL},
	{"abd_lz4_compress_indexed", lz4_compress_indexed, NULL},
	{"abd_lz4_decompress_indexed_range_to_buf", lz4_decompress_indexed_range, prepare_indexed},
	{"abd_lz4_decompress", lz4_decompress, prepare_scattered},
	{"abd_lz4_decompress into a gang", lz4_decompress, prepare_gang_room},
	{"abd_lz4_decompress_exact", lz4_decompress_exact, prepare_scattered},
	{"abd_lz4_decompress_exact_to_buf", lz4_decompress_exact_to_buf, prepare_gang_block},
	{"abd_lz4_decompress_to_buf", lz4_decompress_to_buf, prepare_block},
	{"abd_lz4_decompress_to_buf from a gang", lz4_decompress_pieces, prepare_gang_block},
	{"abd_lz4_decompress_range_to_buf", lz4_decompress_range, prepare_block},
};

enum fault { NONE, ONE, FROM };

/*
 * Run a case with a fault; everything must stand as before. Returns whether the call found memory.
 */
static bool run(const struct oom_case *c, enum fault fault, size_t n, size_t *sites)
{
	struct abd_stats before = abd_test_stats(), after;
	size_t runs = abd_test_runs_out_all();
	bool there;

	if (c->prepare != NULL)
		c->prepare();
	if (fault == NONE)
		abd_test_fault_count();
	else if (fault == ONE)
		abd_test_fault_at(n);
	else
		abd_test_fault_from(n);
	there = c->call();
	*sites = abd_test_fault_end();
	unprepare();
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after), "%s leaks, site %zu", c->name, n);
	cr_assert_eq(abd_test_runs_out_all(), runs, "%s leaks a run, site %zu", c->name, n);
	cr_assert_eq(abd_test_differs(&f.mixed), SIZE, "%s changed its input", c->name);
	cr_assert_eq(abd_test_differs(&f.gang_buffer), SIZE, "%s changed its input", c->name);
	cr_assert_eq(abd_test_differs(&f.linear), SIZE, "%s changed its input", c->name);
	return there;
}

static size_t run_case(const struct oom_case *c)
{
	size_t sites, met;

	cr_assert(run(c, NONE, 0, &sites), "%s refuses though there is memory", c->name);
	for (size_t n = 0; n < sites; n++) {
		/* A single run that is refused is no end: lower orders take its place. */
		run(c, ONE, n, &met);
		cr_assert_gt(met, n, "%s does not reach site %zu", c->name, n);
		cr_assert(
			!run(c, FROM, n, &met), "%s needs no memory from site %zu on", c->name, n);
	}
	cr_assert(run(c, NONE, 0, &met), "%s does not recover", c->name);
	cr_assert_eq(met, sites, "%s: %zu sites, then %zu", c->name, sites, met);
	return sites;
}

static void begin(void)
{
	abd_test_provider_begin();
	abd_test_build(&f.mixed, 7, 1);
	abd_test_build(&f.gang_buffer, 18, 2);
	abd_test_build(&f.linear, 0, 3);
	abd_test_build(&f.target, 5, 4);
	ended(abd_get_zeros(1)); /* the shared zeroes are made once */
}

static void end(void)
{
	abd_test_drop(&f.target);
	abd_test_drop(&f.linear);
	abd_test_drop(&f.gang_buffer);
	abd_test_drop(&f.mixed);
	abd_test_provider_end();
}

Test(abd_oom, every_allocation_of_every_call_may_fail, .init = begin, .fini = end)
{
	size_t count = sizeof(cases) / sizeof(cases[0]), sites = 0;

	for (size_t i = 0; i < count; i++)
		sites += run_case(&cases[i]);
	fprintf(stderr, "abd_oom: %zu calls, %zu allocation sites refused\n", count, sites);
	cr_assert_geq(sites, 40, "only %zu sites", sites);
}

Test(abd_oom, a_single_refusal_falls_back_an_order, .init = begin, .fini = end)
{
	abd_test_fault_at(1); /* the struct, then the run */

	abd_t *abd = abd_alloc(8192, false);

	abd_test_fault_end();
	cr_assert(abd != NULL && !abd_is_linear(abd));
	abd_free(abd);
}

/*
 * What allocates once per process or thread, in a process of its own: nothing has happened there
 * yet.
 */
ABD_TEST_CHILD(oom_first_use)
{
	for (size_t n = 0;; n++) {
		abd_test_fault_from(n);

		abd_t *abd = abd_alloc(9000, false), *zeros = abd_get_zeros(100);
		void *buf = abd != NULL ? abd_borrow_buf(abd, 9000) : NULL;

		abd_test_fault_end();
		if (buf != NULL) {
			memset(buf, 0, 9000);
			abd_return_buf_copy(abd, buf, 9000);
		}
		abd_free(abd);
		abd_free(zeros);

		struct abd_stats stats = abd_test_stats();

		if (stats.struct_size != 0 || stats.scatter_cnt != 0 ||
			stats.scatter_data_size != 0)
			return 1;
		if (buf != NULL && zeros != NULL)
			return n > 3 ? 0 : 2;
	}
}

Test(abd_oom, first_use_of_a_thread_and_of_zeros_may_fail)
{
	abd_test_child_passes("oom_first_use", NULL);
}

static size_t asked;

static bool every_other(void)
{
	return asked++ % 2 == 0;
}

/*
 * The thread's own block is refused again and again: counting and freeing go the slow way, and
 * nothing is lost.
 */
ABD_TEST_CHILD(oom_thread_block)
{
	abd_t *abds[20];

	atomic_store(&abd_mem_fault, every_other);
	for (size_t i = 0; i < 20; i++)
		abds[i] = i % 2 == 0 ? abd_alloc_linear(100, false) : abd_alloc(5000, false);
	for (size_t i = 0; i < 20; i++)
		abd_free(abds[i]);
	atomic_store(&abd_mem_fault, NULL);

	struct abd_stats stats = abd_test_stats();

	return stats.struct_size == 0 && stats.linear_cnt == 0 && stats.scatter_cnt == 0 ? 0 : 1;
}

Test(abd_oom, a_thread_works_without_memory_of_its_own)
{
	abd_test_child_passes("oom_thread_block", NULL);
}

ABD_TEST_CHILD(oom_pool)
{
	void *base;
	size_t size;

	abd_test_fault_from(0);
	if (abd_pool_region(&base, &size) != -ENOMEM ||
		abd_tuning_set("chunk_provider", "pool") == 0)
		return 1;
	abd_test_fault_end();
	return abd_pool_region(&base, &size) == 0 ? 0 : 2;
}

Test(abd_oom, a_pool_that_can_not_be_had_is_refused)
{
	abd_test_child_passes("oom_pool", NULL);
}
