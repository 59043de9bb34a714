/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Families of processors, and the sizes of caches.
 * Sources: AMD's and Intel's lists of families and models.
 */
#include "abd_machine.h"

#include "abd_process.h"
#include "abd_tunable.h"

#include <pthread.h>
#include <stdio.h>

/* What a machine has that does not list its caches. */
enum { ABD_L1_DEFAULT = 32 << 10, ABD_L2_DEFAULT = 1 << 20, ABD_L3_DEFAULT = 16 << 20 };

/* The families that a plan of ours was measured on. */
static const struct {
	const char *vendor;
	unsigned family, model, model_last;
	const char *name;
} abd_machine_families[] = {
	{"AuthenticAMD", 25, 0x10, 0x1F, "zen4"},
	{"AuthenticAMD", 25, 0x60, 0xAF, "zen4"},
	{"AuthenticAMD", 26, 0x00, 0xFF, "zen5"},
	{"GenuineIntel", 6, 207, 207, "emeraldrapids"},
};

const char *abd_machine_family(const struct abd_cpu_identity *cpu)
{
	for (size_t i = 0; i < sizeof(abd_machine_families) / sizeof(abd_machine_families[0]); i++)
		if (strcmp(abd_machine_families[i].vendor, cpu->vendor) == 0 &&
			abd_machine_families[i].family == cpu->family &&
			abd_machine_families[i].model <= cpu->model &&
			cpu->model <= abd_machine_families[i].model_last)
			return abd_machine_families[i].name;
	return "";
}

/* The first line of a file; "" where there is none. */
static void abd_machine_line(
	const char *folder, unsigned index, const char *name, char *line, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/index%u/%s", folder, index, name);
	abd_process_read(path, line, size);
	line[strcspn(line, "\n")] = '\0';
}

void abd_machine_caches(const char *folder, size_t cache[ABD_CACHE_LEVELS])
{
	for (unsigned index = 0; index < 8; index++) {
		char type[16], level_text[16], size_text[16];
		uint64_t level, kib;

		abd_machine_line(folder, index, "type", type, sizeof(type));
		abd_machine_line(folder, index, "level", level_text, sizeof(level_text));
		abd_machine_line(folder, index, "size", size_text, sizeof(size_text));
		size_text[strcspn(size_text, "K")] = '\0';
		if (strcmp(type, "Instruction") != 0 &&
			abd_tunable_parse(level_text, 1, ABD_CACHE_LEVELS, &level) &&
			abd_tunable_parse(size_text, 1, UINT32_MAX >> 10, &kib))
			cache[level - 1] = (size_t)kib << 10;
	}
}

static struct abd_machine abd_machine_this = {
	.cache = {ABD_L1_DEFAULT, ABD_L2_DEFAULT, ABD_L3_DEFAULT},
};

static void abd_machine_look(void)
{
	ABD_NO_CANCEL;
	struct abd_cpu_identity cpu;

	abd_cpu_identify(&cpu);
	snprintf(abd_machine_this.cpu, sizeof(abd_machine_this.cpu), "%s-%u-%u", cpu.vendor,
		cpu.family, cpu.model);
	abd_machine_this.family = abd_machine_family(&cpu);
	abd_machine_caches("/sys/devices/system/cpu/cpu0/cache", abd_machine_this.cache);
}

const struct abd_machine *abd_machine(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_machine_look);
	return &abd_machine_this;
}
