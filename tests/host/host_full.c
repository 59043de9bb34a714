/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's first buffers when the process may map little more: it gets some, or NULL. Each limit
 * is tried in a process of its own. It asks for jemalloc, whose own threads' memory must not be
 * missing either.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <abd/abd.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define STACK (256 * KIB)
#define THREADS 4

/* What a thread has had. It stays until all threads have ended: so each asks for memory of its own,
 * whichever of them run at once. */
struct had {
	abd_t *abd[64];
	size_t count;
};

static void *take(void *arg)
{
	struct had *had = arg;
	size_t n = 0;

	while (n < 64 && (had->abd[n] = n % 2 != 0 ? abd_alloc(4096 << n % 8, false)
						   : abd_alloc_linear(512 << n % 8, false)) != NULL)
		n++;
	had->count = n;
	return NULL;
}

static void give_back(struct had *had)
{
	for (size_t i = 0; i < had->count; i++)
		abd_free(had->abd[i]);
}

static size_t mapped(void)
{
	FILE *stream = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (stream == NULL || fscanf(stream, "%zu", &pages) != 1)
		_exit(2);
	fclose(stream);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns how many threads could be started. */
static int try(size_t more)
{
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};
	pthread_attr_t attributes;
	pthread_t thread[THREADS];
	struct had had[THREADS];
	int count = 0;

	take(&had[0]); /* all that is made once */
	give_back(&had[0]);
	limit.rlim_cur = mapped() + THREADS * STACK + more;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 0;
	while (count < THREADS &&
		pthread_create(&thread[count], &attributes, take, &had[count]) == 0)
		count++;
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < count; i++)
		give_back(&had[i]);
	return count;
}

int main(void)
{
	unsigned started = 0;

	for (size_t more = 0; more < 16 << 20; more += more < 1 << 20 ? 16 * KIB : 512 * KIB) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(try(more));
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 2;
		if (!WIFEXITED(status) || WEXITSTATUS(status) > THREADS) {
			printf("FAIL: with %zu KiB more: %s\n", more / KIB,
				WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
			return 1;
		}
		started += (unsigned)WEXITSTATUS(status);
	}
	printf("%u threads had their buffers, or none\n", started);
	return started < 10;
}
