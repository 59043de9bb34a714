/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The affinity of the process, and the limits of its control groups.
 * Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of Linux; man 7 cgroups.
 */
#include "abd_process.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	ABD_PROCESS_PATH = 512,
	ABD_PROCESS_LIST = 2048,
	ABD_PROCESS_CPUS = 8192, /* the most that Linux can be built for */
};

void abd_process_read(const char *path, char *text, size_t size)
{
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		got = read(fd, text, size - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
}

/* The numbers in a file of a group, up to count; "max", a negative number or none: SIZE_MAX. */
static void abd_process_numbers(const char *group, const char *name, size_t *number, size_t count)
{
	char path[ABD_PROCESS_PATH + 32], text[64], *at = text;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	abd_process_read(path, text, sizeof(text));
	for (size_t i = 0; i < count; i++) {
		at += strspn(at, " ");
		number[i] = *at >= '0' && *at <= '9' ? (size_t)strtoull(at, NULL, 10) : SIZE_MAX;
		at += strcspn(at, " ");
	}
}

/* ---- what one group allows ---- */

static size_t abd_process_rounded(size_t quota, size_t period)
{
	if (quota == SIZE_MAX || period == SIZE_MAX || period == 0)
		return SIZE_MAX;
	return quota / period + (quota % period > 0);
}

static size_t abd_process_processors_1(const char *group)
{
	size_t quota, period;

	abd_process_numbers(group, "cpu.cfs_quota_us", &quota, 1);
	abd_process_numbers(group, "cpu.cfs_period_us", &period, 1);
	return abd_process_rounded(quota, period);
}

static size_t abd_process_processors_2(const char *group)
{
	size_t number[2];

	abd_process_numbers(group, "cpu.max", number, 2);
	return abd_process_rounded(number[0], number[1]);
}

static size_t abd_process_rest(const char *group, const char *limit_name, const char *used_name)
{
	size_t limit, used;

	abd_process_numbers(group, limit_name, &limit, 1);
	abd_process_numbers(group, used_name, &used, 1);
	if (limit >= (size_t)PTRDIFF_MAX / 2) /* how version 1 says "no limit" */
		return SIZE_MAX;
	return used < limit ? limit - used : used == SIZE_MAX ? limit : 0;
}

static size_t abd_process_memory_1(const char *group)
{
	return abd_process_rest(group, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

static size_t abd_process_memory_2(const char *group)
{
	return abd_process_rest(group, "memory.max", "memory.current");
}

/* ---- the groups of the process ---- */

/* The least that a group and those it is in allow. In a container its own group may be the root. */
static size_t abd_process_upward(const char *mount, const char *controller, const char *path,
	size_t (*allowed)(const char *))
{
	char group[ABD_PROCESS_PATH], *slash;
	size_t least = SIZE_MAX, root;

	root = (size_t)snprintf(group, sizeof(group), "%s/%s", mount, controller);
	if (root + strlen(path) >= sizeof(group))
		return SIZE_MAX;
	strcpy(group + root, path);
	do {
		least = abd_min(least, allowed(group));
		slash = strrchr(group + root, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
	return least;
}

/* Whether the list controllers, such as "cpu,cpuacct", has this controller. */
static bool abd_process_has(const char *controllers, const char *controller)
{
	size_t length = strlen(controller);

	for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, controller, length) == 0 &&
			(at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

/*
 * Each line of the list is a number, controllers and a path, with colons between them. Version 2
 * has no controllers there; it is mounted at "unified" beside those of version 1.
 */
static size_t abd_process_groups(const char *mount, const char *list, const char *controller,
	size_t (*allowed_1)(const char *), size_t (*allowed_2)(const char *))
{
	char text[ABD_PROCESS_LIST], *rest = text, *line;
	size_t least = SIZE_MAX;

	abd_process_read(list, text, sizeof(text));
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *path = line;

		strsep(&path, ":");

		const char *controllers = strsep(&path, ":");

		if (path == NULL)
			continue;
		if (abd_process_has(controllers, controller))
			least = abd_min(
				least, abd_process_upward(mount, controller, path, allowed_1));
		if (*controllers != '\0')
			continue;
		least = abd_min(least, abd_process_upward(mount, "", path, allowed_2));
		least = abd_min(least, abd_process_upward(mount, "unified", path, allowed_2));
	}
	return least;
}

size_t abd_process_group_processors(const char *mount, const char *list)
{
	return abd_process_groups(
		mount, list, "cpu", abd_process_processors_1, abd_process_processors_2);
}

size_t abd_process_group_memory(const char *mount, const char *list)
{
	return abd_process_groups(
		mount, list, "memory", abd_process_memory_1, abd_process_memory_2);
}

/* ---- this process ---- */

/*
 * The affinity is that of the first thread: a thread that a program has tied to one processor does
 * not speak for the others.
 */
static size_t abd_process_affinity(void)
{
	unsigned long set[ABD_PROCESS_CPUS / (8 * sizeof(unsigned long))] = {0};
	size_t count = 0;

	if (sched_getaffinity(getpid(), sizeof(set), (cpu_set_t *)set) != 0)
		return (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		count += (size_t)__builtin_popcountl(set[i]);
	return count;
}

size_t abd_process_processors(void)
{
	ABD_KEEP_ERRNO;
	ABD_NO_CANCEL;
	size_t count = abd_min(abd_process_affinity(),
		abd_process_group_processors("/sys/fs/cgroup", "/proc/self/cgroup"));

	return count > 0 ? count : 1;
}

size_t abd_process_memory(void)
{
	ABD_KEEP_ERRNO;
	ABD_NO_CANCEL;

	return abd_process_group_memory("/sys/fs/cgroup", "/proc/self/cgroup");
}
