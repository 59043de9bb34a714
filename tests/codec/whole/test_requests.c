/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls that a request makes want of its thread, the first ones of a process too: buffer.h
 * promises that 24 KiB of stack are enough, and that a cancelled thread ends in none of them but
 * abd_pread() and abd_pwrite().
 */
#include "abd_quarantine.h"
#include "abd_test.h"

#pragma GCC diagnostic ignored "-Wunused-result"

#if defined(__has_feature)
#define has_feature(name) __has_feature(name)
#else
#define has_feature(name) 0
#endif

/* Checkers and builds without optimisation take several times as much. */
#if defined(ABD_ASAN) || defined(__SANITIZE_THREAD__) || has_feature(thread_sanitizer) || \
	has_feature(memory_sanitizer) || !defined(__OPTIMIZE__) || ABD_CHECKED
enum { STACK = 512 << 10 };
#else
enum { STACK = 24 << 10 };
#endif

enum { PAGE = 4096, SIZE = 200000, PAINT = 0xa5 };

#define expect(condition)                  \
	do {                               \
		if (!(condition))          \
			return #condition; \
	} while (0)

static char memory[SIZE];

static int visit(void *buf, size_t size, void *priv)
{
	return 0;
}

static int visit_const(const void *buf, size_t size, void *priv)
{
	return 0;
}

static int visit2(void *a, void *b, size_t size, void *priv)
{
	return 0;
}

static void gen(void **c, const void *d, size_t csize, size_t dsize)
{
}

static void rec(void **t, const size_t size, void **c, const unsigned *mul)
{
}

static const char *buffers(void)
{
	abd_t *a = abd_alloc(SIZE, false), *b = abd_alloc(SIZE, true), *gang = abd_alloc_gang();
	abd_t *columns[2][3];
	struct iovec iov[8];
	size_t covered;
	void *lent;

	memset(memory, 0, SIZE);
	expect(a != NULL && b != NULL && gang != NULL);
	expect(abd_is_aligned(a, 0, SIZE - SIZE % 512, 512));
	expect(abd_tuning_set("max_order", abd_test_tunable("max_order")) == 0);
	expect(abd_gang_add(gang, abd_alloc_linear(1000, false), true) == 0);
	expect(abd_gang_add(gang, abd_get_offset_size(b, 100, SIZE - 1000), true) == 0);
	abd_zero(a, SIZE);
	abd_copy(b, a, SIZE);
	abd_copy_off(gang, a, 0, 0, SIZE);
	abd_copy_from_buf(a, memory, SIZE);
	abd_copy_to_buf(memory, gang, SIZE);
	expect(abd_cmp(a, b) == 0 && abd_equal(a, gang) && abd_cmp_zero(a, SIZE) == 0);
	expect(abd_cmp_buf(a, memory, SIZE) == 0 && abd_diff_off(a, gang, 0, 0, SIZE) == SIZE);
	expect(abd_iterate_func(a, 0, SIZE, visit, NULL) == 0);
	expect(abd_iterate_func_const(a, 0, SIZE, visit_const, NULL) == 0);
	expect(abd_iterate_func2(a, gang, 0, 0, SIZE, visit2, NULL) == 0);
	lent = abd_borrow_buf_copy(gang, SIZE);
	expect(lent != NULL);
	abd_return_buf_copy(gang, lent, SIZE);
	expect(abd_to_iov(a, 0, SIZE, iov, 8, &covered) > 0);
	abd_flush_copy_off(b, a, 0, 0, SIZE, 0);
	abd_flush_copy_to_buf_off(memory, a, 0, SIZE, 0);
	abd_flush_copy_from_buf_off(a, memory, 0, SIZE, 0);
	abd_flush_drain();
	for (int i = 0; i < 6; i++)
		expect((columns[i / 3][i % 3] = abd_alloc(1 << 14, false)) != NULL);
	abd_raidz_gen_iterate(columns[0], a, 0, 1 << 14, 1 << 14, 3, gen);
	abd_raidz_rec_iterate(columns[0], columns[1], 1 << 14, 3, rec, NULL);
	for (int i = 0; i < 6; i++)
		abd_free(columns[i / 3][i % 3]);
	abd_verify(gang);
	abd_free(gang);
	abd_free(a);
	abd_free(b);
	abd_cache_reap_now();
	return NULL;
}

