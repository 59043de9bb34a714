/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A row is a figure (unit "GB/s", "ns", ...) or a ratio (unit "ratio"). Conditions stand in one
 * field, "size=64 threads=1".
 */
#include "abd_perf_csv.h"
#include "abd_perf_file.h"
#include "abd_perf_result.h"

#include <string.h>

/* A field that people may have put quotes and commas into. */
static void abd_perf_csv_text(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputs("\",", file);
}

static void abd_perf_csv_head(
	FILE *file, const struct abd_perf_result *result, const char *of, const char *against)
{
	char conditions[1024] = "";
	size_t used = 0;

	for (unsigned i = 0; i < result->parameters && used < sizeof(conditions); i++) {
		const struct abd_perf_parameter *parameter = &result->parameter[i];

		used += (size_t)snprintf(conditions + used, sizeof(conditions) - used, "%s%s=%s",
			i > 0 ? " " : "", parameter->name, parameter->text);
	}
	abd_perf_csv_text(file, result->scenario);
	abd_perf_csv_text(file, result->group);
	abd_perf_csv_text(file, result->name);
	abd_perf_csv_text(file, conditions);
	abd_perf_csv_text(file, of);
	abd_perf_csv_text(file, against);
}

static void abd_perf_csv_value(FILE *file, const char *unit, const struct abd_perf_summary *value)
{
	fprintf(file, "%s,%.6g,%.6g,%.6g,%.6g,%u,", unit, value->median, value->low, value->high,
		value->mad, value->rounds);
}

static int abd_perf_csv_fill(FILE *file, const void *arg)
{
	(void)arg;
	fputs("scenario,group,name,conditions,of,against,unit,median,low,high,mad,rounds,verdict,target\r\n",
		file);
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		for (unsigned j = 0; j < result->figures; j++) {
			abd_perf_csv_head(file, result, result->figure[j].name, "");
			abd_perf_csv_value(file, result->figure[j].unit, &result->figure[j].value);
			fputs(",\r\n", file);
		}
		for (unsigned j = 0; j < result->ratios; j++) {
			const struct abd_perf_ratio *ratio = &result->ratio[j];

			abd_perf_csv_head(file, result, ratio->of, ratio->against);
			abd_perf_csv_value(file, "ratio", &ratio->value);
			fprintf(file, "%s,", abd_perf_stat_verdict_text(ratio->verdict));
			fprintf(file, ratio->target != 0 ? "%g\r\n" : "\r\n", ratio->target);
		}
	}
	return ferror(file);
}

int abd_perf_csv_write(const char *path)
{
	return abd_perf_file_write(path, abd_perf_csv_fill, NULL);
}
