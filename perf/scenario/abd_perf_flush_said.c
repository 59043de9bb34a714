/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the source of flush published: of speeds, through the cache over around it.
 */
#include "abd_perf_flush_way.h"

#include <string.h>

#define OPTANE " GB/s around, through the cache (dm-devel, 2020, Optane)"

static const struct {
	const char *group;
	size_t by; /* bytes of a copy, or writers */
	struct abd_perf_said said;
} flush_said[] = {
	{"log", 512, {"flush", 373 / 496., "0.496, 0.373" OPTANE}},
	{"log", 1024, {"flush", 688 / 642., "0.642, 0.688" OPTANE}},
	{"log", 2048, {"flush", 1100 / 725., "0.725, 1.1" OPTANE}},
	{"log", 4096, {"flush", 1200 / 744., "0.744, 1.2" OPTANE}},
	{"writers", 1, {"flush", 1.6 / 1.3, "1.3, 1.6" OPTANE}},
	{"writers", 2, {"flush", 2.4 / 2.5, "2.5, 2.4" OPTANE}},
	{"writers", 3, {"flush", 1.7 / 2.8, "2.8, 1.7" OPTANE}},
	{"writers", 4, {"flush", 1.2 / 2.8, "2.8, 1.2" OPTANE}},
	{"writers", 5, {"flush", 0.8 / 2.5, "2.5, 0.8" OPTANE}},
};

static unsigned flush_way_of(
	const struct abd_perf_flush_way *ways, unsigned count, const char *a, const char *b)
{
	unsigned i = 0;

	while (i < count && strcmp(ways[i].name, a) != 0 && strcmp(ways[i].name, b) != 0)
		i++;
	return i;
}

void abd_perf_flush_claim(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_flush_way *ways, const struct abd_perf_flush_cell *cell)
{
	unsigned around = flush_way_of(ways, race->paths, "movnti", "movnti by words"),
		 through = flush_way_of(ways, race->paths, "clflushopt", "clwb by words");
	size_t by = strcmp(cell->group, "log") == 0 ? cell->size : cell->threads;

	for (size_t i = 0; i < sizeof(flush_said) / sizeof(flush_said[0]); i++)
		if (strcmp(cell->group, flush_said[i].group) == 0 && by == flush_said[i].by &&
			around < race->paths && through < race->paths)
			abd_perf_result_ratio(result, ways[through].name, ways[around].name,
				abd_perf_race_ratio(race, through, around), 0, &flush_said[i].said);
}