static const char *codecs(void)
{
	abd_t *a = abd_alloc(SIZE, false), *b = abd_alloc(SIZE, false), *c = abd_alloc(SIZE, false);
	static union {
		struct abd_lz4_index index;
		char room[4096];
	} index;
	uint64_t sums[4], seed = 1;
	ssize_t stored;

	abd_test_random_fill(&seed, memory, SIZE);
	memset(memory + SIZE / 4, 1, SIZE / 2);
	abd_copy_from_buf(a, memory, SIZE);
	for (int effort = 0; effort <= 12; effort += 3) {
		stored = abd_lz4_compress_effort(b, a, 0, 0, SIZE, effort);
		expect(stored > 0);
		expect(abd_lz4_decompress(c, b, 0, SIZE, 0, (size_t)stored) == SIZE);
		expect(abd_lz4_decompress_to_buf(memory, b, SIZE, 0, (size_t)stored) == SIZE);
		expect(abd_lz4_decompress_range_to_buf(memory, b, 999, 99, 0, (size_t)stored) ==
			99);
		stored = abd_lz4_compress_indexed(b, a, 0, 0, SIZE, 4096, effort, &index.index);
		expect(stored > 0);
		expect(abd_lz4_decompress_indexed_range_to_buf(
			       memory, b, 99999, 99, 0, (size_t)stored, &index.index) == 99);
	}
	expect(abd_equal(a, c));
	expect(abd_lz4_might_pay(a, 0, SIZE));
	abd_fletcher_4(a, 0, SIZE, sums);
	abd_fletcher_4_swapped(a, 0, SIZE, sums);
	expect(abd_crc32c(a, 0, SIZE, 0) == abd_crc32c(c, 0, SIZE, 0));
	expect(abd_xxh3(a, 0, SIZE, 0) == abd_xxh3(c, 0, SIZE, 0));
	abd_free(a);
	abd_free(b);
	abd_free(c);
	return NULL;
}

static const char *files(void)
{
	abd_t *a = abd_alloc(SIZE, false);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC),
	    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	expect(a != NULL && null >= 0 && zero >= 0);
	expect(abd_pread(zero, a, 0, SIZE, 0) == SIZE);
	expect(abd_pwrite(null, a, 0, SIZE, 0) == SIZE);
	close(null);
	close(zero);
	abd_free(a);
	return NULL;
}

#if ABD_HAS_ARC
static void evicted(abd_arc_evicted_t *record, void *arg)
{
}

static int visit_record(const abd_arc_key_t *key, size_t logical, size_t stored, void *arg)
{
	return 0;
}

static const char *cache(void)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 4 << 20,
		.lz4_index_min = 16 << 10,
		.lz4_effort = 9,
		.evicted_cb = evicted};
	abd_arc_t *arc = abd_arc_create(&config);
	abd_arc_key_t keys[4];
	abd_arc_hold_t hold, holds[4];
	abd_arc_fill_t fill;
	struct abd_arc_stats stats;
	int results[4];
	size_t needed;

	expect(arc != NULL);
	for (uint64_t n = 0; n < 300; n++) {
		abd_arc_key_t key = {.pool = n % 2, .birth = n};
		size_t size = 1000 + n * 997 % 100000;

		keys[n % 4] = key;
		expect(abd_arc_put(arc, &key, memory, size) == 0);
		(void)abd_arc_read(arc, &key, memory, 10, 100);
		(void)abd_arc_read_all(arc, &key, memory, SIZE, &needed);
		if (abd_arc_hold(arc, &key, &hold) == 0) {
			(void)abd_arc_hold_read(&hold, memory, 0, size);
			abd_arc_release(&hold);
		}
		key.dva[0] = 1;
		int began = abd_arc_hold_or_fill(arc, &key, 8192, 0, &hold, &fill);

		expect(began >= 0);
		if (began == 1) {
			abd_copy_from_buf(fill.abd, memory, 8192);
			(void)abd_arc_fill_commit(&fill, 8192, 8192, 0, NULL);
		} else {
			abd_arc_release(&hold);
		}
	}
	(void)abd_arc_hold_many(arc, keys, holds, results, 4);
	for (int i = 0; i < 4; i++)
		if (results[i] == 0)
			abd_arc_release(&holds[i]);
	(void)abd_arc_each(arc, visit_record, NULL);
	(void)abd_arc_remove(arc, &keys[0]);
	(void)abd_arc_remove_pool(arc, 1);
	(void)abd_arc_trim(arc, 1 << 20, 0);
	(void)abd_arc_resize(arc, 2 << 20);
	(void)abd_arc_stats_get(arc, &stats, sizeof(stats));
	abd_arc_destroy(arc);
	return NULL;
}
#else
static const char *cache(void)
{
	return NULL;
}
#endif

