/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads make the shared zeros at once: the second finds them made when its turn comes. The
 * first thread is stopped while it asks for memory under the lock, until the second is seen to
 * sleep on that lock.
 */
#include "abd_mem.h"
#include "abd_test.h"

#include <sys/syscall.h>

static _Atomic long second_tid;
static _Atomic int first_holds, second_asks, second_slept;
static abd_t second_zeros; /* structs of ours: nothing else asks for memory */

static void pause_ms(void)
{
	struct timespec pause = {.tv_nsec = 1000000};

	nanosleep(&pause, NULL);
}

static void *second(void *arg)
{
	abd_free(abd_alloc_linear(1, false)); /* whatever a thread begins with is done */
	abd_cache_reap_now();                 /* and it has nothing to put away when it ends */
	second_tid = syscall(SYS_gettid);
	while (!first_holds)
		pause_ms();
	second_asks = 1;
	abd_get_zeros_struct(&second_zeros, 100);
	return NULL;
}

/* The first thread's one question under the lock. */
static bool hold(void)
{
	int seen = 0;

	if (first_holds++ > 0)
		return false;
	for (int i = 0; i < 5000 && seen < 5; i++) {
		pause_ms();
		seen = second_asks && abd_test_sleeps(second_tid) ? seen + 1 : 0;
	}
	second_slept = seen == 5;
	return false;
}

ABD_TEST_CHILD(zeros_made_by_two)
{
	pthread_t thread;

	abd_free(abd_alloc_linear(1, false));
	pthread_create(&thread, NULL, second, NULL);
	while (second_tid == 0)
		pause_ms();
	atomic_store(&abd_mem_fault, hold);

	abd_t zeros;

	abd_test_child_expect(abd_get_zeros_struct(&zeros, 100) == &zeros);
	pthread_join(thread, NULL);
	atomic_store(&abd_mem_fault, NULL);
	abd_test_child_expect(second_slept && first_holds == 1);
	abd_test_child_expect(abd_equal(&zeros, &second_zeros) && abd_cmp_zero(&zeros, 100) == 0);
	abd_free(&zeros);
	abd_free(&second_zeros);
	return 0;
}

Test(abd_zeros_race, who_comes_second_finds_the_zeros_made)
{
	abd_test_child_passes("zeros_made_by_two", NULL);
}
