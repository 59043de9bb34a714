/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts from /proc, /sys, the build and the library. What can't be read is recorded as "unknown",
 * never left out.
 */
#include "abd_perf_env.h"
#include "abd_perf_build.h"
#include "abd_perf_counter.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_process.h"

#include <abd/abd.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define ABD_PERF_ENV_BUSY 10 /* percent of the CPUs used by others: more is worth a warning */

ABD_PERF_ONCE(abd_perf_env_facts, json_object())
ABD_PERF_ONCE(abd_perf_env_sources, json_array())

bool abd_perf_env_function(void *function, const char *library, const char *name)
{
	void *opened = dlopen(library, RTLD_NOW), *found = opened ? dlsym(opened, name) : NULL;

	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

void abd_perf_env_source(const char *origin)
{
	json_t *of, *source = abd_perf_result_string(origin);
	size_t i;

	json_array_foreach(abd_perf_env_sources(), i, of)
	{
		if (json_equal(of, source)) {
			json_decref(source);
			return;
		}
	}
	json_array_append_new(abd_perf_env_sources(), source);
}

void abd_perf_env_print(void)
{
	const char *name;
	json_t *text;

	json_object_foreach(abd_perf_env_facts(), name, text)
		printf("%-16s %s\n", name, json_string_value(text));
}

static void abd_perf_env_add(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void abd_perf_env_add(const char *name, const char *format, ...)
{
	char text[640]; /* the longest is a plan of many rows, and the kernels beside it */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_object_set_new(abd_perf_env_facts(), name, abd_perf_result_string(text));
}

/* The first line of a file, or "unknown". */
static const char *abd_perf_env_line(const char *path, char *line, size_t room)
{
	FILE *file = fopen(path, "re");

	if (file == NULL || fgets(line, (int)room, file) == NULL)
		snprintf(line, room, "unknown");
	if (file != NULL)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* The value in the line "key ... : value" of a file, or "unknown". */
static const char *abd_perf_env_key(const char *path, const char *key, char *value, size_t room)
{
	FILE *file = fopen(path, "re");
	char line[4096];

	snprintf(value, room, "unknown");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		char *colon = strchr(line, ':');

		if (colon == NULL || strncmp(line, key, strlen(key)) != 0)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(value, room, "%.*s", (int)strcspn(colon, "\n"), colon);
		break;
	}
	if (file != NULL)
		fclose(file);
	return value;
}

size_t abd_perf_env_cache(unsigned level)
{
	for (unsigned i = 0; i < 8; i++) {
		char path[96], text[64];
		size_t size;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/level", i);
		if (strtoul(abd_perf_env_line(path, text, sizeof(text)), NULL, 10) != level)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/type", i);
		if (strcmp(abd_perf_env_line(path, text, sizeof(text)), "Instruction") == 0)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);
		if (abd_perf_options_size(abd_perf_env_line(path, text, sizeof(text)), &size))
			return size;
	}
	return 0;
}

size_t abd_perf_env_last_cache(void)
{
	for (unsigned level = 4; level > 1; level--) {
		if (abd_perf_env_cache(level) != 0)
			return abd_perf_env_cache(level);
	}
	return (size_t)32 << 20;
}

const char *abd_perf_env_state(size_t bytes)
{
	return bytes > abd_perf_env_last_cache() ? "cold" : "warm";
}

size_t abd_perf_env_memory(void)
{
	char text[64];
	size_t kib = strtoul(
		abd_perf_env_key("/proc/meminfo", "MemAvailable", text, sizeof(text)), NULL, 10);

	return abd_min(kib != 0 ? kib << 10 : (size_t)1 << 30, abd_process_memory());
}

size_t abd_perf_env_resident(bool own)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t all, resident = 0, shared = 0;

	if (file == NULL || fscanf(file, "%zu %zu %zu", &all, &resident, &shared) != 3)
		abd_perf_say_die(1, "/proc/self/statm can't be read");
	fclose(file);
	return (resident - (own ? shared : 0)) * (size_t)sysconf(_SC_PAGESIZE);
}

struct abd_perf_env_ticks {
	unsigned long long all, busy, stolen;
};

/* The ticks that the CPUs in use have counted so far. */
static struct abd_perf_env_ticks abd_perf_env_ticks(const struct abd_perf_options *options)
{
	struct abd_perf_env_ticks sum = {0};
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		unsigned long long tick[8] = {0};
		int cpu;

		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &tick[0],
			    &tick[1], &tick[2], &tick[3], &tick[4], &tick[5], &tick[6],
			    &tick[7]) < 5)
			continue;
		for (unsigned i = 0; i < options->cpu_count; i++) {
			if (options->cpus[i] != cpu)
				continue;
			for (unsigned j = 0; j < 8; j++)
				sum.all += tick[j];
			sum.busy += tick[0] + tick[1] + tick[2] + tick[5] + tick[6];
			sum.stolen += tick[7];
		}
	}
	if (file != NULL)
		fclose(file);
	return sum;
}

