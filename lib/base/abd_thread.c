/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads come and go: one lock guards the list of their blocks, and visitors hold it too.
 * abd_thread_counter_ended keeps the counters of threads that have ended.
 */
#include "abd_thread.h"
#include "abd_mem.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct abd_thread *abd_thread_current;
struct abd_magazine abd_thread_no_magazine;
atomic_int abd_thread_visits;

static pthread_mutex_t abd_thread_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_thread *abd_thread_list;
static atomic_uint abd_thread_listed;
static uint64_t abd_thread_counter_ended[ABD_COUNTER_COUNT];
static const struct abd_thread_layer *_Atomic abd_thread_layers[ABD_THREAD_LAYERS];

#ifdef ABD_THREAD_POINTER

struct abd_thread_slot abd_thread_slots[ABD_THREAD_SLOTS];

/* The functions for slots are called under the lock. */
static void abd_thread_slot_take(struct abd_thread *thread)
{
	struct abd_thread_slot *slot = abd_thread_slot(ABD_THREAD_POINTER);

	if (atomic_load_explicit(&slot->owner, memory_order_relaxed) != 0)
		return;
	atomic_store_explicit(&slot->thread, thread, memory_order_relaxed);
	atomic_store_explicit(&slot->owner, ABD_THREAD_POINTER, memory_order_relaxed);
}

static void abd_thread_slot_leave(void)
{
	struct abd_thread_slot *slot = abd_thread_slot(ABD_THREAD_POINTER);

	if (atomic_load_explicit(&slot->owner, memory_order_relaxed) == ABD_THREAD_POINTER)
		atomic_store_explicit(&slot->owner, 0, memory_order_relaxed);
}

/* The child has one thread. A new thread may get the thread pointer of one that is gone. */
static void abd_thread_slots_fork(void)
{
	for (size_t i = 0; i < ABD_THREAD_SLOTS; i++)
		if (abd_thread_slots[i].owner != ABD_THREAD_POINTER)
			atomic_store(&abd_thread_slots[i].owner, 0);
}

#else

static void abd_thread_slot_take(struct abd_thread *thread)
{
	(void)thread;
}

static void abd_thread_slot_leave(void)
{
}

static void abd_thread_slots_fork(void)
{
}

#endif

static pthread_once_t abd_thread_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t abd_thread_key;
static bool abd_thread_key_made;

static void abd_thread_end(void *arg)
{
	struct abd_thread *thread = arg;

	for (unsigned i = ABD_THREAD_LAYERS; i > 0; i--) {
		const struct abd_thread_layer *layer = atomic_load(&abd_thread_layers[i - 1]);

		if (layer != NULL)
			layer->ending(thread);
	}
	pthread_mutex_lock(&abd_thread_lock);
	abd_thread_slot_leave();
	*thread->link = thread->next;
	if (thread->next != NULL)
		thread->next->link = thread->link;
	atomic_fetch_sub(&abd_thread_listed, 1);
	for (size_t i = 0; i < ABD_COUNTER_COUNT; i++)
		abd_thread_counter_ended[i] +=
			atomic_load_explicit(&thread->counter[i], memory_order_relaxed);
	pthread_mutex_unlock(&abd_thread_lock);

	/*
	 * Another destructor may still call the library: then the thread gets a new block, and this
	 * function runs again.
	 */
	abd_thread_current = NULL;
	abd_mem_free(thread, sizeof(*thread), 64);
}

/* The layers that fork_begin() was called for: others may be added during the fork(). */
static pthread_mutex_t abd_thread_fork_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct abd_thread_layer *abd_thread_forked[ABD_THREAD_LAYERS];

static void abd_thread_fork_begin(void)
{
	pthread_mutex_lock(&abd_thread_fork_lock);
	for (unsigned i = ABD_THREAD_LAYERS; i > 0; i--) {
		const struct abd_thread_layer *layer = atomic_load(&abd_thread_layers[i - 1]);

		abd_thread_forked[i - 1] = layer;
		if (layer != NULL)
			layer->fork_begin();
	}
	pthread_mutex_lock(&abd_thread_lock);
}

static void abd_thread_fork_end(void)
{
	pthread_mutex_unlock(&abd_thread_lock);
	for (unsigned i = 0; i < ABD_THREAD_LAYERS; i++)
		if (abd_thread_forked[i] != NULL)
			abd_thread_forked[i]->fork_end();
	pthread_mutex_unlock(&abd_thread_fork_lock);
}

/*
 * In a child of fork() the other threads no longer exist, whatever they were doing. At every point
 * their magazines hold only free blocks, so visitors can take them.
 */
static void abd_thread_fork_child(void)
{
	for (struct abd_thread *thread = abd_thread_list; thread != NULL; thread = thread->next) {
		atomic_store_explicit(&thread->busy, 0, memory_order_relaxed);
		if (thread != abd_thread_current)
			thread->room = NULL; /* the layer above forgets it, too */
	}
	abd_thread_slots_fork();
	pthread_mutex_unlock(&abd_thread_lock);
	for (unsigned i = 0; i < ABD_THREAD_LAYERS; i++)
		if (abd_thread_forked[i] != NULL)
			abd_thread_forked[i]->fork_child();
	pthread_mutex_unlock(&abd_thread_fork_lock);
}

static void abd_thread_key_make(void)
{
	ABD_KEEP_ERRNO;

	abd_thread_key_made = pthread_key_create(&abd_thread_key, abd_thread_end) == 0;
	pthread_atfork(abd_thread_fork_begin, abd_thread_fork_end, abd_thread_fork_child);
}

