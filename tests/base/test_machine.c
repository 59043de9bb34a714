/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which machine this is: families by number, caches as Linux lists them.
 */
#include "abd_machine.h"
#include "abd_test.h"

#include <sys/stat.h>

Test(abd_machine, a_processor_is_in_the_family_that_its_numbers_say)
{
	static const struct {
		struct abd_cpu_identity cpu;
		const char *family;
	} known[] = {
		{{"AuthenticAMD", 25, 17}, "zen4"},
		{{"AuthenticAMD", 25, 97}, "zen4"},
		{{"AuthenticAMD", 25, 160}, "zen4"},
		{{"AuthenticAMD", 26, 2}, "zen5"},
		{{"GenuineIntel", 6, 207}, "emeraldrapids"},
		{{"AuthenticAMD", 23, 49}, ""},
		{{"AuthenticAMD", 25, 1}, ""},
		{{"AuthenticAMD", 25, 0xB0}, ""},
		{{"AuthenticAMD", 6, 207}, ""},
		{{"GenuineIntel", 6, 206}, ""},
		{{"GenuineIntel", 6, 208}, ""},
		{{"GenuineIntel", 25, 17}, ""},
		{{"arm", 0x41, 0xD4F}, ""},
		{{"other", 0, 0}, ""},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		cr_assert_str_eq(abd_machine_family(&known[i].cpu), known[i].family, "%s %u %u",
			known[i].cpu.vendor, known[i].cpu.family, known[i].cpu.model);
}

static void list(const char *folder, unsigned index, const char *name, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/index%u", folder, index);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/index%u/%s", folder, index, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void list_cache(
	const char *folder, unsigned index, const char *level, const char *type, const char *size)
{
	list(folder, index, "level", level);
	list(folder, index, "type", type);
	list(folder, index, "size", size);
}

static void unlist(const char *folder)
{
	static const char *const names[] = {"level", "type", "size", ""};
	char path[128];

	for (unsigned index = 0; index < 8; index++)
		for (size_t i = 0; i < 4; i++) {
			snprintf(path, sizeof(path), "%s/index%u/%s", folder, index, names[i]);
			remove(path);
		}
	rmdir(folder);
}

Test(abd_machine, caches_of_data_are_read_and_what_is_not_listed_stays)
{
	char folder[] = "/tmp/abd_test_machine_XXXXXX";
	size_t cache[ABD_CACHE_LEVELS] = {1, 2, 3};

	cr_assert_not_null(mkdtemp(folder));
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 1 && cache[1] == 2 && cache[2] == 3);
	list_cache(folder, 0, "1\n", "Data\n", "48K\n");
	list_cache(folder, 1, "1\n", "Instruction\n", "64K\n");
	list_cache(folder, 2, "2\n", "Unified\n", "2048K\n");
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 48 << 10 && cache[1] == 2 << 20 && cache[2] == 3);
	/* What a file should not say: nothing, no number, no such level. */
	list_cache(folder, 2, "2\n", "Unified\n", "\n");
	list_cache(folder, 3, "3\n", "Unified\n", "many\n");
	list_cache(folder, 4, "4\n", "Unified\n", "64K\n");
	list_cache(folder, 5, "", "Unified\n", "64K\n");
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 48 << 10 && cache[1] == 2 << 20 && cache[2] == 3);
	unlist(folder);
}

Test(abd_machine, this_machine_has_a_name_and_caches_that_grow)
{
	const struct abd_machine *machine = abd_machine();

	cr_assert(machine == abd_machine());
	cr_assert(strchr(machine->cpu, '-') != NULL, "%s", machine->cpu);
	cr_assert(machine->cache[0] > 0 && machine->cache[0] < machine->cache[1]);
	cr_assert_not_null(machine->family);
}