static struct {
	struct abd_perf_env_ticks ticks;
	double own_s;
} abd_perf_env_start; /* of measuring */

static double abd_perf_env_own_s(void)
{
	struct rusage children;
	struct timespec now;

	getrusage(RUSAGE_CHILDREN, &children);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)(now.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
	       (double)now.tv_nsec / 1e9 +
	       (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1e6;
}

/* Percent of our CPUs' time since before: *busy by other processes, *stolen by other machines. */
static void abd_perf_env_others(const struct abd_perf_options *options,
	const struct abd_perf_env_ticks *before, double own_s, double *busy, double *stolen)
{
	struct abd_perf_env_ticks after = abd_perf_env_ticks(options);
	double all = (double)(after.all - before->all);
	double others = (double)(after.busy - before->busy) - own_s * (double)sysconf(_SC_CLK_TCK);

	*busy = all > 0 && others > 0 ? others / all * 100 : 0;
	*stolen = all > 0 ? (double)(after.stolen - before->stolen) / all * 100 : 0;
}

/* How busy others keep our CPUs, measured while we sleep for a fifth of a second. */
static void abd_perf_env_busy(const struct abd_perf_options *options)
{
	struct timespec pause = {.tv_nsec = 200000000};
	struct abd_perf_env_ticks before = abd_perf_env_ticks(options);
	double busy, stolen;

	nanosleep(&pause, NULL);
	abd_perf_env_others(options, &before, 0, &busy, &stolen);
	abd_perf_env_add("busy_before",
		"%.0f %% of the CPUs used by other processes, %.0f %% by other machines", busy,
		stolen);
	if (busy + stolen > ABD_PERF_ENV_BUSY)
		abd_perf_say_warn(
			"the machine is busy: others use %.0f %% of the CPUs", busy + stolen);
	abd_perf_env_start.ticks = abd_perf_env_ticks(options);
	abd_perf_env_start.own_s = abd_perf_env_own_s();
}

/* Facts that are the first line of a file. */
static const struct {
	const char *name, *path;
} abd_perf_env_lines[] = {{"smt", "/sys/devices/system/cpu/smt/control"},
	{"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
	{"thp", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"aslr", "/proc/sys/kernel/randomize_va_space"}, {"load", "/proc/loadavg"}};

static void abd_perf_env_turbo(void)
{
	char no_turbo[64], boost[64];

	abd_perf_env_line(
		"/sys/devices/system/cpu/intel_pstate/no_turbo", no_turbo, sizeof(no_turbo));
	abd_perf_env_line("/sys/devices/system/cpu/cpufreq/boost", boost, sizeof(boost));
	if (strcmp(no_turbo, "0") == 0 || strcmp(boost, "1") == 0)
		abd_perf_env_add("turbo", "on");
	else
		abd_perf_env_add("turbo", "%s",
			strcmp(no_turbo, "unknown") != 0 || strcmp(boost, "0") == 0 ? "off"
										    : "unknown");
}

/* The CPU features that decide which kernels are used. */
static void abd_perf_env_features(void)
{
	static const char *const wanted[] = {"sse2", "avx2", "avx512f", "avx512bw", "avx512vl",
		"erms", "fsrm", "clflushopt", "clwb", "movdir64b", "asimd", "dcpop", "crc32",
		"sse4_2"};
	char flags[4096] = " ", list[160] = "", word[24];
	size_t used = 0;

	abd_perf_env_key("/proc/cpuinfo", "flags", flags + 1, sizeof(flags) - 2);
	if (strcmp(flags, " unknown") == 0)
		abd_perf_env_key("/proc/cpuinfo", "Features", flags + 1, sizeof(flags) - 2);
	strcat(flags, " ");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		snprintf(word, sizeof(word), " %s ", wanted[i]);
		if (strstr(flags, word) != NULL)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s", word + 1);
	}
	abd_perf_env_add("cpu_features", "%s", used > 0 ? list : "unknown");
}

static void abd_perf_env_cpu(const struct abd_perf_options *options)
{
	char text[128], list[96] = "";
	size_t used = 0;

	abd_perf_env_add(
		"cpu", "%s", abd_perf_env_key("/proc/cpuinfo", "model name", text, sizeof(text)));
	for (unsigned i = 0; i < options->cpu_count && used < sizeof(list) - 8; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d", i > 0 ? "," : "",
			options->cpus[i]);
	abd_perf_env_add("cpus_used", "%u of %ld: %s", options->cpu_count,
		sysconf(_SC_NPROCESSORS_ONLN), list);
	abd_perf_env_add("cache_l1d", "%zu KiB", abd_perf_env_cache(1) >> 10);
	abd_perf_env_add("cache_l2", "%zu KiB", abd_perf_env_cache(2) >> 10);
	abd_perf_env_add("cache_last", "%zu KiB", abd_perf_env_last_cache() >> 10);
	abd_perf_env_turbo();
	abd_perf_env_features();
}

static void abd_perf_env_system(void)
{
	char text[4096];
	struct utsname name;
	bool virtual = strstr(abd_perf_env_key("/proc/cpuinfo", "flags", text, sizeof(text)),
			       " hypervisor") != NULL;

	abd_perf_env_add("virtual_machine", "%s", virtual ? "yes" : "not seen");
	abd_perf_env_add("memory", "%zu MiB available", abd_perf_env_memory() >> 20);
	if (uname(&name) == 0)
		abd_perf_env_add("system", "%s %s %s", name.sysname, name.release, name.machine);
}

static void abd_perf_env_build(void)
{
	abd_perf_env_add("abd_version", "%s", abd_version());
	abd_perf_env_add("git_revision", "%s", ABD_PERF_BUILD_REVISION);
	abd_perf_env_add("compiler", "%s", ABD_PERF_BUILD_COMPILER);
	abd_perf_env_add("flags", "%s", ABD_PERF_BUILD_FLAGS);
	abd_perf_env_add("liblz4", "%s", LZ4_versionString());
	abd_perf_env_add("libc", "%s", gnu_get_libc_version());
}

/* Which kernel serves which operation. */
static void abd_perf_env_kernels(void)
{
	static const char *const kernel[] = {
		"scalar", "word", "libc", "sse2", "avx2", "avx512", "neon"};
	char found[512], list[96] = "";
	size_t used = 0;

	abd_perf_env_add("chunk_provider", "%s", abd_tuning_get("chunk_provider"));
	abd_perf_env_add("max_order", "%s", abd_tuning_get("max_order"));
	snprintf(found, sizeof(found), "%s", abd_tuning_get("compare"));
	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		if (abd_tuning_set("compare", kernel[i]) == 0)
			used += (size_t)snprintf(
				list + used, sizeof(list) - used, " %s", kernel[i]);
	}
	abd_tuning_set("compare", found);
	abd_perf_env_add("compare_kernel", "%s, of%s", found, list);
	abd_perf_env_add("lz4_decoder", "%s", abd_tuning_get("lz4"));
	snprintf(found, sizeof(found), "%s", abd_tuning_get("flush"));
	abd_perf_env_add("flush_policy", "%s; auto is %s", found, abd_tuning_get("flush_auto"));
}

