/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf-count: small operations of the library, for `abd-perf count`, which runs this program
 * under valgrind's callgrind. Each operation is warmed up, then done ABD_PERF_COUNT_TIMES times
 * between calls of abd_perf_count_begin() and abd_perf_count_end(): by these names callgrind
 * clears and writes its counts. A line of standard output names each operation, in the same order.
 * Invariant: nothing depends on time, on random bytes, or on where the system maps what.
 */
#include <abd/abd.h>
#include <abd/arc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define ABD_PERF_COUNT_TIMES 256
#define KIB ((size_t)1024)
#define LARGE (128 * KIB)

static abd_t *linear, *one, *pages, *other, *zeros, *gang;
static abd_arc_t *arc;
static abd_arc_key_t small, large, plain, turns;
static uint8_t bytes[LARGE], noise[8 * KIB], to[LARGE], key[256];
static volatile uint64_t sink;

/* ---- the operations, each of a size or at an offset ------------------------------------------ */

static void must(bool right)
{
	if (!right)
		abort();
}

static int each(void *buf, size_t size, void *sum)
{
	(void)buf;
	*(size_t *)sum += size;
	return 0;
}

static int each2(void *a, void *b, size_t size, void *sum)
{
	(void)b;
	return each(a, size, sum);
}

/* Defines op_NAME(size), which does one operation. */
#define OP(name, ...)                      \
	static void op_##name(size_t size) \
	{                                  \
		(void)size;                \
		__VA_ARGS__;               \
	}

OP(nothing, )
OP(alloc, abd_free(abd_alloc(size, false)))
OP(alloc_linear, abd_free(abd_alloc_linear(size, false)))
OP(view, abd_free(abd_get_offset_size(pages, 4 * KIB, size)))
OP(view_linear, abd_free(abd_get_offset_size(linear, 4 * KIB, size)))
OP(view_struct, abd_t view; abd_free(abd_get_offset_struct(&view, linear, 4 * KIB, size)))
OP(wrap, abd_free(abd_get_from_buf(bytes, size)))
OP(borrow, abd_return_buf(one, abd_borrow_buf(one, size), size))
OP(borrow_const, abd_return_buf_const(one, abd_borrow_buf_const(one, size), size))
OP(borrow_copy, abd_return_buf_copy(pages, abd_borrow_buf_copy(pages, LARGE), size))
OP(seek, abd_copy_to_buf_off(to, pages, size, 1))
OP(seek_gang, abd_copy_to_buf_off(to, gang, size, 1))
OP(iterate, size_t sum = 0; abd_iterate_func(pages, 0, size, each, &sum); sink = sum)
OP(iterate_gang, size_t sum = 0; abd_iterate_func(gang, 0, size, each, &sum); sink = sum)
OP(iterate2, size_t sum = 0; abd_iterate_func2(other, pages, 0, 0, size, each2, &sum); sink = sum)
OP(copy, abd_copy_off(other, pages, 0, 0, size))
OP(copy_shifted, abd_copy_off(zeros, pages, 64, 0, size))
OP(copy_from, abd_copy_from_buf_off(other, bytes, 0, size))
OP(copy_to, abd_copy_to_buf_off(to, pages, 0, size))
OP(zero, abd_zero_off(zeros, 0, size))
OP(equal, must(abd_equal_off(other, pages, 0, 0, size)))
OP(equal_linear, must(abd_equal_off(linear, pages, 0, 0, size)))
OP(equal_shifted, must(abd_equal_off(other, pages, 64, 64, size)))
OP(equal_buf, must(abd_equal_buf_off(pages, bytes, 0, size)))
OP(differ, must(abd_diff_off(other, pages, 0, 0, size) == size))
OP(cmp_zero, must(abd_cmp_zero_off(zeros, 0, size) == 0))
OP(key_equal, must(abd_key_equal(key, key + 1, size)))
OP(fletcher_4, uint64_t sum[4]; abd_fletcher_4(pages, 0, size, sum))
OP(crc32c, sink = abd_crc32c(pages, 0, size, 0))
OP(xxh3, sink = abd_xxh3(pages, 0, size, 0))
OP(stats, struct abd_stats stats; must(abd_stats_get(&stats, size) == 0))
OP(hold, abd_arc_hold_t hold; must(abd_arc_hold(arc, &small, &hold) == 0); abd_arc_release(&hold))
OP(read, must(abd_arc_read(arc, &small, to, 0, size) == (ssize_t)size))
OP(read_large, must(abd_arc_read(arc, &large, to, 48 * KIB, size) == (ssize_t)size))
OP(read_plain, must(abd_arc_read(arc, &plain, to, 0, size) == (ssize_t)size))
OP(contains, must(abd_arc_contains(arc, &small)))
OP(put, must(abd_arc_put(arc, &turns, bytes, size) == 0))
OP(put_noise, must(abd_arc_put(arc, &turns, noise, size) == 0))
OP(remove, op_put_noise(size); must(abd_arc_remove(arc, &turns) == 0))

