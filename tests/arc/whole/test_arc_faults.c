/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may happen in the middle of a call: a thread is cancelled or ends, the process forks, a
 * signal comes. test_arc_oom.c has memory that is refused.
 */
#include "arc_data.h"

#include <sys/time.h>

enum { SIZE = 5000, KEYS = 300, CAPACITY = 1 << 20 };

static abd_arc_t *arc;

/* One put, read, hold, resize and remove of a key that nobody else uses. */
static void all_calls(uint64_t n)
{
	unsigned char record[SIZE], got[SIZE];
	abd_arc_hold_t hold;
	ssize_t size;

	arc_fill(record, SIZE, n, 1, 16);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), record, SIZE), 0);
	size = abd_arc_read(arc, arc_at(n), got, SIZE / 2, SIZE / 2);
	cr_assert(size == -ENOENT ||
		  (size == SIZE / 2 && memcmp(got, record + SIZE / 2, SIZE / 2) == 0));
	if (abd_arc_hold(arc, arc_at(n), &hold) == 0)
		abd_arc_release(&hold);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 2), 0);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY), 0);
	abd_arc_remove(arc, arc_at(n));
}

/* ---- a thread that ends inside a hold -------------------------------------------------------- */

static abd_arc_hold_t left;
static pthread_barrier_t holding;

static __attribute__((noinline)) void hold(void)
{
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &left), 0);
}

/* No variables: AddressSanitizer would go on guarding them behind the thread's cancellation. */
static void *hold_and_end(void *is_cancelled)
{
	hold();
	if (is_cancelled != NULL) {
		pthread_barrier_wait(&holding);
		for (;;)
			pause();
	}
	return NULL;
}

static void a_hold_outlives_its_thread(bool is_cancelled)
{
	unsigned char record[SIZE], got[SIZE];
	pthread_t thread;

	arc = arc_make(CAPACITY, 0, 0);
	arc_fill(record, SIZE, 1, 1, 64);
	cr_assert(arc != NULL && abd_arc_put(arc, arc_at(1), record, SIZE) == 0);
	pthread_barrier_init(&holding, NULL, 2);
	cr_assert(pthread_create(&thread, NULL, hold_and_end, is_cancelled ? arc : NULL) == 0);
	if (is_cancelled) {
		pthread_barrier_wait(&holding);
		pthread_cancel(thread);
	}
	pthread_join(thread, NULL);

	/* Nobody waits for it; what it held stays. */
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	for (uint64_t n = 2; n < KEYS; n++)
		all_calls(n);
	cr_assert_eq(left.stored_size, SIZE);
	abd_copy_to_buf(got, left.abd, SIZE);
	cr_assert_arr_eq(got, record, SIZE);
	abd_arc_release(&left);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_destroy(arc);
	pthread_barrier_destroy(&holding);
}

Test(arc_faults, a_hold_outlives_a_thread_that_ends)
{
	a_hold_outlives_its_thread(false);
}

Test(arc_faults, a_hold_outlives_a_thread_that_is_cancelled)
{
	a_hold_outlives_its_thread(true);
}

/* ---- threads that use the cache while something happens -------------------------------------- */

static atomic_bool stop;

static void *call_on(void *number)
{
	for (uint64_t i = 0; !atomic_load(&stop); i++) {
		all_calls((uint64_t)(size_t)number * KEYS + i % KEYS);
		pthread_testcancel();
	}
	return NULL;
}

static void begin(pthread_t *thread)
{
	atomic_store(&stop, false);
	arc = arc_make(CAPACITY, 0, 0);
	cr_assert(arc != NULL);
	for (size_t i = 0; i < 2; i++)
		cr_assert(pthread_create(&thread[i], NULL, call_on, (void *)(i + 1)) == 0);
}

static void end(pthread_t *thread)
{
	atomic_store(&stop, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	abd_arc_destroy(arc);
}

Test(arc_faults, threads_may_be_cancelled_in_the_middle_of_any_call)
{
	for (int turn = 0; turn < 40; turn++) {
		pthread_t thread[2];

		begin(thread);
		nanosleep(&(struct timespec){0, 100000 * (turn % 10)}, NULL);
		for (size_t i = 0; i < 2; i++)
			pthread_cancel(thread[i]);
		/* A lock that one of them kept would stop this thread. */
		all_calls(0);
		end(thread);
	}
}

Test(arc_faults, a_child_that_only_ends_ends)
{
	pthread_t thread[2];

	begin(thread);
	for (int turn = 0; turn < 40; turn++) {
		int status = 1;
		pid_t child = fork();

		if (child == 0) {
			/* A process that is killed has no leaks that a checker would report. */
			kill(getpid(), SIGKILL);
		}
		cr_assert(child > 0 && waitpid(child, &status, 0) == child);
		cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	end(thread);
}

static atomic_uint signals;

static void count_signal(int number)
{
	atomic_fetch_add(&signals, 1);
}

Test(arc_faults, signals_interrupt_every_call_and_change_nothing)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = count_signal}; /* without SA_RESTART */
	pthread_t thread[2];

	cr_assert(sigaction(SIGALRM, &action, NULL) == 0);
	begin(thread);
	cr_assert(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (uint64_t n = 0; atomic_load(&signals) < 500; n++)
		all_calls(n % KEYS);
	setitimer(ITIMER_REAL, &never, NULL);
	end(thread);
}
