/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A power failure, for a program that writes to one mapped log and one file. This library is
 * preloaded and keeps a second copy of each, which gets only what was synced. After a kill, the
 * disk might hold any mixture of the two; test_kill.py makes one.
 *
 * ABD_POWER_LOG and ABD_POWER_FILE name the files. Their copies have .synced behind the name, and
 * are made if they don't exist. A sync takes a millisecond, as on a disk, so that kills happen
 * during it. While a file NAME.fails exists, a sync fails with EIO; the file then loses what was
 * written since the last good sync, as Linux may drop pages that it could not write, and the next
 * sync succeeds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define POWER_TAKES_OVER __attribute__((visibility("default")))

static pthread_mutex_t power_lock = PTHREAD_MUTEX_INITIALIZER;
static char *power_map;
static size_t power_map_size;
static int power_log = -1;

static void give_up(const char *what)
{
	perror(what);
	abort();
}

/* Whether fd is the file that the environment names. */
static bool power_is(int fd, const char *variable)
{
	const char *wanted = getenv(variable);
	char link[64], path[PATH_MAX];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	if (wanted == NULL || size < 0)
		return false;
	path[size] = '\0';
	return strcmp(path, wanted) == 0;
}

static int power_open(const char *variable, bool *is_new)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s.synced", getenv(variable));
	*is_new = access(path, F_OK) != 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		give_up(path);
	return fd;
}

/* Wait as for a disk. Returns whether the disk works. */
static bool power_disk(const char *variable)
{
	struct timespec latency = {0, 1000000};
	char path[PATH_MAX];

	nanosleep(&latency, NULL);
	snprintf(path, sizeof(path), "%s.fails", getenv(variable));
	if (access(path, F_OK) != 0)
		return true;
	errno = EIO;
	return false;
}

static void power_copy(int to, const char *from, size_t size, off_t offset)
{
	if (pwrite(to, from, size, offset) != (ssize_t)size)
		give_up("power_loss: copy");
}

POWER_TAKES_OVER void *mmap(
	void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	bool is_new;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	void *map = next(address, size, protection, flags, fd, offset);

	if (map != MAP_FAILED && fd >= 0 && power_is(fd, "ABD_POWER_LOG")) {
		power_map = map;
		power_map_size = size;
		power_log = power_open("ABD_POWER_LOG", &is_new);
		if (is_new)
			power_copy(power_log, power_map, size, 0);
	}
	return map;
}

POWER_TAKES_OVER int msync(void *address, size_t size, int flags)
{
	size_t from = (size_t)((char *)address - power_map);

	(void)flags;
	if (power_map == NULL || from > power_map_size || size > power_map_size - from) {
		errno = ENOMEM;
		return -1;
	}
	if (!power_disk("ABD_POWER_LOG"))
		return -1;
	pthread_mutex_lock(&power_lock);
	power_copy(power_log, power_map + from, size, (off_t)from);
	pthread_mutex_unlock(&power_lock);
	return 0;
}

/* The whole of one file into the other. */
static void power_copy_file(int to, int from)
{
	off_t size = lseek(from, 0, SEEK_END);
	char *copy = malloc((size_t)size);

	if (copy == NULL || pread(from, copy, (size_t)size, 0) != size)
		give_up("power_loss: read");
	power_copy(to, copy, (size_t)size, 0);
	free(copy);
}

POWER_TAKES_OVER int fdatasync(int fd)
{
	bool is_new, works;
	int synced;

	if (!power_is(fd, "ABD_POWER_FILE"))
		return 0;
	works = power_disk("ABD_POWER_FILE");
	pthread_mutex_lock(&power_lock);
	synced = power_open("ABD_POWER_FILE", &is_new);
	if (is_new && !works && ftruncate(synced, lseek(fd, 0, SEEK_END)) != 0)
		give_up("power_loss: ftruncate");
	if (works)
		power_copy_file(synced, fd);
	else
		power_copy_file(fd, synced);
	close(synced);
	pthread_mutex_unlock(&power_lock);
	errno = EIO;
	return works ? 0 : -1;
}
