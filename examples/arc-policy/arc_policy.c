/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is ARC still the right policy for your requests? The library's cache, simulated policies and
 * bounds that know the future answer the requests of a trace, with room for parts of its records.
 * All begin empty, and all requests count. docs/notes/arc-policy.md has the forms of traces.
 *
 * usage: arc_policy TRACE [PART...]   print the share of hits with room for 1/PART of all records,
 *                                     for 64 32 16 8 4 2 if no PART is given
 */
#include "policy.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

static void read_file(struct trace *trace, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	FILE *file = fopen(path, "rb");
	char error[80];

	if (file == NULL)
		err(1, "%s", path);
	if (!trace_read(trace, file, strstr(name, "oracleGeneral") != NULL, error, sizeof(error)))
		errx(1, "%s: %s", path, error);
	fclose(file);
}

int main(int argc, char **argv)
{
	static char *usual[] = {"64", "32", "16", "8", "4", "2", NULL};
	char **part = argc > 2 ? argv + 2 : usual;
	struct trace trace;

	if (argc < 2)
		errx(2, "usage: arc_policy TRACE [PART...]");
	read_file(&trace, argv[1]);
	printf("%zu requests for %zu records of %zu bytes in all; hits, %%\nroom  ", trace.count,
		trace.distinct, (size_t)trace.distinct_bytes);
	for (unsigned i = 0; i < POLICIES; i++)
		printf("%14s", policies[i].name);
	printf("%14s%14s\n", "MIN", "PFOO-L");
	for (; *part != NULL; part++) {
		double percent = 100 / (double)trace.count;
		int parts = atoi(*part) > 0 ? atoi(*part) : 1;
		size_t capacity = (size_t)trace.distinct_bytes / (size_t)parts;

		printf("1/%-4d", parts);
		for (unsigned i = 0; i < POLICIES; i++)
			printf("%14.2f", percent * cache_run(&policies[i], &trace, capacity));
		printf("%14.2f%14.2f\n", percent * roof_min(&trace, capacity),
			percent * roof_pfoo(&trace, capacity));
	}
	free(trace.request);
	return 0;
}
