/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters while threads end: the counts of a thread move from it to the sum in one step, so no
 * caller misses them or sees them twice.
 */
#include "abd_counter.h"
#include "abd_test.h"
#include "abd_thread.h"

#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* As many lives as SECONDS allow on a slow machine: who asks and who ends take the same lock. */
enum { THREADS = 2, LIVES = 5000, SECONDS = 3, EACH = 3 };

static atomic_uint alive, lives;

static void *count_and_end(void *arg)
{
	abd_counter_add(ABD_COUNTER(scatter_alloc_retry), EACH);
	return NULL;
}

static void *live_and_die(void *arg)
{
	pthread_t thread;
	time_t end = time(NULL) + SECONDS;

	for (int i = 0; i < LIVES && time(NULL) <= end; i++) {
		abd_test_check(
			pthread_create(&thread, NULL, count_and_end, NULL) == 0, "no thread");
		pthread_join(thread, NULL);
		atomic_fetch_add(&lives, 1);
	}
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

static uint64_t sum(void)
{
	return abd_test_stats().scatter_alloc_retry;
}

/* Nothing lowers this counter. */
Test(abd_counter, what_was_counted_is_never_uncounted_while_threads_end)
{
	uint64_t first = sum(), was = first;
	pthread_t thread[THREADS];

	atomic_store(&alive, THREADS);
	atomic_store(&lives, 0);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, live_and_die, NULL), 0);
	while (atomic_load(&alive) > 0) {
		uint64_t now = sum();

		abd_test_check(now >= was, "%zu were lost for a while", (size_t)(was - now));
		was = now;
		sched_yield();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	cr_assert_eq(sum() - first, (uint64_t)atomic_load(&lives) * EACH);
	cr_assert(atomic_load(&lives) > 0);
}

/* ---- the end of threads, and forks ---- */

static pthread_key_t again_key;

/* In each round of destructors, after the library's own. */
static void use_again(void *arg)
{
	abd_counter_add(ABD_COUNTER(scatter_alloc_retry), EACH);
	pthread_setspecific(again_key, arg);
}

static void *leave_again_and_again(void *arg)
{
	abd_counter_add(ABD_COUNTER(scatter_alloc_retry), EACH);
	pthread_setspecific(again_key, &again_key);
	return arg;
}

/* Each thread has the stack of the one before, and so its identity. No slot tells them apart. */
ABD_TEST_CHILD(last_destructors)
{
	uint64_t first = sum();
	pthread_t thread;
	unsigned count;

	abd_thread_self();
#ifdef ABD_THREAD_POINTER
	for (size_t i = 0; i < ABD_THREAD_SLOTS; i++)
		abd_thread_slots[i].owner = 1;
#endif
	abd_test_child_expect(pthread_key_create(&again_key, use_again) == 0);
	for (unsigned i = 0; i < 50; i++) {
		abd_test_child_expect(
			pthread_create(&thread, NULL, leave_again_and_again, NULL) == 0);
		pthread_join(thread, NULL);
	}
	count = abd_thread_count();
	if (count > 3)
		fprintf(stderr, "%u threads have a block\n", count);
	abd_test_child_expect(count <= 3);
	abd_test_child_expect((sum() - first) % EACH == 0 && sum() - first >= 100 * EACH);
	return 0;
}

