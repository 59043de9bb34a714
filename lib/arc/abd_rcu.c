/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that enrol, and grace periods; see abd_rcu.h.
 * Invariants: a thread's own memory is in the list only while the thread lives. The lock is held
 * only while somebody looks, so threads come and go while a writer waits. One grace period at a
 * time is under way; whoever asks meanwhile gets the next one, which whoever asks for it begins.
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

static pthread_mutex_t abd_rcu_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_rcu_thread *abd_rcu_list;
/*
 * Sections of threads that are not enrolled. Each grace period changes the phase, and waits for
 * those of the phase before.
 */
static size_t abd_rcu_guests[2];
static unsigned abd_rcu_phase;
/* Grace periods so far: all that have begun have ended, or all but one. */
static uint64_t abd_rcu_begun, abd_rcu_ended;

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

/*
 * The child has one thread. The others' memory may be reused, so they leave the list, and their
 * sections don't count.
 */
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
	abd_rcu_guests[0] = abd_rcu_guests[1] = 0;
	abd_rcu_guests[self->phase] += self->is_guest;
	pthread_mutex_unlock(&abd_rcu_lock);
}

static void abd_rcu_prepare(void)
{
	ABD_KEEP_ERRNO;

	abd_rcu_works = abd_rcu_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
			pthread_key_create(&abd_rcu_key, abd_rcu_end) == 0;
	pthread_atfork(abd_rcu_fork_begin, abd_rcu_fork_end, abd_rcu_fork_child);
}

void abd_rcu_start(void)
{
	pthread_once(&abd_rcu_once, abd_rcu_prepare);
}

bool abd_rcu_has_barrier(void)
{
	return abd_rcu_works;
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
	pthread_mutex_lock(&abd_rcu_lock);
	abd_rcu_self.phase = abd_rcu_phase;
	abd_rcu_self.is_guest = true;
	abd_rcu_guests[abd_rcu_phase]++;
	pthread_mutex_unlock(&abd_rcu_lock);
}

ABD_COLD void abd_rcu_read_unlock_slow(void)
{
	pthread_mutex_lock(&abd_rcu_lock);
	abd_rcu_self.is_guest = false;
	abd_rcu_guests[abd_rcu_self.phase]--;
	pthread_mutex_unlock(&abd_rcu_lock);
}

static void abd_rcu_barrier_all(void)
{
	ABD_KEEP_ERRNO;

	while (abd_rcu_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
		/* The system may be short of memory, but must not forbid what it once allowed. */
		ABD_REQUIRE_IN(
			"abd_arc", errno == ENOMEM, "membarrier(2) is forbidden now: %d", errno);
		sched_yield();
	}
}

/* Begin a grace period: see which sections it waits for. Under the lock. */
static void abd_rcu_period_next(void)
{
	if (abd_rcu_works)
		abd_rcu_barrier_all();
	for (struct abd_rcu_thread *thread = abd_rcu_list; thread != NULL; thread = thread->next) {
		unsigned long section =
			atomic_load_explicit(&thread->section, memory_order_acquire);

		thread->awaited = section % 2 != 0 ? section : 0;
	}
	abd_rcu_phase ^= 1;
	abd_rcu_begun++;
}

/* See whether the sections that the grace period under way waits for have ended. Under the lock. */
static void abd_rcu_look(void)
{
	size_t awaited = abd_rcu_guests[abd_rcu_phase ^ 1];

	for (struct abd_rcu_thread *thread = abd_rcu_list; thread != NULL; thread = thread->next) {
		if (thread->awaited != atomic_load_explicit(&thread->section, memory_order_acquire))
			thread->awaited = 0;
		awaited += thread->awaited != 0;
	}
	if (awaited == 0)
		abd_rcu_ended = abd_rcu_begun;
}

uint64_t abd_rcu_period_begin(void)
{
	abd_rcu_start();
	pthread_mutex_lock(&abd_rcu_lock);
	if (abd_rcu_ended < abd_rcu_begun)
		abd_rcu_look();

	/* One that is under way may have begun too early for the caller. */
	uint64_t period = abd_rcu_begun + 1;

	if (abd_rcu_ended == abd_rcu_begun)
		abd_rcu_period_next();
	pthread_mutex_unlock(&abd_rcu_lock);
	return period;
}

bool abd_rcu_period_has_passed(uint64_t period)
{
	pthread_mutex_lock(&abd_rcu_lock);
	if (abd_rcu_ended < abd_rcu_begun && abd_rcu_ended < period)
		abd_rcu_look();
	if (abd_rcu_ended == abd_rcu_begun && abd_rcu_begun < period) {
		abd_rcu_period_next();
		abd_rcu_look();
	}

	bool passed = abd_rcu_ended >= period;

	pthread_mutex_unlock(&abd_rcu_lock);
	return passed;
}

static void abd_rcu_pause(unsigned looks)
{
	struct timespec sleep = {0, ABD_RCU_SLEEP_NS};

	if (looks >= ABD_RCU_LOOKS)
		nanosleep(&sleep, NULL);
}

void abd_rcu_period_wait(uint64_t period)
{
	ABD_KEEP_ERRNO;
	ABD_NO_CANCEL; /* nanosleep() would end a cancelled thread here, with our caller's locks */

	for (unsigned looks = 0; !abd_rcu_period_has_passed(period); looks++)
		abd_rcu_pause(looks);
}

void abd_rcu_synchronize(void)
{
	abd_rcu_period_wait(abd_rcu_period_begin());
}
