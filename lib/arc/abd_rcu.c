/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that enrol, and the writer that waits for them; see abd_rcu.h.
 * Invariants: a thread's own memory is in the list only while the thread lives. One writer waits at
 * a time, and holds the list's lock only while it looks, so threads come and go meanwhile.
 */
#include "abd_rcu.h"
#include "abd_contract.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * How often a writer looks before it sleeps between looks. It doesn't yield instead: a reader whose
 * section the writer interrupted would run for milliseconds before the writer comes again, while a
 * thread that wakes from sleep is scheduled at once.
 */
enum { ABD_RCU_LOOKS = 64, ABD_RCU_SLEEP_NS = 20000 };

_Thread_local struct abd_rcu_thread abd_rcu_self;

static pthread_mutex_t abd_rcu_writer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t abd_rcu_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_rcu_thread *abd_rcu_list;
/* For threads that are not enrolled. */
static pthread_rwlock_t abd_rcu_fallback = PTHREAD_RWLOCK_INITIALIZER;

static pthread_once_t abd_rcu_once = PTHREAD_ONCE_INIT;
static pthread_key_t abd_rcu_key;
static bool abd_rcu_works;

static int abd_rcu_membarrier_call(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

int (*abd_rcu_membarrier)(int command) = abd_rcu_membarrier_call;

/* A thread ends, perhaps inside a section: nobody waits for it any more. */
static void abd_rcu_end(void *arg)
{
	struct abd_rcu_thread *self = arg;

	pthread_mutex_lock(&abd_rcu_lock);
	*self->link = self->next;
	if (self->next != NULL)
		self->next->link = self->link;
	pthread_mutex_unlock(&abd_rcu_lock);
	self->enrolled = false;
	self->ended = true;
}

static void abd_rcu_fork_begin(void)
{
	pthread_mutex_lock(&abd_rcu_lock);
}

static void abd_rcu_fork_end(void)
{
	pthread_mutex_unlock(&abd_rcu_lock);
}

/* The child has one thread. The others' memory may be reused, so they leave the list. */
static void abd_rcu_fork_child(void)
{
	struct abd_rcu_thread *self = &abd_rcu_self;

	abd_rcu_list = NULL;
	if (self->enrolled) {
		abd_rcu_list = self;
		self->link = &abd_rcu_list;
		self->next = NULL;
		self->awaited = 0;
	}
	pthread_mutex_unlock(&abd_rcu_lock);
	/* Their holders may be gone. */
	pthread_mutex_init(&abd_rcu_writer, NULL);
	pthread_rwlock_init(&abd_rcu_fallback, NULL);
}

static void abd_rcu_begin(void)
{
	abd_rcu_works = abd_rcu_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
			pthread_key_create(&abd_rcu_key, abd_rcu_end) == 0;
	pthread_atfork(abd_rcu_fork_begin, abd_rcu_fork_end, abd_rcu_fork_child);
}

void abd_rcu_start(void)
{
	pthread_once(&abd_rcu_once, abd_rcu_begin);
}

static bool abd_rcu_enrol(struct abd_rcu_thread *self)
{
	abd_rcu_start();
	if (!abd_rcu_works || self->ended || pthread_setspecific(abd_rcu_key, self) != 0)
		return false;
	pthread_mutex_lock(&abd_rcu_lock);
	self->next = abd_rcu_list;
	self->link = &abd_rcu_list;
	if (self->next != NULL)
		self->next->link = &self->next;
	abd_rcu_list = self;
	pthread_mutex_unlock(&abd_rcu_lock);
	self->enrolled = true;
	return true;
}

ABD_COLD void abd_rcu_read_lock_slow(void)
{
	if (abd_rcu_enrol(&abd_rcu_self)) {
		abd_rcu_read_lock();
		return;
	}
	pthread_rwlock_rdlock(&abd_rcu_fallback);
	abd_rcu_self.locked = true;
}

ABD_COLD void abd_rcu_read_unlock_slow(void)
{
	abd_rcu_self.locked = false;
	pthread_rwlock_unlock(&abd_rcu_fallback);
}

/* How many sections the writer must wait for; first: look which ones. */
static size_t abd_rcu_look(bool first)
{
	size_t awaited = 0;

	pthread_mutex_lock(&abd_rcu_lock);
	for (struct abd_rcu_thread *thread = abd_rcu_list; thread != NULL; thread = thread->next) {
		unsigned long section =
			atomic_load_explicit(&thread->section, memory_order_acquire);

		if (first)
			thread->awaited = section % 2 != 0 ? section : 0;
		else if (thread->awaited != section)
			thread->awaited = 0;
		awaited += thread->awaited != 0;
	}
	pthread_mutex_unlock(&abd_rcu_lock);
	return awaited;
}

static void abd_rcu_barrier_all(void)
{
	while (abd_rcu_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
		/* The system may be short of memory, but must not forbid what it once allowed. */
		ABD_REQUIRE_IN(
			"abd_arc", errno == ENOMEM, "membarrier(2) is forbidden now: %d", errno);
		sched_yield();
	}
}

static void abd_rcu_pause(unsigned looks)
{
	struct timespec sleep = {0, ABD_RCU_SLEEP_NS};

	if (looks >= ABD_RCU_LOOKS)
		nanosleep(&sleep, NULL);
}

void abd_rcu_synchronize(void)
{
	int cancel;

	/* nanosleep() would end a cancelled thread here, with our caller's locks. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	abd_rcu_start();
	pthread_mutex_lock(&abd_rcu_writer);
	pthread_rwlock_wrlock(&abd_rcu_fallback);
	pthread_rwlock_unlock(&abd_rcu_fallback);
	if (abd_rcu_works) {
		abd_rcu_barrier_all();
		for (unsigned looks = 0; abd_rcu_look(looks == 0) > 0; looks++)
			abd_rcu_pause(looks);
	}
	pthread_mutex_unlock(&abd_rcu_writer);
	pthread_setcancelstate(cancel, NULL);
}
