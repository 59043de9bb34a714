/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read-side sections and grace periods: threads come, end and fork, and the system refuses what it
 * can.
 */
#include "abd_rcu.h"
#include "abd_test.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>

#define expect abd_test_child_expect

enum { READERS = 4, TURNS = 300 };

/* What readers follow, and what they must never see: a cell that the writer has taken back. */
static struct cell {
	atomic_int gone;
} cells[2];
static struct cell *_Atomic current;
static atomic_bool stop;
static atomic_int inside, seen_gone, sections;

static void *follow(void *arg)
{
	while (!atomic_load(&stop)) {
		abd_rcu_read_lock();
		struct cell *cell = atomic_load_explicit(&current, memory_order_acquire);

		for (int i = 0; i < 20; i++)
			if (atomic_load_explicit(&cell->gone, memory_order_relaxed) != 0)
				atomic_fetch_add(&seen_gone, 1);
		abd_rcu_read_unlock();
		atomic_fetch_add(&sections, 1);
		sched_yield();
	}
	return NULL;
}

/* 0: what a reader follows is never gone before its section ends. */
static int readers_are_waited_for(void)
{
	pthread_t reader[READERS];

	atomic_store(&current, &cells[0]);
	for (int i = 0; i < READERS; i++)
		expect(pthread_create(&reader[i], NULL, follow, NULL) == 0);
	while (atomic_load(&sections) < READERS)
		sched_yield();
	for (int turn = 0; turn < TURNS; turn++) {
		struct cell *old = atomic_load(&current), *new = &cells[old == cells];

		atomic_store(&new->gone, 0);
		atomic_store_explicit(&current, new, memory_order_release);
		abd_rcu_synchronize();
		atomic_store(&old->gone, 1);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(reader[i], NULL);
	expect(atomic_load(&seen_gone) == 0);
	return 0;
}

/* A thread that goes into a section, and leaves it, when it is asked to. */
struct visitor {
	pthread_t thread;
	atomic_bool is_inside, may_leave, has_left, may_end;
};

static void until(const atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(100);
}

static void *visit(void *arg)
{
	struct visitor *visitor = arg;

	abd_rcu_read_lock();
	atomic_store(&visitor->is_inside, true);
	until(&visitor->may_leave);
	abd_rcu_read_unlock();
	atomic_store(&visitor->has_left, true);
	until(&visitor->may_end);
	return NULL;
}

static bool visitor_begin(struct visitor *visitor)
{
	*visitor = (struct visitor){0};
	if (pthread_create(&visitor->thread, NULL, visit, visitor) != 0)
		return false;
	until(&visitor->is_inside);
	return true;
}

static void visitor_leave(struct visitor *visitor)
{
	atomic_store(&visitor->may_leave, true);
	until(&visitor->has_left);
}

static void visitor_end(struct visitor *visitor)
{
	atomic_store(&visitor->may_end, true);
	pthread_join(visitor->thread, NULL);
}

/* 0: periods wait for the sections that had begun, for those alone, and one after the other. */
static int periods_pass_in_turn(void)
{
	struct visitor early, late;
	uint64_t none = abd_rcu_period_begin();

	expect(abd_rcu_period_has_passed(none));
	expect(visitor_begin(&early));
	uint64_t first = abd_rcu_period_begin();

	expect(visitor_begin(&late));
	uint64_t second = abd_rcu_period_begin();

	expect(none < first && first < second);
	expect(!abd_rcu_period_has_passed(first) && !abd_rcu_period_has_passed(second));
	expect(abd_rcu_period_has_passed(none));
	visitor_leave(&early);
	/* Only whoever asks for the second one begins it. */
	expect(abd_rcu_period_has_passed(first) && !abd_rcu_period_has_passed(second));
	expect(abd_rcu_period_has_passed(first));
	visitor_leave(&late);
	expect(abd_rcu_period_has_passed(second));
	expect(abd_rcu_period_has_passed(abd_rcu_period_begin()));
	visitor_end(&early);
	visitor_end(&late);
	return 0;
}

ABD_TEST_CHILD(rcu_periods)
{
	return periods_pass_in_turn();
}

ABD_TEST_CHILD(rcu_readers)
{
	return readers_are_waited_for();
}

static int membarrier_missing(int command)
{
	errno = ENOSYS;
	return -1;
}

ABD_TEST_CHILD(rcu_no_membarrier)
{
	abd_rcu_membarrier = membarrier_missing;
	return readers_are_waited_for();
}

ABD_TEST_CHILD(rcu_periods_no_membarrier)
{
	abd_rcu_membarrier = membarrier_missing;
	return periods_pass_in_turn();
}

ABD_TEST_CHILD(rcu_no_key)
{
	abd_test_wrap_fail(ABD_TEST_KEY_CREATE, 1);
	abd_rcu_read_lock();
	expect(abd_rcu_read_ongoing() && !abd_rcu_self.enrolled);
	abd_rcu_read_unlock();
	expect(!abd_rcu_read_ongoing());
	return readers_are_waited_for();
}

/* One refusal is for one section: the next one enrols. */
ABD_TEST_CHILD(rcu_no_value)
{
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	abd_rcu_read_lock();
	expect(abd_rcu_read_ongoing() && !abd_rcu_self.enrolled);
	abd_rcu_read_unlock();
	abd_rcu_read_lock();
	expect(abd_rcu_read_ongoing() && abd_rcu_self.enrolled);
	abd_rcu_read_unlock();
	return readers_are_waited_for();
}

static int (*membarrier_system)(int command);
static atomic_int barriers_refused;

/* Every other barrier is refused, as by a system that is short of memory. */
static int membarrier_short(int command)
{
	if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
		atomic_fetch_add(&barriers_refused, 1) % 2 == 0) {
		errno = ENOMEM;
		return -1;
	}
	return membarrier_system(command);
}