void abd_thread_layer_add(unsigned number, const struct abd_thread_layer *layer)
{
	pthread_once(&abd_thread_key_once, abd_thread_key_make);
	atomic_store(&abd_thread_layers[number], layer);
}

/*
 * A block whose owner has this thread's identity, though this thread has none: it was made in the
 * last destructors of a thread that has ended. NULL: there is none.
 */
static struct abd_thread *abd_thread_left_behind(void)
{
	struct abd_thread *thread;

	pthread_mutex_lock(&abd_thread_lock);
	for (thread = abd_thread_list; thread != NULL; thread = thread->next)
		if (pthread_equal(thread->owner, pthread_self()))
			break;
	if (thread != NULL)
		abd_thread_slot_take(thread);
	pthread_mutex_unlock(&abd_thread_lock);
	return thread;
}

static void abd_thread_enlist(struct abd_thread *thread)
{
	pthread_mutex_lock(&abd_thread_lock);
	thread->owner = pthread_self();
	thread->next = abd_thread_list;
	thread->link = &abd_thread_list;
	if (thread->next != NULL)
		thread->next->link = &thread->next;
	abd_thread_list = thread;
	atomic_fetch_add(&abd_thread_listed, 1);
	abd_thread_slot_take(thread);
	pthread_mutex_unlock(&abd_thread_lock);
}

struct abd_thread *abd_thread_start(void)
{
	pthread_once(&abd_thread_key_once, abd_thread_key_make);
	if (!abd_thread_key_made)
		return NULL;

	struct abd_thread *thread = abd_thread_left_behind();

	if (thread != NULL) {
		if (pthread_setspecific(abd_thread_key, thread) == 0)
			abd_thread_current = thread;
		return abd_thread_current;
	}
	thread = abd_mem_alloc(sizeof(*thread), 64);
	if (thread == NULL)
		return NULL;
	memset(thread, 0, sizeof(*thread));
	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++)
		thread->magazine[i] = &abd_thread_no_magazine;
	thread->puts = thread->puts_left = ABD_THREAD_PUTS_MIN;
	if (pthread_setspecific(abd_thread_key, thread) != 0) {
		abd_mem_free(thread, sizeof(*thread), 64);
		return NULL;
	}
	abd_thread_enlist(thread);
	abd_thread_current = thread;
	return thread;
}

unsigned abd_thread_count(void)
{
	return atomic_load_explicit(&abd_thread_listed, memory_order_relaxed);
}

bool abd_thread_enter_slow(struct abd_thread *thread)
{
	bool asked = false;

	while (!abd_thread_enter(thread)) {
		unsigned barred = ABD_THREAD_ASKED;

		if (atomic_compare_exchange_strong(&thread->barred, &barred, ABD_THREAD_FREE)) {
			asked = true;
			continue;
		}
		/* The visitor holds the lock. */
		pthread_mutex_lock(&abd_thread_lock);
		pthread_mutex_unlock(&abd_thread_lock);
	}
	return !asked;
}

static bool abd_thread_membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* A full barrier in all threads of the process; false: this system has none. */
static bool abd_thread_barrier_all(void)
{
	ABD_KEEP_ERRNO;

	if (atomic_load(&abd_thread_visits) == ABD_THREAD_VISITS_FAIL)
		return false;
	if (abd_thread_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
		(abd_thread_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
			abd_thread_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))) {
		atomic_store(&abd_thread_visits, ABD_THREAD_VISITS_WORK);
		return true;
	}
	atomic_store(&abd_thread_visits, ABD_THREAD_VISITS_FAIL);
	return false;
}

void abd_thread_visit(bool (*wanted)(const struct abd_thread *thread, void *arg),
	void (*visit)(struct abd_thread *thread, void *arg), void *arg)
{
	unsigned visited = 0;

	pthread_mutex_lock(&abd_thread_lock);
	for (struct abd_thread *thread = abd_thread_list; thread != NULL; thread = thread->next)
		if (thread != abd_thread_current && wanted(thread, arg)) {
			atomic_store(&thread->barred, ABD_THREAD_VISITED);
			visited++;
		}

	bool possible = visited > 0 && abd_thread_barrier_all();

	for (struct abd_thread *thread = abd_thread_list; visited > 0 && thread != NULL;
		thread = thread->next) {
		if (atomic_load_explicit(&thread->barred, memory_order_relaxed) !=
			ABD_THREAD_VISITED)
			continue;
		while (possible && atomic_load_explicit(&thread->busy, memory_order_acquire) != 0)
			sched_yield();
		if (possible)
			visit(thread, arg);
		atomic_store(&thread->barred, possible ? ABD_THREAD_FREE : ABD_THREAD_ASKED);
	}
	pthread_mutex_unlock(&abd_thread_lock);
}

void abd_thread_counter_add(size_t counter, uint64_t delta)
{
	struct abd_thread *thread = abd_thread_self();

	if (thread != NULL) {
		atomic_fetch_add_explicit(&thread->counter[counter], delta, memory_order_relaxed);
		return;
	}
	pthread_mutex_lock(&abd_thread_lock);
	abd_thread_counter_ended[counter] += delta;
	pthread_mutex_unlock(&abd_thread_lock);
}

void abd_thread_counters_sum(uint64_t *sum)
{
	pthread_mutex_lock(&abd_thread_lock);
	memcpy(sum, abd_thread_counter_ended, sizeof(abd_thread_counter_ended));
	for (struct abd_thread *thread = abd_thread_list; thread != NULL; thread = thread->next)
		for (size_t i = 0; i < ABD_COUNTER_COUNT; i++)
			sum[i] += atomic_load_explicit(&thread->counter[i], memory_order_relaxed);
	pthread_mutex_unlock(&abd_thread_lock);
}
