/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which machine this is: families by number, caches as Linux lists them.
 */
#include "abd_machine.h"
#include "abd_test.h"

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

static void list(const char *folder, const char *index, const char *level, const char *type,
	const char *size)
{
	char text[512];

	snprintf(text, sizeof(text),
		"cd %s && mkdir -p index%s && cd index%s && echo '%s' >level && echo '%s' >type && "
		"echo '%s' >size",
		folder, index, index, level, type, size);
	cr_assert_eq(system(text), 0);
}

Test(abd_machine, caches_of_data_are_read_and_what_is_not_listed_stays)
{
	char folder[] = "/tmp/abd_test_machine_XXXXXX", text[64];
	size_t cache[ABD_CACHE_LEVELS] = {1, 2, 3};

	cr_assert_not_null(mkdtemp(folder));
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 1 && cache[1] == 2 && cache[2] == 3);
	list(folder, "0", "1", "Data", "48K");
	list(folder, "1", "1", "Instruction", "64K");
	list(folder, "2", "2", "Unified", "2048K");
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 48 << 10 && cache[1] == 2 << 20 && cache[2] == 3);
	/* What a file should not say: nothing, no number, no such level. */
	list(folder, "2", "2", "Unified", "");
	list(folder, "3", "3", "Unified", "many");
	list(folder, "4", "4", "Unified", "64K");
	list(folder, "5", "", "Unified", "64K");
	abd_machine_caches(folder, cache);
	cr_assert(cache[0] == 48 << 10 && cache[1] == 2 << 20 && cache[2] == 3);
	snprintf(text, sizeof(text), "rm -r %s", folder);
	cr_assert_eq(system(text), 0);
}

Test(abd_machine, this_machine_has_a_name_and_caches_that_grow)
{
	const struct abd_machine *machine = abd_machine();

	cr_assert(machine == abd_machine());
	cr_assert(strchr(machine->cpu, '-') != NULL, "%s", machine->cpu);
	cr_assert(machine->cache[0] > 0 && machine->cache[0] < machine->cache[1]);
	cr_assert_not_null(machine->family);
}
