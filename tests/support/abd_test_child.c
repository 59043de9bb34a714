/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting the test program anew: /proc/self/exe with ABD_TEST_CHILD naming the function.
 */
#include "abd_test.h"

#define VARIABLES 512

extern char **environ;

/* Only the forkless runner has it. Coverage builds use no other runner. */
extern void abd_forkless_dump_and_die(int signal_number) __attribute__((weak));
/*
 * clang's coverage runtime. A child runs before that runtime has started and exits, so it must
 * start the runtime and write the counts itself.
 */
extern void __llvm_profile_initialize_file(void) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

static void count_coverage(void)
{
	__llvm_profile_write_file();
}

void abd_test_child_start(const char *name, int (*function)(void))
{
	const char *wanted = getenv("ABD_TEST_CHILD");

	if (wanted == NULL || strcmp(wanted, name) != 0)
		return;
	unsetenv("ABD_TEST_CHILD");
	if (__llvm_profile_initialize_file != NULL) {
		__llvm_profile_initialize_file();
		atexit(count_coverage);
	}
	if (abd_forkless_dump_and_die != NULL)
		signal(SIGABRT, abd_forkless_dump_and_die);
	exit(function());
}

/*
 * Our environment, without variables that would change what the child does: those of the library
 * and of the test runners.
 */
static size_t inherit(const char **variables, size_t room)
{
	size_t count = 0;

	for (char **variable = environ; *variable != NULL && count < room; variable++)
		if (strncmp(*variable, "ABD_", 4) != 0 && strncmp(*variable, "BXF", 3) != 0)
			variables[count++] = *variable;
	return count;
}

/*
 * ABD_TEST_EMULATOR names the emulator, with its options, for test programs that this machine can't
 * run directly.
 */
static void __attribute__((noreturn)) child(const char **variables, int text_fd)
{
	const char *arguments[16] = {"child", NULL}, *program = "/proc/self/exe";
	const char *emulator = getenv("ABD_TEST_EMULATOR");
	char words[1024], self[1024] = "";

	if (emulator != NULL && readlink(program, self, sizeof(self) - 1) > 0) {
		size_t count = 0;

		snprintf(words, sizeof(words), "%s", emulator);
		for (char *word = strtok(words, " "); word != NULL && count < 14;
			word = strtok(NULL, " "))
			arguments[count++] = word;
		arguments[count] = self;
		program = arguments[0];
	}
	dup2(text_fd, STDERR_FILENO);
	signal(SIGABRT, SIG_DFL);
	execve(program, (char *const *)(const void *)arguments,
		(char *const *)(const void *)variables);
	_exit(127);
}

static void read_all(int fd, char *text, size_t size)
{
	size_t used = 0;
	char rest[256];
	ssize_t got;

	while (used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	while (read(fd, rest, sizeof(rest)) > 0)
		;
}

int abd_test_child_run(
	const char *name, const char *const *environment, char *text, size_t text_size)
{
	const char *variables[VARIABLES + 16];
	size_t count = inherit(variables, VARIABLES);
	char wanted[128];
	int fds[2], status = -1;

	for (; environment != NULL && *environment != NULL; environment++)
		variables[count++] = *environment;
	snprintf(wanted, sizeof(wanted), "ABD_TEST_CHILD=%s", name);
	variables[count++] = wanted;
	variables[count] = NULL;
	if (pipe(fds) != 0)
		return -1;

	pid_t pid = fork();

	if (pid == 0)
		child(variables, fds[1]);
	close(fds[1]);
	read_all(fds[0], text, text_size);
	close(fds[0]);
	/* Cut off the message that qemu adds to the program's own. */
	if (strstr(text, "qemu: uncaught target signal") != NULL)
		*strstr(text, "qemu: uncaught target signal") = '\0';
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

/* There in builds that measure coverage. */
void __gcov_dump(void) __attribute__((weak));

void abd_test_child_end(int status)
{
	if (__gcov_dump != NULL)
		__gcov_dump();
	_exit(status);
}

int abd_test_child_exit(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void abd_test_child_passes(const char *name, const char *const *environment)
{
	char text[512];
	int status = abd_test_child_run(name, environment, text, sizeof(text));

	cr_assert_eq(abd_test_child_exit(status), 0, "%s %s: status %x: %s", name,
		environment != NULL ? environment[0] : "", (unsigned)status, text);
}
