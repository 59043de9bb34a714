/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted bugs, one per name, and beside each the same steps without the bug.
 * usage: probe NAME plant|clean
 *
 * Invariant: "clean" exits with 0 under every gate; "plant" must be caught by the gate it was made
 * for.
 */
#include <abd/abd.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 };

/*
 * What the compiler can't see through, so that neither its warnings nor its optimiser find the bug
 * first.
 */
static void *volatile sink;

static void *opaque(void *pointer)
{
	sink = pointer;
	return sink;
}

static void touch(void *address)
{
	*(volatile char *)opaque(address) = 1;
}

/* A buffer of several runs of one chunk each. */
static abd_t *scattered(size_t size)
{
	abd_tuning_set("max_order", "0");

	abd_t *abd = abd_alloc(size, false);

	if (abd == NULL || abd_is_linear(abd))
		abort();
	abd_zero_off(abd, 0, size);
	return abd;
}

static void overrun_linear(bool plant)
{
	abd_t *abd = abd_alloc_linear(2 * CHUNK, false);
	char *buf = abd_to_buf(abd);

	touch(buf + 2 * CHUNK - 1 + plant);
	abd_free(abd);
}

/*
 * The size is no multiple of anything: the byte behind it is slack of the allocator's, or of the
 * last chunk.
 */
static void overrun_linear_odd(bool plant)
{
	abd_t *abd = abd_alloc_linear(1001, false);
	char *buf = abd_to_buf(abd);

	touch(buf + 1000 + plant);
	abd_free(abd);
}

static void overrun_borrowed(bool plant)
{
	abd_t *abd = scattered(3 * CHUNK);
	char *buf = abd_borrow_buf_copy(abd, 2 * CHUNK);

	touch(buf + 2 * CHUNK - 1 + plant);
	abd_return_buf_copy(abd, buf, 2 * CHUNK);
	abd_free(abd);
}

static int write_past(void *buf, size_t size, void *arg)
{
	const bool *plant = arg;

	touch((char *)buf + size - 1 + *plant);
	return 1;
}

static void overrun_run(bool plant)
{
	abd_t *abd = scattered(3 * CHUNK);

	abd_iterate_func(abd, 0, 3 * CHUNK, write_past, &plant);
	abd_free(abd);
}

static void overrun_run_odd(bool plant)
{
	abd_t *abd = scattered(2 * CHUNK + 100);

	abd_iterate_func(abd, 2 * CHUNK, 100, write_past, &plant);
	abd_free(abd);
}

static void use_after_return(bool plant)
{
	abd_t *abd = scattered(3 * CHUNK);
	char *buf = abd_borrow_buf_copy(abd, 3 * CHUNK);

	if (!plant)
		touch(buf);
	abd_return_buf_copy(abd, buf, 3 * CHUNK);
	if (plant)
		touch(buf);
	abd_free(abd);
	abd_cache_reap_now(); /* where the deep checks look at what was freed */
}

static void use_after_free(bool plant)
{
	abd_t *abd = abd_alloc(CHUNK, false);

	if (!plant)
		abd_zero_off(abd, 0, CHUNK);
	abd_free(abd);
	if (plant)
		abd_zero_off(opaque(abd), 0, CHUNK);
}

static __attribute__((noinline)) void forget(bool plant)
{
	abd_t *abd = abd_alloc(3 * CHUNK, false);

	sink = abd;
	sink = NULL;
	if (!plant)
		abd_free(abd);
}

/* Stands so low on the stack that cover() overwrites all that it leaves there. */
static __attribute__((noinline)) void forget_below(bool plant)
{
	volatile char room[512];

	memset((char *)room, 0, sizeof(room));
	forget(plant);
	room[0] = 1; /* no tail call */
}

static __attribute__((noinline)) void cover(void)
{
	volatile char over[32768];

	memset((char *)over, 0, sizeof(over));
}

static void leak(bool plant)
{
	/* Several: what is left of one's address somewhere, by chance, hides that one alone. */
	for (int i = 0; i < 32; i++)
		forget_below(plant);
	cover();
}

static void signed_overflow(bool plant)
{
	volatile int x = INT_MAX;

	x = x - !plant + 1;
	printf("%d\n", x);
}

/* A size worked out as unsigned: no undefined behaviour, and no buffer of that size either. */
static void unsigned_wrap(bool plant)
{
	volatile size_t size = CHUNK, off = CHUNK + plant;

	printf("%zu\n", size - off);
}