/* ThreadSanitizer's own part of a thread has ended by then: what it compiled can't run. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#ifndef UNDER_TSAN
Test(abd_thread, what_is_made_in_last_destructors_is_taken_over)
{
	abd_test_child_passes("last_destructors", NULL);
}
#endif

static char heard[16];

static void hear(char what)
{
	size_t length = strlen(heard);

	if (length + 1 < sizeof(heard))
		heard[length] = what;
}

static void low_ends(struct abd_thread *thread)
{
	hear('e');
}

static void low_fork_begins(void)
{
	hear('b');
}

static void low_fork_ends(void)
{
	hear('p');
}

static void low_fork_child(void)
{
	hear('c');
}

static void high_ends(struct abd_thread *thread)
{
	hear('E');
	thread->room = NULL;
}

static void high_fork_begins(void)
{
	hear('B');
}

static void high_fork_ends(void)
{
	hear('P');
}

static void high_fork_child(void)
{
	hear('C');
}

static void *have_room(void *arg)
{
	abd_thread_self()->room = arg;
	return NULL;
}

ABD_TEST_CHILD(layers_are_told)
{
	static const struct abd_thread_layer low = {
		low_ends, low_fork_begins, low_fork_ends, low_fork_child};
	static const struct abd_thread_layer high = {
		high_ends, high_fork_begins, high_fork_ends, high_fork_child};
	pthread_t thread;
	int status = 1;

	abd_thread_layer_add(ABD_THREAD_ARC, &high);
	abd_thread_layer_add(ABD_THREAD_MEM, &low);
	abd_test_child_expect(pthread_create(&thread, NULL, have_room, heard) == 0);
	pthread_join(thread, NULL);
	abd_test_child_expect(strcmp(heard, "Ee") == 0);
	memset(heard, 0, sizeof(heard));

	pid_t pid = fork();

	if (pid == 0)
		abd_test_child_end(strcmp(heard, "BbcC") != 0);
	abd_test_child_expect(waitpid(pid, &status, 0) == pid && status == 0);
	abd_test_child_expect(strcmp(heard, "BbpP") == 0);
	return 0;
}

Test(abd_thread, layers_hear_of_ends_and_forks_in_order)
{
	abd_test_child_passes("layers_are_told", NULL);
}

/* ---- visits ---- */

static bool visits_work(void)
{
	return (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) &
		       MEMBARRIER_CMD_PRIVATE_EXPEDITED) > 0;
}

/* An owner and a visitor, and how far they are. */
struct pair {
	struct abd_thread *owner;
	atomic_bool visiting, entering, visited;
};

static bool is_owner(const struct abd_thread *thread, void *arg)
{
	struct pair *pair = arg;

	return thread == pair->owner;
}

static void visit_at_once(struct abd_thread *thread, void *arg)
{
	struct pair *pair = arg;

	abd_test_check(atomic_load(&thread->busy) == 0, "the owner is in there");
	atomic_store(&pair->visited, true);
}

static void *visit_owner(void *arg)
{
	abd_thread_visit(is_owner, visit_at_once, arg);
	return NULL;
}

Test(abd_thread, a_visitor_waits_until_the_owner_has_left)
{
	struct pair pair = {.owner = abd_thread_self()};
	pthread_t visitor;

	if (!visits_work())
		cr_skip_test("no membarrier(2) here");
	cr_assert(abd_thread_enter(pair.owner));
	cr_assert_eq(pthread_create(&visitor, NULL, visit_owner, &pair), 0);
	while (atomic_load(&pair.owner->barred) != ABD_THREAD_VISITED)
		sched_yield();
	usleep(20000);
	cr_assert_not(atomic_load(&pair.visited));
	abd_thread_leave(pair.owner);
	pthread_join(visitor, NULL);
	cr_assert(atomic_load(&pair.visited));
	cr_assert(abd_thread_enter(pair.owner));
	abd_thread_leave(pair.owner);
}

static void visit_slowly(struct abd_thread *thread, void *arg)
{
	struct pair *pair = arg;

	atomic_store(&pair->visiting, true);
	while (!atomic_load(&pair->entering))
		sched_yield();
	usleep(20000);
	atomic_store(&pair->visited, true);
}

static void *visit_owner_slowly(void *arg)
{
	abd_thread_visit(is_owner, visit_slowly, arg);
	return NULL;
}

Test(abd_thread, an_owner_waits_until_the_visitor_has_left)
{
	struct pair pair = {.owner = abd_thread_self()};
	pthread_t visitor;

	if (!visits_work())
		cr_skip_test("no membarrier(2) here");
	cr_assert_eq(pthread_create(&visitor, NULL, visit_owner_slowly, &pair), 0);
	while (!atomic_load(&pair.visiting))
		sched_yield();
	cr_assert_not(abd_thread_enter(pair.owner));
	atomic_store(&pair.entering, true);
	cr_assert(abd_thread_enter_slow(pair.owner));
	cr_assert(atomic_load(&pair.visited));
	abd_thread_leave(pair.owner);
	pthread_join(visitor, NULL);
}