/* Below the stack lies a page that can't be touched. */
static void *requests(void *arg)
{
	const char *(*const parts[])(void) = {buffers, codecs, files, cache};
	const char *failed = NULL;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && failed == NULL; i++)
		failed = parts[i]();
	return (void *)failed;
}

ABD_TEST_CHILD(small_stack)
{
	/* arm64 has no stack as small. There as much may be used of a larger one. */
	size_t least = (size_t)PTHREAD_STACK_MIN, stack = least > STACK ? least : STACK, left = 0;
	unsigned char *map = mmap(NULL, PAGE + stack, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	void *failed;

	abd_test_child_expect(map != MAP_FAILED && mprotect(map, PAGE, PROT_NONE) == 0);
	memset(map + PAGE, PAINT, stack);
	pthread_attr_init(&attributes);
	abd_test_child_expect(pthread_attr_setstack(&attributes, map + PAGE, stack) == 0);
	abd_test_child_expect(pthread_create(&thread, &attributes, requests, NULL) == 0);
	abd_test_child_expect(pthread_join(thread, &failed) == 0);
	if (failed != NULL)
		fprintf(stderr, "not so: %s\n", (const char *)failed);
	abd_test_child_expect(failed == NULL);
	while (left < stack && map[PAGE + left] == PAINT)
		left++;
	fprintf(stderr, "%zu bytes of the stack of %zu were used\n", stack - left, stack);
	abd_test_child_expect(stack - left <= STACK);
	munmap(map, PAGE + stack);
	return 0;
}

Test(abd_requests, have_enough_with_24_kib_of_stack)
{
	abd_test_child_passes("small_stack", NULL);
}

static const char *failed_when_cancelled;
static bool has_returned;

static void *cancelled(void *part)
{
	const char *(*const run)(void) = *(const char *(*const *)(void))part;

	pthread_cancel(pthread_self());
	failed_when_cancelled = run();
	has_returned = true;
	pthread_testcancel();
	return NULL;
}

/* Whether a thread that is cancelled before its first call ends behind its last one. */
static bool ends_behind(const char *(*part)(void))
{
	pthread_t thread;
	void *how;

	has_returned = false;
	failed_when_cancelled = NULL;
	if (pthread_create(&thread, NULL, cancelled, (void *)&part) != 0 ||
		pthread_join(thread, &how) != 0)
		return false;
	if (failed_when_cancelled != NULL)
		fprintf(stderr, "not so: %s\n", failed_when_cancelled);
	return has_returned && how == PTHREAD_CANCELED && failed_when_cancelled == NULL;
}

ABD_TEST_CHILD(cancelled_requests)
{
	const char *(*const parts[])(void) = {cache, codecs, buffers};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		abd_test_child_expect(ends_behind(parts[i]));
	return 0;
}

Test(abd_requests, of_a_cancelled_thread_run_to_their_ends)
{
	abd_test_child_passes("cancelled_requests", NULL);
}

static struct {
	abd_t *abd;
	int fd;
	bool writes;
} transfer;

static void *cancelled_transfer(void *arg)
{
	pthread_cancel(pthread_self());
	if (transfer.writes)
		(void)abd_pwrite(transfer.fd, transfer.abd, 0, SIZE, 0);
	else
		(void)abd_pread(transfer.fd, transfer.abd, 0, SIZE, 0);
	return NULL;
}

Test(abd_requests, may_be_cancelled_in_a_transfer_which_leaves_nothing_behind)
{
	for (int i = 0; i < 2; i++) {
		struct abd_stats before = abd_test_stats(), after;
		pthread_t thread;
		void *how;

		transfer.writes = i == 1;
		transfer.fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
		cr_assert_not_null(transfer.abd = abd_alloc(SIZE, false));
		abd_zero(transfer.abd, SIZE);
		cr_assert_eq(pthread_create(&thread, NULL, cancelled_transfer, NULL), 0);
		cr_assert_eq(pthread_join(thread, &how), 0);
		cr_assert_eq(how, PTHREAD_CANCELED);
		cr_assert_eq(abd_pread(transfer.fd, transfer.abd, 0, SIZE, 0), SIZE);
		abd_free(transfer.abd);
		close(transfer.fd);
		after = abd_test_stats();
		cr_assert(abd_test_gauges_equal(&before, &after));
	}
}
