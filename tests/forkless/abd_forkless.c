/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forkless runner: runs all tests one after another in this process, in the order of their
 * source.
 *
 * usage: program [SUITE[/NAME]]     both may hold wildcards, as in a shell
 *        program --list
 *
 * ABD_TEST_SKIP="PATTERN ..." in the environment leaves tests out: gates with slow checkers name
 * the tests that take too long. With ABD_TEST_STOP=1 the program ends at the first test that fails.
 *
 * Invariant: the last line is "N passed, N failed". If the process dies, the last line that begins
 * with "run" names the test. The exit code is 0 only if no test failed and at least one passed or
 * was skipped.
 *
 * No test is ended by the clock, which also runs while others use the machine: who starts the
 * program limits its processor time (tests/row). So tests have no timeout here.
 */
#include <criterion/criterion.h>

#include <fnmatch.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILD_FAILED = 113,
};

enum outcome { PASSED, FAILED, SKIPPED };

static struct abd_forkless_test *test_first, **test_last = &test_first;
static struct abd_forkless_suite *suite_first;

/* A cancelled thread leaves its frames marked on its stack; AddressSanitizer then complains of
 * itself when it takes its signal stack away from the thread. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "use_sigaltstack=0";
}

static const struct abd_forkless_options no_options;
static const struct abd_forkless_test *test_now;
static atomic_uint failures_now;
static pthread_t runner_thread;
static jmp_buf test_end;

void abd_forkless_add_test(struct abd_forkless_test *test)
{
	*test_last = test;
	test_last = &test->next;
}

void abd_forkless_add_suite(struct abd_forkless_suite *suite)
{
	suite->next = suite_first;
	suite_first = suite;
}

void abd_forkless_fail(const char *file, int line, const char *claim, const char *format, ...)
{
	va_list args;

	atomic_fetch_add(&failures_now, 1);
	flockfile(stderr);
	fprintf(stderr, "FAIL %s/%s %s:%d: not so: %s", test_now->suite, test_now->name, file, line,
		claim);
	if (*format != '\0') {
		fprintf(stderr, ": ");
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
	}
	fprintf(stderr, "\n");
	funlockfile(stderr);
}

_Noreturn void abd_forkless_stop(void)
{
	if (pthread_equal(pthread_self(), runner_thread))
		longjmp(test_end, FAILED);
	fprintf(stderr, "FAIL on a thread of the test's own: the run ends here\n");
	_exit(1);
}

_Noreturn void abd_forkless_skip(const char *format, ...)
{
	va_list args;

	printf("skip %s/%s: ", test_now->suite, test_now->name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	longjmp(test_end, SKIPPED);
}

void abd_forkless_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("info ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static const struct abd_forkless_options *suite_options(const char *name)
{
	for (struct abd_forkless_suite *suite = suite_first; suite != NULL; suite = suite->next)
		if (strcmp(suite->name, name) == 0)
			return suite->options;
	return &no_options;
}

static void call(void (*function)(void))
{
	if (function != NULL)
		function();
}

static void end_steps(const struct abd_forkless_test *test)
{
	call(test->options->fini);
	call(suite_options(test->suite)->fini);
}

/* init, test, fini; a failed assertion ends all three, as under Criterion. */
static __attribute__((noinline)) void run_steps(const struct abd_forkless_test *test)
{
	call(suite_options(test->suite)->init);
	call(test->options->init);
	test->run();
	end_steps(test);
}

static enum outcome run_here(const struct abd_forkless_test *test)
{
	atomic_store(&failures_now, 0);

	int outcome = setjmp(test_end);

	if (outcome == PASSED)
		run_steps(test);
	if (outcome == SKIPPED) /* Criterion ends its process; here others follow */
		end_steps(test);
	return atomic_load(&failures_now) != 0 ? FAILED : (enum outcome)outcome;
}

/*
 * Only coverage builds have these, gcc's and clang's. A process that dies of a signal would lose
 * its counts without them.
 */
extern void __gcov_dump(void) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

void abd_forkless_dump_and_die(int signal_number)
{
	if (__gcov_dump != NULL)
		__gcov_dump();
	if (__llvm_profile_write_file != NULL)
		__llvm_profile_write_file();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static _Noreturn void run_as_child(const struct abd_forkless_test *test)
{
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	/*
	 * A sanitizer may have installed its own handler, which would turn the signal into an exit
	 * code.
	 */
	if (test->options->signal != 0)
		signal(test->options->signal, abd_forkless_dump_and_die);

	enum outcome outcome = run_here(test);

	fflush(NULL);
	_exit(outcome == FAILED ? CHILD_FAILED : 0);
}

static enum outcome run_in_child(const struct abd_forkless_test *test)
{
	int status = 0;

	fflush(NULL);

	pid_t child = fork();

	if (child == 0)
		run_as_child(test);
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("fork");
		return FAILED;
	}

	int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	if (signal_number == test->options->signal && exit_code == test->options->exit_code)
		return PASSED;
	fprintf(stderr, "FAIL %s/%s: ended with signal %d, exit code %d; expected %d, %d\n",
		test->suite, test->name, signal_number, exit_code, test->options->signal,
		test->options->exit_code);
	return FAILED;
}

static enum outcome run_test(const struct abd_forkless_test *test)
{
	if (test->options->disabled || suite_options(test->suite)->disabled)
		return SKIPPED;
	test_now = test;
	printf("run  %s/%s\n", test->suite, test->name);
	if (test->options->signal != 0 || test->options->exit_code != 0)
		return run_in_child(test);
	return run_here(test);
}

/* Whether one of the patterns is that of the test, or of its whole suite. */
static bool is_named(const struct abd_forkless_test *test, const char *patterns)
{
	char copy[4096], full[512], *rest = copy, *pattern;

	snprintf(full, sizeof(full), "%s/%s", test->suite, test->name);
	snprintf(copy, sizeof(copy), "%s", patterns);
	while ((pattern = strtok_r(rest, " \t\n", &rest)) != NULL)
		if (fnmatch(pattern, full, 0) == 0 || fnmatch(pattern, test->suite, 0) == 0)
			return true;
	return false;
}

static bool is_chosen(const struct abd_forkless_test *test, const char *filter)
{
	const char *skip = getenv("ABD_TEST_SKIP");

	return (filter == NULL || is_named(test, filter)) &&
	       (skip == NULL || !is_named(test, skip));
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
	const char *filter = argc > 1 && !list ? argv[1] : NULL;
	unsigned count[3] = {0, 0, 0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	runner_thread = pthread_self();

	for (struct abd_forkless_test *test = test_first; test != NULL; test = test->next) {
		if (!is_chosen(test, filter))
			continue;
		if (list)
			printf("%s/%s\n", test->suite, test->name);
		else
			count[run_test(test)]++;
		if (count[FAILED] != 0 && getenv("ABD_TEST_STOP") != NULL)
			break;
	}
	if (list)
		return 0;
	if (count[SKIPPED] != 0)
		printf("%u skipped\n", count[SKIPPED]);
	printf("%u passed, %u failed\n", count[PASSED], count[FAILED]);
	return count[FAILED] != 0 || count[PASSED] + count[SKIPPED] == 0;
}
