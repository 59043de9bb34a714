/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this process may use of its machine: control groups as Linux shows them, and the affinity.
 */
#include "abd_process.h"
#include "abd_test.h"

#include <sched.h>
#include <sys/stat.h>

static char root[] = "/tmp/abd_test_process_XXXXXX", list[64];
static char made[64][160]; /* files and folders, in the order they were made */
static size_t made_count;

static void begin(void)
{
	strcpy(strrchr(root, '_') + 1, "XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	snprintf(list, sizeof(list), "%s/list", root);
	made_count = 0;
}

static void end(void)
{
	while (made_count > 0)
		remove(made[--made_count]);
	rmdir(root);
}

TestSuite(abd_process, .init = begin, .fini = end);

/* Write a file below root, and make its folders. */
static void file(const char *name, const char *text)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) == 0)
			strcpy(made[made_count++], path);
		*slash = '/';
	}
	if (access(path, F_OK) != 0)
		strcpy(made[made_count++], path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static size_t processors(void)
{
	return abd_process_group_processors(root, list);
}

static size_t memory(void)
{
	return abd_process_group_memory(root, list);
}

Test(abd_process, without_groups_or_limits_there_is_no_limit)
{
	cr_assert_eq(processors(), SIZE_MAX);
	cr_assert_eq(memory(), SIZE_MAX);
	file("list", "0::/user\n");
	cr_assert_eq(processors(), SIZE_MAX);
	cr_assert_eq(memory(), SIZE_MAX);
	file("user/cpu.max", "max 100000\n");
	file("user/memory.max", "max\n");
	cr_assert_eq(processors(), SIZE_MAX);
	cr_assert_eq(memory(), SIZE_MAX);
	file("list", "nonsense\n1\n2:cpu\n\n:::\n");
	cr_assert_eq(processors(), SIZE_MAX);
}

Test(abd_process, groups_of_version_2_limit_those_in_them)
{
	file("list", "0::/user/deep\n");
	file("user/deep/cpu.max", "150000 100000\n");
	cr_assert_eq(processors(), 2);
	file("user/deep/cpu.max", "400000 100000\n");
	cr_assert_eq(processors(), 4);
	file("user/cpu.max", "30000 100000\n");
	cr_assert_eq(processors(), 1);
	file("user/deep/memory.max", "1000\n");
	cr_assert_eq(memory(), 1000);
	file("user/deep/memory.current", "300\n");
	cr_assert_eq(memory(), 700);
	file("user/memory.max", "500\n");
	file("user/memory.current", "600\n");
	cr_assert_eq(memory(), 0);
}

Test(abd_process, the_root_counts_which_a_container_s_group_is)
{
	file("list", "0::/\n");
	file("cpu.max", "300000 100000\n");
	file("memory.max", "4096\n");
	cr_assert_eq(processors(), 3);
	cr_assert_eq(memory(), 4096);
	file("list", "0::/not/mounted/here\n");
	cr_assert_eq(processors(), 3);
}

Test(abd_process, groups_of_version_1_limit_those_in_them)
{
	file("list", "12:cpuset:/a\n4:cpuacct,cpu:/a/b\n3:memory:/m\n0::/user\n");
	file("cpu/a/b/cpu.cfs_quota_us", "-1\n");
	file("cpu/a/b/cpu.cfs_period_us", "100000\n");
	cr_assert_eq(processors(), SIZE_MAX);
	file("cpu/a/cpu.cfs_quota_us", "210000\n");
	file("cpu/a/cpu.cfs_period_us", "100000\n");
	cr_assert_eq(processors(), 3);
	file("cpuset/a/cpu.cfs_quota_us", "1\n");
	cr_assert_eq(processors(), 3);
	file("memory/m/memory.limit_in_bytes", "9223372036854771712\n");
	file("memory/m/memory.usage_in_bytes", "5\n");
	cr_assert_eq(memory(), SIZE_MAX);
	file("memory/m/memory.limit_in_bytes", "65536\n");
	cr_assert_eq(memory(), 65531);
	/* Version 2 beside version 1. */
	file("unified/user/cpu.max", "100000 100000\n");
	cr_assert_eq(processors(), 1);
}

ABD_TEST_CHILD(one_processor)
{
	cpu_set_t set;
	int cpu = 0;

	abd_test_child_expect(sched_getaffinity(0, sizeof(set), &set) == 0);
	abd_test_child_expect(abd_process_processors() <= (size_t)CPU_COUNT(&set));
	while (!CPU_ISSET((size_t)cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	abd_test_child_expect(sched_setaffinity(0, sizeof(set), &set) == 0);
	abd_test_child_expect(abd_process_processors() == 1);
	return 0;
}

Test(abd_process, a_process_with_one_processor_has_one)
{
	abd_test_child_passes("one_processor", NULL);
	cr_assert_geq(abd_process_processors(), 1);
	cr_assert_gt(abd_process_memory(), 0);
}
