/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that opens libabd.so when many libraries with thread-local words are open already and
 * static TLS has run out, three times over. Each time threads use a cache; resident memory is
 * printed. The same source is compiled as C++, and linked to the library (LIBRARY is "-"), to
 * compare the memory.
 *
 * usage: host_late LIBRARY NEIGHBOUR STATIC_NEIGHBOUR COUNT
 */
#include "host.h"

#include <abd/abd.h>

#include <pthread.h>
#include <unistd.h>

enum {
	THREADS = 4,
	ROUNDS = 3,
	NAME = 4096,
	CAPACITY = 64 << 20,
	RECORDS = 10000,
	RECORD_MAX = 16000
};

int host_neighbour_use(void);

static char folder[] = "/tmp/host_late.XXXXXX";

/* A copy of its own for each: the loader opens a file only once. */
static void *open_copy(const char *file, int number)
{
	static char bytes[1 << 20];
	char name[NAME];
	size_t size = 0;
	FILE *from = fopen(file, "rb"), *to;
	void *library;

	snprintf(name, sizeof(name), "%s/%d.so", folder, number);
	to = fopen(name, "wb");
	if (from == NULL || to == NULL)
		exit(2);
	size = fread(bytes, 1, sizeof(bytes), from);
	if (size == 0 || fwrite(bytes, 1, size, to) != size || fclose(to) != 0)
		exit(2);
	fclose(from);
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	unlink(name);
	return library;
}

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

static void open_neighbours(char **argv)
{
	int count = atoi(argv[4]), number = 0, in_static = 0;

	if (mkdtemp(folder) == NULL)
		exit(2);
	for (; number < count; number++) {
		void *neighbour = open_copy(argv[2], number);
		FIND(neighbour, host_neighbour_use);

		host_neighbour_use_();
	}
	while (open_copy(argv[3], number++) != NULL)
		in_static++;
	rmdir(folder);
	printf("%d neighbours, %d more in static TLS, then: %s\n", count, in_static, dlerror());
}

static void *library;
static abd_arc_t *arc;

static uint32_t random_next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Of a key follow its size and its bytes. Returns the size. */
static size_t fill(uint64_t key, uint32_t *record)
{
	uint32_t state = (uint32_t)key;
	size_t size = 100 + random_next(&state) % (RECORD_MAX - 100);

	for (size_t i = 0; i < (size + 3) / 4; i++)
		record[i] = random_next(&state) << 16 ^ random_next(&state);
	return size;
}

static void *use(void *number)
{
	static uint32_t record[THREADS][RECORD_MAX / 4], got[THREADS][RECORD_MAX / 4];
	size_t self = (size_t)number, size;
	FIND(library, abd_arc_put);
	FIND(library, abd_arc_read);
	FIND(library, abd_arc_hold);
	FIND(library, abd_arc_release);

	for (uint64_t i = 0; i < RECORDS; i++) {
		abd_arc_key_t key = {self, {i, 0}, 0};
		abd_arc_hold_t hold;

		size = fill(self << 32 ^ i, record[self]);
		if (abd_arc_put_(arc, &key, record[self], size) != 0)
			exit(3);
		key.dva[0] = i / 2;
		size = fill(self << 32 ^ i / 2, record[self]);
		if (abd_arc_hold_(arc, &key, &hold) != 0)
			continue;
		if (hold.logical_size != size ||
			abd_arc_read_(arc, &key, got[self], 0, size) != (ssize_t)size ||
			memcmp(record[self], got[self], size) != 0)
			exit(4);
		abd_arc_release_(&hold);
	}
	return NULL;
}

static size_t resident_kib(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		exit(2);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void round_runs(const char *file, int round)
{
	struct abd_arc_config config;
	size_t before = resident_kib();
	pthread_t thread[THREADS];

	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		printf("FAIL: %s\n", dlerror());
		exit(1);
	}
	FIND(library, abd_arc_create);
	FIND(library, abd_arc_destroy);

	memset(&config, 0, sizeof(config));
	config.config_size = sizeof(config);
	config.capacity_bytes = CAPACITY;
	arc = abd_arc_create_(&config);
	if (arc == NULL)
		exit(2);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, use, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("round %d: resident %zu KiB, of the cache %zu\n", round, resident_kib(),
		resident_kib() - before);
	abd_arc_destroy_(arc);
	dlclose(library);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	open_neighbours(argv);
	for (int round = 0; round < ROUNDS; round++)
		round_runs(strcmp(argv[1], "-") == 0 ? NULL : argv[1], round);
	host_expect_owner("malloc", "libc.so");
	return host_failed;
}