static void pointer_overflow(bool plant)
{
	abd_t *abd = abd_alloc_linear(CHUNK, false);
	volatile size_t off = plant ? SIZE_MAX - 1 : CHUNK - 1;

	printf("%d\n", opaque((char *)abd_to_buf(abd) + off) != NULL);
	abd_free(abd);
}

/* A count kept in fewer bits than it needs. */
static void changed_by_conversion(bool plant)
{
	volatile uint8_t count = (uint8_t)(UINT8_MAX - !plant);

	count++;
	printf("%u\n", count);
}

static void shift_too_far(bool plant)
{
	volatile unsigned order = 31 + plant;

	printf("%u\n", 1u << order);
}

static void past_an_array(bool plant)
{
	volatile char field[8] = "";
	volatile unsigned at = 7 + plant;

	printf("%d\n", field[at]);
}

static void misaligned(bool plant)
{
	abd_t *abd = abd_alloc_linear(CHUNK, false);
	char *buf = abd_to_buf(abd);

	*(uint64_t *)opaque(buf + plant) = 1; /* clang lets volatile ones pass */
	abd_free(abd);
}

/*
 * The buffer's memory was someone else's before, so what is in it is not what the machine would
 * give.
 */
static void uninitialised_read(bool plant)
{
	abd_t *abd = abd_alloc_linear(CHUNK, false);

	if (!plant)
		abd_zero(abd, CHUNK);
	if (abd_cmp_zero(abd, CHUNK) == 0)
		printf("zeros\n");
	abd_free(abd);
}

/* One byte of 4096, which a kernel's vectors read along with its neighbours, or stop short of. */
static void uninitialised_byte(bool plant)
{
	abd_t *abd = abd_alloc_linear(CHUNK, false), *same = abd_alloc_linear(CHUNK, false);

	abd_zero(same, CHUNK);
	abd_zero_off(abd, 0, 1000);
	abd_zero_off(abd, 1001, CHUNK - 1001);
	if (abd_equal_off(abd, same, 0, 0, 1000 + plant) &&
		abd_equal_off(abd, same, 1001, 1001, CHUNK - 1001))
		printf("zeros: %s\n", abd_tuning_get("compare"));
	abd_free(same);
	abd_free(abd);
}

/* ---- threads ---- */

struct shared {
	abd_t *abd;
	pthread_mutex_t lock;
	bool plant;
};

static void *write_often(void *arg)
{
	struct shared *shared = arg;

	for (int i = 0; i < 100; i++) {
		if (!shared->plant)
			pthread_mutex_lock(&shared->lock);
		abd_copy_from_buf(shared->abd, "written", 7);
		if (!shared->plant)
			pthread_mutex_unlock(&shared->lock);
	}
	return NULL;
}

/* Two threads write to one buffer. */
static void data_race(bool plant)
{
	struct shared shared = {scattered(3 * CHUNK), PTHREAD_MUTEX_INITIALIZER, plant};
	pthread_t thread;

	if (pthread_create(&thread, NULL, write_often, &shared) != 0)
		abort();
	write_often(&shared);
	pthread_join(thread, NULL);
	abd_free(shared.abd);
}

static const struct {
	const char *name;
	void (*run)(bool plant);
} probes[] = {
	{"overrun_linear", overrun_linear},
	{"overrun_linear_odd", overrun_linear_odd},
	{"overrun_borrowed", overrun_borrowed},
	{"overrun_run", overrun_run},
	{"overrun_run_odd", overrun_run_odd},
	{"use_after_return", use_after_return},
	{"use_after_free", use_after_free},
	{"leak", leak},
	{"signed_overflow", signed_overflow},
	{"unsigned_wrap", unsigned_wrap},
	{"pointer_overflow", pointer_overflow},
	{"changed_by_conversion", changed_by_conversion},
	{"shift_too_far", shift_too_far},
	{"past_an_array", past_an_array},
	{"misaligned", misaligned},
	{"uninitialised_read", uninitialised_read},
	{"uninitialised_byte", uninitialised_byte},
	{"data_race", data_race},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(probes) / sizeof(probes[0]); i++) {
		if (strcmp(probes[i].name, argv[1]) != 0)
			continue;
		probes[i].run(strcmp(argv[2], "plant") == 0);
		return 0;
	}
	fprintf(stderr, "usage: probe NAME plant|clean\n");
	return 2;
}