static void abd_perf_env_time(void)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[40];

	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	abd_perf_env_add("time", "%s", text);
}

void abd_perf_env_look(const struct abd_perf_options *options)
{
	char text[200];

	abd_perf_env_time();
	abd_perf_env_cpu(options);
	abd_perf_env_system();
	for (size_t i = 0; i < sizeof(abd_perf_env_lines) / sizeof(abd_perf_env_lines[0]); i++)
		abd_perf_env_add(abd_perf_env_lines[i].name, "%s",
			abd_perf_env_line(abd_perf_env_lines[i].path, text, sizeof(text)));
	abd_perf_env_build();
	abd_perf_env_kernels();
	abd_perf_env_add("counters", "%s", abd_perf_counter_open());
	abd_perf_env_busy(options);
}

double abd_perf_env_look_back(const struct abd_perf_options *options)
{
	double own_s = abd_perf_env_own_s() - abd_perf_env_start.own_s, busy, stolen;
	struct rusage usage;
	char text[200];

	abd_perf_env_others(options, &abd_perf_env_start.ticks, own_s, &busy, &stolen);
	abd_perf_env_add("busy_during",
		"%.0f %% of the CPUs used by other processes, %.0f %% by other machines", busy,
		stolen);
	if (busy + stolen > ABD_PERF_ENV_BUSY)
		abd_perf_say_warn(
			"the machine was busy: others used %.0f %% of the CPUs", busy + stolen);
	getrusage(RUSAGE_SELF, &usage);
	abd_perf_env_add("interrupted", "%ld times by other work, in %.0f s of our CPU time",
		usage.ru_nivcsw, own_s);
	abd_perf_env_add(
		"load_after", "%s", abd_perf_env_line("/proc/loadavg", text, sizeof(text)));
	return busy + stolen;
}