/* ---- systems without membarrier(2) ---- */

/* Which of its commands the system refuses from now on. False: it can't be told to. */
static bool refuse_membarrier(unsigned first, unsigned last)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : sizeof(uint32_t);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			(uint32_t)(offsetof(struct seccomp_data, args) + low)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static pthread_barrier_t meeting;

static void *be_there(void *arg)
{
	*(struct abd_thread **)arg = abd_thread_self();
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return NULL;
}

static bool everybody(const struct abd_thread *thread, void *arg)
{
	return true;
}

static void count_visit(struct abd_thread *thread, void *arg)
{
	++*(unsigned *)arg;
}

/* Nobody is visited; the other thread is asked, now and later. */
static int visit_where_refused(unsigned first, unsigned last)
{
	struct abd_thread *there = NULL;
	unsigned visits = 0;
	pthread_t thread;

	if (!refuse_membarrier(first, last))
		return 0;
	pthread_barrier_init(&meeting, NULL, 2);
	abd_test_child_expect(pthread_create(&thread, NULL, be_there, &there) == 0);
	pthread_barrier_wait(&meeting);
	for (unsigned i = 0; i < 2; i++) {
		abd_thread_visit(everybody, count_visit, &visits);
		abd_test_child_expect(visits == 0);
		abd_test_child_expect(atomic_load(&abd_thread_visits) == ABD_THREAD_VISITS_FAIL);
		abd_test_child_expect(!abd_thread_enter(there));
		abd_test_child_expect(!abd_thread_enter_slow(there)); /* entered, and asked once */
		abd_thread_leave(there);
		abd_test_child_expect(abd_thread_enter_slow(there));
		abd_thread_leave(there);
	}
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	return 0;
}

ABD_TEST_CHILD(membarrier_is_unknown)
{
	return visit_where_refused(0, UINT32_MAX);
}

ABD_TEST_CHILD(membarrier_can_only_be_registered)
{
	return visit_where_refused(
		MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

Test(abd_thread, where_the_system_has_no_barrier_threads_are_asked)
{
	if (getenv("ABD_TEST_EMULATOR") != NULL)
		cr_skip_test("the emulator needs its calls");
	abd_test_child_passes("membarrier_is_unknown", NULL);
	abd_test_child_passes("membarrier_can_only_be_registered", NULL);
}

#ifdef ABD_THREAD_POINTER

static void *find_slot(void *arg)
{
	struct abd_thread *self = abd_thread_self();

	*(struct abd_thread_slot **)arg =
		abd_thread_mine() == self ? abd_thread_slot(ABD_THREAD_POINTER) : NULL;
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return NULL;
}

/* A thread's slot is free when it has ended, and in a child of fork(), where it is gone. */
ABD_TEST_CHILD(slots_are_left)
{
	struct abd_thread_slot *slot = NULL;
	pthread_t thread;
	int status = 1;

	abd_thread_self();
	pthread_barrier_init(&meeting, NULL, 2);
	abd_test_child_expect(pthread_create(&thread, NULL, find_slot, &slot) == 0);
	pthread_barrier_wait(&meeting);
	if (slot != NULL) {
		abd_test_child_expect(slot->owner != 0);
		pid_t pid = fork();

		if (pid == 0)
			abd_test_child_end(
				slot->owner != 0 || abd_thread_mine() != abd_thread_self());
		abd_test_child_expect(waitpid(pid, &status, 0) == pid && status == 0);
	}
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	abd_test_child_expect(slot == NULL || slot->owner == 0);

	/* All slots are another's: a thread has none, and leaves them alone. */
	for (size_t i = 0; i < ABD_THREAD_SLOTS; i++)
		abd_thread_slots[i].owner = 1;
	abd_test_child_expect(pthread_create(&thread, NULL, find_slot, &slot) == 0);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	abd_test_child_expect(slot == NULL);
	for (size_t i = 0; i < ABD_THREAD_SLOTS; i++)
		abd_test_child_expect(abd_thread_slots[i].owner == 1);
	return 0;
}

Test(abd_thread, slots_are_left_by_threads_that_are_gone)
{
	abd_test_child_passes("slots_are_left", NULL);
}

#endif
