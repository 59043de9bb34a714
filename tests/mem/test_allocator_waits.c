/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation that runs between the first and the last store of abd_allocator_set(). The setter
 * is stopped there: the engine's pair lies across two pages, and the second page can't be read
 * until the allocation has been seen to wait.
 */
#include "abd_test.h"

static char *pages;
static size_t page_size;
static clockid_t waiter_clock;
static _Atomic int setter_stopped, waiter_started, engine_served;

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	engine_served++;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	free(buf);
}

static void *waiter(void *arg)
{
	struct timespec pause = {.tv_nsec = 100000};

	while (!setter_stopped)
		nanosleep(&pause, NULL);
	waiter_started = 1;
	abd_buf_free(abd_buf_alloc(100, false), 100);
	return NULL;
}

static long waiter_time_ns(void)
{
	struct timespec time = {0};

	clock_gettime(waiter_clock, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

/*
 * In the setter, on its way to pair->arg: the second page opens when the waiter has turned round
 * for 5 ms.
 */
static void on_fault(int signal_number)
{
	struct timespec pause = {.tv_nsec = 1000000};
	long began = -1;

	setter_stopped = 1;
	for (int i = 0; i < 5000 && (began < 0 || waiter_time_ns() - began < 5000000); i++) {
		nanosleep(&pause, NULL);
		if (began < 0 && waiter_started)
			began = waiter_time_ns();
	}
	mprotect(pages + page_size, page_size, PROT_READ | PROT_WRITE);
}

ABD_TEST_CHILD(allocation_meets_a_setter)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(
		NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	abd_test_child_expect(pages != MAP_FAILED);

	struct abd_allocator *pair =
		(void *)(pages + page_size - offsetof(struct abd_allocator, arg));
	pthread_t thread;

	*pair = (struct abd_allocator){engine_alloc, engine_free, NULL};
	signal(SIGSEGV, on_fault);
	mprotect(pages + page_size, page_size, PROT_NONE);
	pthread_create(&thread, NULL, waiter, NULL);
	pthread_getcpuclockid(thread, &waiter_clock);
	abd_test_child_expect(abd_allocator_set(pair) == 0);
	pthread_join(thread, NULL);
	abd_test_child_expect(engine_served == 1);
	return 0;
}

Test(abd_allocator_waits, an_allocation_that_meets_a_setter_gets_the_engines_memory)
{
	abd_test_child_passes("allocation_meets_a_setter", NULL);
}