ABD_TEST_CHILD(rcu_barrier_short)
{
	membarrier_system = abd_rcu_membarrier;
	abd_rcu_membarrier = membarrier_short;
	expect(readers_are_waited_for() == 0);
	/* 0: no system call at all, on a system without it. */
	expect(barriers_refused == 0 || barriers_refused >= 2 * TURNS);
	return 0;
}

static int membarrier_forbidden(int command)
{
	errno = EPERM;
	return command == MEMBARRIER_CMD_PRIVATE_EXPEDITED ? -1 : 0;
}

ABD_TEST_CHILD(rcu_barrier_forbidden)
{
	abd_rcu_membarrier = membarrier_forbidden;
	abd_rcu_synchronize();
	return 0;
}

Test(abd_rcu, a_writer_waits_for_sections_that_had_begun)
{
	abd_test_child_passes("rcu_readers", NULL);
}

Test(abd_rcu, a_grace_period_waits_for_the_sections_that_had_begun_and_no_others)
{
	abd_test_child_passes("rcu_periods", NULL);
}

Test(abd_rcu, without_membarrier_grace_periods_pass_too)
{
	abd_test_child_passes("rcu_periods_no_membarrier", NULL);
}

Test(abd_rcu, without_membarrier_a_writer_waits_too)
{
	abd_test_child_passes("rcu_no_membarrier", NULL);
}

Test(abd_rcu, without_thread_keys_a_writer_waits_too)
{
	abd_test_child_passes("rcu_no_key", NULL);
}

Test(abd_rcu, a_thread_whose_value_was_refused_enrols_later)
{
	abd_test_child_passes("rcu_no_value", NULL);
}

Test(abd_rcu, a_barrier_that_is_refused_for_memory_is_tried_again)
{
	abd_test_child_passes("rcu_barrier_short", NULL);
}

Test(abd_rcu, a_barrier_that_is_forbidden_later_ends_the_process)
{
	char text[1000];
	int status = abd_test_child_run("rcu_barrier_forbidden", NULL, text, sizeof(text));

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s", text);
	cr_assert(strstr(text, "membarrier(2) is forbidden now") != NULL, "%s", text);
}

/* ---- a writer's wait, seen from outside ------------------------------------------------------ */

static atomic_bool may_leave, waited;

static void *stay_inside(void *arg)
{
	abd_rcu_read_lock();
	atomic_store(&inside, 1);
	while (!atomic_load(&may_leave))
		usleep(1000);
	abd_rcu_read_unlock();
	return NULL;
}

/* It leaves its section and lives on: the writer's next look sees that. */
static void *stay_until_waited(void *arg)
{
	stay_inside(arg);
	while (!atomic_load(&waited))
		usleep(1000);
	return NULL;
}

static void *wait_for_readers(void *arg)
{
	abd_rcu_synchronize();
	atomic_store(&waited, true);
	return NULL;
}

static void begin_inside(pthread_t *reader, void *(*run)(void *))
{
	atomic_store(&inside, 0);
	atomic_store(&may_leave, false);
	atomic_store(&waited, false);
	cr_assert(pthread_create(reader, NULL, run, NULL) == 0);
	while (atomic_load(&inside) == 0)
		usleep(1000);
}

Test(abd_rcu, a_cancelled_writer_waits_to_the_end_and_the_next_one_finds_no_lock_held)
{
	pthread_t reader, writer;
	void *result;

	begin_inside(&reader, stay_until_waited);
	cr_assert(pthread_create(&writer, NULL, wait_for_readers, NULL) == 0);
	usleep(20000);
	pthread_cancel(writer);
	usleep(20000);
	cr_assert(!atomic_load(&waited));
	atomic_store(&may_leave, true);
	pthread_join(writer, &result);
	cr_assert(result == NULL && atomic_load(&waited));
	pthread_join(reader, NULL);
	abd_rcu_synchronize();
}

