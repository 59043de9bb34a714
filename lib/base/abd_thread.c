/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads come and go: blocks are listed under one lock, counters of ended threads are kept in
 * abd_counter_ended.
 */
#include "abd_thread.h"
#include "abd_counter.h"
#include "abd_magazine.h"
#include "abd_mem.h"
#include "abd_tunable.h"

#include <pthread.h>
#include <string.h>

_Thread_local struct abd_thread *abd_thread_current;

static pthread_mutex_t abd_thread_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_thread *abd_thread_list;
static uint64_t abd_counter_ended[ABD_COUNTER_COUNT];

static pthread_once_t abd_thread_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t abd_thread_key;
static bool abd_thread_key_made;

static void abd_thread_end(void *arg)
{
	struct abd_thread *thread = arg;

	abd_magazine_flush_all(thread);
	pthread_mutex_lock(&abd_thread_lock);
	*thread->link = thread->next;
	if (thread->next != NULL)
		thread->next->link = thread->link;
	for (size_t i = 0; i < ABD_COUNTER_COUNT; i++)
		abd_counter_ended[i] +=
			atomic_load_explicit(&thread->counter[i], memory_order_relaxed);
	pthread_mutex_unlock(&abd_thread_lock);

	/* Another destructor may still call us: then the thread starts again, and ends again. */
	abd_thread_current = NULL;
	abd_mem_free(thread, sizeof(*thread), 64);
}

static void abd_thread_key_make(void)
{
	abd_base_tunables.start();
	abd_thread_key_made = pthread_key_create(&abd_thread_key, abd_thread_end) == 0;
}

struct abd_thread *abd_thread_start(void)
{
	pthread_once(&abd_thread_key_once, abd_thread_key_make);
	if (!abd_thread_key_made)
		return NULL;

	struct abd_thread *thread = abd_mem_alloc(sizeof(*thread), 64);

	if (thread == NULL)
		return NULL;
	memset(thread, 0, sizeof(*thread));
	if (pthread_setspecific(abd_thread_key, thread) != 0) {
		abd_mem_free(thread, sizeof(*thread), 64);
		return NULL;
	}
	abd_magazine_start(thread);

	pthread_mutex_lock(&abd_thread_lock);
	thread->next = abd_thread_list;
	thread->link = &abd_thread_list;
	if (thread->next != NULL)
		thread->next->link = &thread->next;
	abd_thread_list = thread;
	pthread_mutex_unlock(&abd_thread_lock);

	abd_thread_current = thread;
	return thread;
}

void abd_counter_add_slow(size_t counter, uint64_t delta)
{
	if (abd_thread_start() != NULL) {
		abd_counter_add(counter, delta);
		return;
	}
	pthread_mutex_lock(&abd_thread_lock);
	abd_counter_ended[counter] += delta;
	pthread_mutex_unlock(&abd_thread_lock);
}

void abd_counter_sum(uint64_t *sum)
{
	pthread_mutex_lock(&abd_thread_lock);
	memcpy(sum, abd_counter_ended, sizeof(abd_counter_ended));
	for (struct abd_thread *thread = abd_thread_list; thread != NULL; thread = thread->next)
		for (size_t i = 0; i < ABD_COUNTER_COUNT; i++)
			sum[i] += atomic_load_explicit(&thread->counter[i], memory_order_relaxed);
	pthread_mutex_unlock(&abd_thread_lock);
}
