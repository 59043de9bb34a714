/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that opens a plugin (argv[1]) after its threads have started, lets them use it, and closes
 * it before they end. Then it does all that again. Threads that end call back into the library
 * which the plugin holds, so its code must still be there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 3 };

static pthread_barrier_t opened, used, closed;
static int (*use)(void);

static void *thread_runs(void *arg)
{
	int *result = arg;

	pthread_barrier_wait(&opened);
	*result = use();
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&closed);
	return NULL;
}

static void *plugin_open(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	void *function = plugin != NULL ? dlsym(plugin, "host_plugin_use") : NULL;

	memcpy(&use, &function, sizeof(use)); /* ISO C has no cast from an object's pointer */
	if (use == NULL)
		printf("FAIL: %s\n", dlerror());
	return plugin;
}

/* How many of the threads failed; THREADS + 1: the plugin could not be opened or closed. */
static int round_runs(const char *file)
{
	pthread_t thread[THREADS];
	int result[THREADS] = {0}, failed = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_runs, &result[i]);

	void *plugin = plugin_open(file);

	if (use == NULL)
		return THREADS + 1;
	pthread_barrier_wait(&opened);
	pthread_barrier_wait(&used);
	if (dlclose(plugin) != 0)
		return THREADS + 1;
	pthread_barrier_wait(&closed);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		failed += result[i] != 0;
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed = argc != 2;

	pthread_barrier_init(&opened, NULL, THREADS + 1);
	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&closed, NULL, THREADS + 1);
	for (int round = 0; failed == 0 && round < ROUNDS; round++)
		failed = round_runs(argv[1]);
	printf("%d failed\n", failed);
	return failed != 0;
}