static void *end_inside(void *arg)
{
	abd_rcu_read_lock();
	atomic_store(&inside, 1);
	return arg;
}

Test(abd_rcu, a_thread_that_ends_inside_a_section_is_not_waited_for)
{
	pthread_t reader;

	begin_inside(&reader, end_inside);
	pthread_join(reader, NULL);
	abd_rcu_synchronize();
}

static pthread_key_t late_key;
static atomic_int late_sections;

/* The key's destructor runs again and again, behind the library's own too. */
static void read_late(void *left)
{
	abd_rcu_read_lock();
	cr_assert(abd_rcu_read_ongoing());
	abd_rcu_read_unlock();
	atomic_fetch_add(&late_sections, abd_rcu_self.ended);
	pthread_setspecific(late_key, (void *)((uintptr_t)left - 1));
}

static void *end_late(void *arg)
{
	/* Not in the last of the system's rounds: then ThreadSanitizer has left the thread. */
	pthread_setspecific(late_key, (void *)(uintptr_t)(PTHREAD_DESTRUCTOR_ITERATIONS - 1));
	abd_rcu_read_lock();
	abd_rcu_read_unlock();
	return arg;
}

Test(abd_rcu, a_threads_last_destructors_have_sections_too)
{
	pthread_t thread;

	cr_assert(pthread_key_create(&late_key, read_late) == 0);
	cr_assert(pthread_create(&thread, NULL, end_late, NULL) == 0);
	pthread_join(thread, NULL);
	cr_assert_gt(atomic_load(&late_sections), 0);
	pthread_key_delete(late_key);
	abd_rcu_synchronize();
}

/* Threads enter and leave the list in any order. */
Test(abd_rcu, threads_that_end_in_any_order_leave_the_list_whole)
{
	pthread_t thread[3];

	for (int last = 0; last < 3; last++) {
		for (int i = 0; i < 3; i++)
			begin_inside(&thread[i], i == last ? stay_inside : end_inside);
		atomic_store(&may_leave, true);
		for (int i = 0; i < 3; i++)
			pthread_join(thread[i], NULL);
		abd_rcu_synchronize();
	}
}

/* Only coverage builds have it. */
extern void __gcov_dump(void) __attribute__((weak));
/* In their own fork(), the child forgets what was counted in it so far. */
static pid_t (*volatile fork_counted)(void) = fork;

static _Noreturn void child_end(void)
{
	if (__gcov_dump != NULL)
		__gcov_dump();
	_exit(0);
}

/* enrolled: whether the forking thread is. */
static void fork_beside_a_section(bool enrolled)
{
	pthread_t reader;
	int status = 0;

	if (enrolled) {
		abd_rcu_read_lock();
		abd_rcu_read_unlock();
	}
	begin_inside(&reader, stay_inside);

	pid_t child = fork_counted();

	if (child == 0) {
		/* The reader is not in the child: nobody is waited for, and sections work. */
		abd_rcu_synchronize();
		abd_rcu_read_lock();
		abd_rcu_read_unlock();
		abd_rcu_synchronize();
		child_end();
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	atomic_store(&may_leave, true);
	pthread_join(reader, NULL);
	cr_assert_eq(status, 0);
}

/* 0: the child's grace periods pass, though a section of its parent's that is not in it does not.
 */
ABD_TEST_CHILD(rcu_no_membarrier_fork)
{
	struct visitor visitor;
	int status = 0;

	abd_rcu_membarrier = membarrier_missing;
	expect(visitor_begin(&visitor));
	abd_rcu_read_lock();

	pid_t child = fork_counted();

	if (child == 0) {
		uint64_t period = abd_rcu_period_begin();

		if (abd_rcu_period_has_passed(period))
			_exit(1); /* this thread's own section counts */
		abd_rcu_read_unlock();
		abd_rcu_synchronize();
		child_end();
	}
	abd_rcu_read_unlock();
	expect(waitpid(child, &status, 0) == child);
	visitor_leave(&visitor);
	visitor_end(&visitor);
	expect(status == 0);
	abd_rcu_synchronize();
	return 0;
}

Test(abd_rcu, without_membarrier_a_child_of_fork_waits_for_its_own_thread_only)
{
	abd_test_child_passes("rcu_no_membarrier_fork", NULL);
}

static void *fork_unenrolled(void *arg)
{
	fork_beside_a_section(false);
	return arg;
}

Test(abd_rcu, a_child_of_fork_waits_for_no_thread_of_its_parent)
{
	pthread_t thread;

	cr_assert(pthread_create(&thread, NULL, fork_unenrolled, NULL) == 0);
	pthread_join(thread, NULL);
	fork_beside_a_section(true);
}