static void op_miss(size_t size)
{
	turns.birth++;
	must(abd_arc_read(arc, &turns, to, 0, size) == -ENOENT);
}

static void op_fill(size_t size)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	turns.birth++;
	must(abd_arc_hold_or_fill(arc, &turns, size, 0, &hold, &fill) == 1);
	must(abd_arc_fill_commit(&fill, size, size, ABD_ARC_PLAIN, &hold) == 0);
	abd_arc_release(&hold);
}

static void op_gang(size_t size)
{
	abd_t *made = abd_alloc_gang();

	for (unsigned i = 0; i < 4; i++)
		must(abd_gang_add(made, abd_get_offset_size(linear, i * 8 * KIB, size), true) == 0);
	abd_free(made);
}

static const struct abd_perf_count_op {
	const char *name;
	void (*run)(size_t size);
	size_t size;
} ops[] = {
	{"nothing", op_nothing, 0}, /* the loop's own instructions: taken off the others' */
	{"alloc + free, 512", op_alloc, 512},
	{"alloc + free, 4k", op_alloc, 4 * KIB},
	{"alloc + free, 16k", op_alloc, 16 * KIB},
	{"alloc + free, 32 runs of 4k", op_alloc, LARGE},
	{"alloc + free, linear 4k", op_alloc_linear, 4 * KIB},
	{"wrap + free, 4k", op_wrap, 4 * KIB},
	{"view + free, of runs", op_view, 8 * KIB},
	{"view + free, of linear", op_view_linear, 8 * KIB},
	{"view + free, struct of the caller", op_view_struct, 8 * KIB},
	{"gang of 4 views, made + freed", op_gang, 4 * KIB},
	{"borrow + return, one run", op_borrow, 4 * KIB},
	{"borrow_const + return, one run", op_borrow_const, 4 * KIB},
	{"borrow_copy + return_copy, 32 runs", op_borrow_copy, LARGE},
	{"seek to the last of 32 runs", op_seek, LARGE - 1},
	{"seek to the last of 8 children", op_seek_gang, 64 * KIB - 1},
	{"iterate, 32 runs", op_iterate, LARGE},
	{"iterate, gang of 8", op_iterate_gang, 64 * KIB},
	{"iterate2, 32 runs of each", op_iterate2, LARGE},
	{"copy, 64", op_copy, 64},
	{"copy, 512", op_copy, 512},
	{"copy, 4k", op_copy, 4 * KIB},
	{"copy, 16k", op_copy, 16 * KIB},
	{"copy, 16k to other edges", op_copy_shifted, 16 * KIB},
	{"copy from a buffer, 4k", op_copy_from, 4 * KIB},
	{"copy to a buffer, 4k", op_copy_to, 4 * KIB},
	{"zero, 16k", op_zero, 16 * KIB},
	{"equal, 64", op_equal, 64},
	{"equal, 512", op_equal, 512},
	{"equal, 4k", op_equal, 4 * KIB},
	{"equal, 16k", op_equal, 16 * KIB},
	{"equal, 16k within runs", op_equal_shifted, 16 * KIB},
	{"equal, 16k with linear", op_equal_linear, 16 * KIB},
	{"equal, 4k with a buffer", op_equal_buf, 4 * KIB},
	{"diff_off, 4k", op_differ, 4 * KIB},
	{"cmp_zero, 16k", op_cmp_zero, 16 * KIB},
	{"key_equal, 8", op_key_equal, 8},
	{"key_equal, 24", op_key_equal, 24},
	{"key_equal, 200", op_key_equal, 200},
	{"fletcher_4, 16k", op_fletcher_4, 16 * KIB},
	{"crc32c, 16k", op_crc32c, 16 * KIB},
	{"xxh3, 16k", op_xxh3, 16 * KIB},
	{"stats_get", op_stats, offsetof(struct abd_stats, resident_regions)},
	{"hold + release", op_hold, 0},
	{"contains", op_contains, 0},
	{"cached read, 8", op_read, 8},
	{"cached read, 8k", op_read, 8 * KIB},
	{"cached read, 8k of 128k", op_read_large, 8 * KIB},
	{"cached read, 8k not compressed", op_read_plain, 8 * KIB},
	{"put, 8k", op_put, 8 * KIB},
	{"put, 8k not compressed", op_put_noise, 8 * KIB},
	{"put + remove, 8k not compressed", op_remove, 8 * KIB},
	{"miss", op_miss, 8 * KIB},
	{"miss + fill, 8k", op_fill, 8 * KIB},
};

/* ---- the C library's part -------------------------------------------------------------------- */

/*
 * The linker exports these from a program that is linked with libabd.so, and the loader sends the
 * library's calls here. So bytes and allocations are counted where they happen, and nothing depends
 * on the CPU for which the C library chooses its memcpy(), on the clock, or on random bytes.
 */
