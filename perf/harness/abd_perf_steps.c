/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the child does besides the work is the same without it, and is subtracted.
 */
#include "abd_perf_steps.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define ABD_PERF_STEPS_MAX 10000000

/* Where a stopped process is. x86 stops at each repetition of a string instruction. */
#if defined(__x86_64__)
static long abd_perf_steps_at(pid_t child)
{
	return ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip), NULL);
}
#else
static long abd_perf_steps_at(pid_t child)
{
	static long another;

	(void)child;
	return another++;
}
#endif

static void abd_perf_steps_nothing(void *arg)
{
	(void)arg;
}

static void abd_perf_steps_child(void (*work)(void *arg), void *arg)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	raise(SIGSTOP);
	work(arg);
	_exit(0);
}

/* All steps from the child's stop to its end; 0: it could not be stepped to there. */
static long abd_perf_steps_all(void (*work)(void *arg), void *arg)
{
	pid_t child = fork();
	long steps = 0, last = 0;
	int status = 1;

	if (child == 0)
		abd_perf_steps_child(work, arg);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 0;
	while (WIFSTOPPED(status) && steps < ABD_PERF_STEPS_MAX) {
		long at = abd_perf_steps_at(child);

		steps += at != last;
		last = at;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
			waitpid(child, &status, 0) != child)
			break;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0 ? steps : 0;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 0;
}

long abd_perf_steps(void (*work)(void *arg), void *arg)
{
	long without = abd_perf_steps_all(abd_perf_steps_nothing, arg),
	     with = without > 0 ? abd_perf_steps_all(work, arg) : 0;

	return with > without ? with - without : 0;
}
