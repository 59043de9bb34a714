/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that opens libabd.so (argv[1]) while it already runs: everything works on the C library's
 * memory, and closing it is harmless while a thread that used it still lives.
 */
#include "host.h"

#include <abd/abd.h>

#include <pthread.h>
#include <semaphore.h>

static sem_t used, closed;
static const char *provider; /* argv[2] */

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (function == NULL) {
		printf("FAIL: %s\n", dlerror());
		exit(1);
	}
	return function;
}

#define FIND(library, name) __typeof__(name) *name##_ = (__typeof__(name) *)find(library, #name)

static void *use(void *library)
{
	FIND(library, abd_alloc);
	FIND(library, abd_zero_off);
	FIND(library, abd_cmp_zero_off);
	FIND(library, abd_free);
	FIND(library, abd_tuning_get);

	abd_t *abd = abd_alloc_(1 << 20, false);

	if (abd == NULL)
		exit(2);
	abd_zero_off_(abd, 0, 1 << 20);
	if (abd_cmp_zero_off_(abd, 0, 1 << 20) != 0)
		exit(2);
	abd_free_(abd);
	host_expect_text("chunk_provider", abd_tuning_get_("chunk_provider"), provider);
	return NULL;
}

static void *use_and_outlive(void *library)
{
	use(library);
	sem_post(&used);
	sem_wait(&closed);
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t thread;

	if (library == NULL) {
		printf("FAIL: %s\n", argc == 3 ? dlerror() : "usage: host_dlopen LIBRARY PROVIDER");
		return 2;
	}
	provider = argv[2];
	sem_init(&used, 0, 0);
	sem_init(&closed, 0, 0);
	use(library);
	pthread_create(&thread, NULL, use_and_outlive, library);
	sem_wait(&used);
	dlclose(library);
	sem_post(&closed);
	pthread_join(thread, NULL);
	host_expect_owner("malloc", "libc.so");
	return host_failed;
}