#define OURS __attribute__((visibility("default")))

static struct {
	uint64_t allocations;
	uint64_t moved; /* bytes given to memcpy(), memmove() and memset() */
	long ms;        /* what the clock says */
} counted;

/* glibc's own names of its allocator. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

OURS void *malloc(size_t size)
{
	counted.allocations++;
	return __libc_malloc(size);
}

OURS void *calloc(size_t count, size_t size)
{
	counted.allocations++;
	return __libc_calloc(count, size);
}

OURS void *aligned_alloc(size_t alignment, size_t size)
{
	counted.allocations++;
	return __libc_memalign(alignment, size);
}

/* In assembly: of a loop the compiler would make a call of memcpy(). */
OURS void *memcpy(void *dst, const void *src, size_t size)
{
	void *end = dst;

	counted.moved += size;
	__asm__ volatile("rep movsb" : "+D"(end), "+S"(src), "+c"(size) : : "memory");
	return dst;
}

OURS void *memmove(void *dst, const void *src, size_t size)
{
	char *end = (char *)dst + size - 1;
	const char *from = (const char *)src + size - 1;

	if ((uintptr_t)dst - (uintptr_t)src >= size)
		return memcpy(dst, src, size);
	counted.moved += size;
	__asm__ volatile("std; rep movsb; cld" : "+D"(end), "+S"(from), "+c"(size) : : "memory");
	return dst;
}

OURS void *memset(void *dst, int byte, size_t size)
{
	void *end = dst;

	counted.moved += size;
	__asm__ volatile("rep stosb" : "+D"(end), "+c"(size) : "a"(byte) : "memory");
	return dst;
}

/* The seed of the cache's hashes. */
OURS ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
	(void)flags;
	memset(buf, 42, size);
	return (ssize_t)size;
}

/* Time passes between operations only: counted.ms is set there. */
OURS int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = 1 + counted.ms / 1000;
	now->tv_nsec = counted.ms % 1000 * 1000000;
	return 0;
}

/* ---- counting -------------------------------------------------------------------------------- */

void abd_perf_count_begin(void);
void abd_perf_count_end(void);

__attribute__((noinline)) void abd_perf_count_begin(void)
{
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) void abd_perf_count_end(void)
{
	__asm__ volatile("" : : : "memory");
}

static void count(const struct abd_perf_count_op *op)
{
	for (unsigned i = 0; i < ABD_PERF_COUNT_TIMES; i++)
		op->run(op->size);
	counted.ms += 100; /* the cache takes uses within 62 ms for one */
	op->run(op->size);
	counted.allocations = counted.moved = 0;
	abd_perf_count_begin();
	for (unsigned i = 0; i < ABD_PERF_COUNT_TIMES; i++)
		op->run(op->size);
	abd_perf_count_end();
	printf("%d;%lu;%lu;%s\n", ABD_PERF_COUNT_TIMES, counted.allocations, counted.moved,
		op->name);
}

/* bytes compress to about a half, noise does not. */
static void fill_bytes(void)
{
	uint32_t random = 1;

	for (size_t i = 0; i < LARGE; i++) {
		random = random * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(i % 64 < 32 ? random >> 24 : i % 32);
		noise[i % sizeof(noise)] = (uint8_t)(random >> 24);
	}
}

static abd_arc_key_t put(uint64_t birth, const void *buf, size_t size)
{
	abd_arc_key_t name = {.pool = 1, .dva = {birth, birth}, .birth = birth};

	must(abd_arc_put(arc, &name, buf, size) == 0);
	return name;
}

static void set_up(void)
{
	const struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 1024 * KIB, .shards = 1};

	fill_bytes();
	one = abd_alloc(4 * KIB, false);
	linear = abd_alloc_linear(LARGE, false);
	pages = abd_alloc(LARGE, false);
	other = abd_alloc(LARGE, false);
	zeros = abd_alloc(LARGE, false);
	abd_copy_from_buf(linear, bytes, LARGE);
	abd_copy_from_buf(pages, bytes, LARGE);
	abd_copy_from_buf(other, bytes, LARGE);
	gang = abd_alloc_gang();
	for (unsigned i = 0; i < 8; i++)
		must(abd_gang_add(gang, abd_get_offset_size(pages, i * 8 * KIB, 8 * KIB), true) ==
			0);
	arc = abd_arc_create(&config);
	must(arc != NULL);
	small = put(1, bytes, 8 * KIB);
	large = put(2, bytes, LARGE);
	plain = put(3, noise, 8 * KIB);
	turns = put(4, bytes, 8 * KIB);
}

int main(void)
{
	set_up();
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		count(&ops[i]);
	/* At the end: plans in the environment are read when they are first needed. */
	if (abd_tuning_get("ignored")[0] != '\0') {
		fprintf(stderr, "valgrind's CPU does not support %s\n", abd_tuning_get("ignored"));
		return 1;
	}
	return 0;
}
