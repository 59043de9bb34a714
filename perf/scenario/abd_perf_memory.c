/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory: what is resident while buffers come and go, by provider, beside the C library's malloc
 * and jemalloc as programs use them. Four patterns, each of which keeps memory from coming back in
 * its own way:
 *
 *   burst   as much as allowed is allocated and freed, then small buffers go on
 *   churn   random sizes are replaced at random, then all but a twentieth are freed
 *   shift   buffers of 4 KiB give way to buffers of 1 MiB
 *   sparse  all but one 4 KiB buffer in 64 are freed
 *
 * Each source has a process of its own, so nothing is left from what was measured before: `abd-perf
 * memory-child` is one source and one pattern, and prints a line for each step, bytes in use and
 * bytes resident. Every page is written. What is resident counts from the first step on: the
 * program itself is left out. The processes of a pattern run at the same time.
 */
#include "abd_perf_process.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define PAGE (4 * KIB)

/* Time runs so many times as fast as with the defaults, whose reserves go back within 15 s. */
#define ABD_PERF_MEMORY_HASTE 20

#define ABD_PERF_MEMORY_STEPS 21 /* the last follows a reap */

/* The exit status when this machine or this build does not have the source. */
#define ABD_PERF_MEMORY_ABSENT 3

struct abd_perf_memory {
	bool plain; /* malloc, without libabd */
	size_t target;
	uint64_t random;
	struct abd_perf_memory_block {
		void *memory; /* an abd_t, or a block */
		size_t size;
	} * block;
	size_t count, bytes; /* live */
	size_t small;    /* patterns that make buffers of 4 KiB first: how many of these are left */
	size_t resident; /* before the first step */
};

/* ---- the source ---- */

static void abd_perf_memory_take(struct abd_perf_memory *m, size_t size)
{
	void *memory = m->plain ? malloc(size) : abd_alloc(size, false);

	if (memory == NULL)
		abd_perf_say_die(1, "no memory for %zu bytes", size);
	if (m->plain)
		memset(memory, 1, size);
	else
		abd_zero(memory, size);
	m->block[m->count++] = (struct abd_perf_memory_block){memory, size};
	m->bytes += size;
}

static void abd_perf_memory_give(struct abd_perf_memory *m, size_t i)
{
	struct abd_perf_memory_block block = m->block[i];

	m->block[i] = m->block[--m->count];
	m->bytes -= block.size;
	if (m->plain)
		free(block.memory);
	else
		abd_free(block.memory);
}

static void abd_perf_memory_give_random(struct abd_perf_memory *m)
{
	abd_perf_memory_give(m, abd_perf_random_below(&m->random, m->count));
}

/* Ask for everything that is free, as programs do when memory is short. */
static void abd_perf_memory_reap(struct abd_perf_memory *m)
{
	int (*control)(const char *, void *, size_t *, void *, size_t);
	void *found = dlsym(RTLD_DEFAULT, "mallctl");

	memcpy(&control, &found, sizeof(control));
	if (!m->plain)
		abd_cache_reap_now();
	if (control != NULL) {
		control("thread.tcache.flush", NULL, NULL, NULL, 0);
		control("arena.4096.purge", NULL, NULL, NULL, 0); /* of all arenas */
	}
	malloc_trim(0);
}

/* Whether malloc is the one that is asked for. */
static bool abd_perf_memory_malloc_is(const char *library)
{
	Dl_info info;

	return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) != 0 &&
	       strstr(info.dli_fname, library) != NULL;
}

static bool abd_perf_memory_choose(struct abd_perf_memory *m, const char *source)
{
	char text[32];

	m->plain = strncmp(source, "plain ", 6) == 0;
	if (m->plain)
		return abd_perf_memory_malloc_is(
			strcmp(source, "plain jemalloc") == 0 ? "libjemalloc" : "libc.");
	snprintf(text, sizeof(text), "%zu", 2 * m->target);
	if (abd_tuning_set("pool_size", text) != 0)
		return false;
	/* The default, 64 MiB, is an eighth of what --full uses. */
	snprintf(text, sizeof(text), "%zu", m->target / 8);
	if (abd_tuning_set("reserve_bytes", text) != 0)
		return false;
	snprintf(text, sizeof(text), "%d", 12000 / ABD_PERF_MEMORY_HASTE);
	return abd_tuning_set("reserve_ms", text) == 0 &&
	       abd_tuning_set("chunk_provider", source) == 0;
}

/* ---- patterns, by step ---- */

static void abd_perf_memory_grow(
	struct abd_perf_memory *m, size_t bytes, size_t size_min, unsigned orders)
{
	while (m->bytes < bytes)
		abd_perf_memory_take(m, size_min << abd_perf_random_below(&m->random, orders));
}

/* Everything is freed; small buffers go on for what stands for 15 s. */
static void abd_perf_memory_burst(struct abd_perf_memory *m, unsigned step)
{
	if (step < 4) {
		abd_perf_memory_grow(m, m->target / 4 * (step + 1), MIB, 1);
		return;
	}
	while (step == 4 && m->count > 0)
		abd_perf_memory_give(m, m->count - 1);
	for (unsigned i = 0; i < 64; i++) {
		abd_perf_memory_take(m, 8 * KIB);
		usleep(1000000 / ABD_PERF_MEMORY_HASTE / 64);
		abd_perf_memory_give(m, m->count - 1);
	}
}

/* Random buffers give way to others of random sizes; in the end a twentieth is left. */
static void abd_perf_memory_churn(struct abd_perf_memory *m, unsigned step)
{
	size_t left = step < 15 ? m->target : m->target * (100 - 19 * (step - 14)) / 100;

	for (size_t moved = 0; step >= 4 && step < 15 && moved < m->target / 4;) {
		size_t before = m->bytes;

		abd_perf_memory_give_random(m);
		moved += before - m->bytes;
	}
	if (step < 15)
		abd_perf_memory_grow(m, step < 4 ? m->target / 4 * (step + 1) : m->target, PAGE, 6);
	while (m->bytes > left)
		abd_perf_memory_give_random(m);
}

/* Buffers of 4 KiB give way to those of 1 MiB; as much is in use all the time. */
static void abd_perf_memory_shift(struct abd_perf_memory *m, unsigned step)
{
	if (step < 4) {
		abd_perf_memory_grow(m, m->target / 4 * (step + 1), PAGE, 1);
		m->small = m->count;
		return;
	}
	/* The small ones are the first in the list: the last one, a large one, takes the place of
	 * the last small one. */
	for (size_t left = m->target / 16 / PAGE * (19 - step); m->small > left; m->small--) {
		size_t i = abd_perf_random_below(&m->random, m->small);
		struct abd_perf_memory_block chosen = m->block[i];

		m->block[i] = m->block[m->small - 1];
		m->block[m->small - 1] = chosen;
		abd_perf_memory_give(m, m->small - 1);
	}
	while (m->bytes + MIB <= m->target)
		abd_perf_memory_take(m, MIB);
}

/* Of 4 KiB buffers one in 64 stays, and so every region is in use. */
static void abd_perf_memory_sparse(struct abd_perf_memory *m, unsigned step)
{
	if (step < 4) {
		abd_perf_memory_grow(m, m->target / 4 * (step + 1), PAGE, 1);
		m->small = m->count;
		return;
	}
	for (size_t left = m->target / 16 / PAGE * (19 - step); m->small > left; m->small--)
		if (m->small % 64 != 0)
			abd_perf_memory_give(m, m->small - 1);
}

static const struct abd_perf_memory_pattern {
	const char *name;
	void (*step)(struct abd_perf_memory *m, unsigned step);
} abd_perf_memory_patterns[] = {
	{"burst", abd_perf_memory_burst},
	{"churn", abd_perf_memory_churn},
	{"shift", abd_perf_memory_shift},
	{"sparse", abd_perf_memory_sparse},
};

/* ---- one process ---- */

static int abd_perf_memory_run(
	struct abd_perf_memory *m, const struct abd_perf_memory_pattern *pattern)
{
	m->resident = abd_perf_env_resident(true);
	for (unsigned step = 0; step < ABD_PERF_MEMORY_STEPS; step++) {
		if (step < ABD_PERF_MEMORY_STEPS - 1)
			pattern->step(m, step);
		else
			abd_perf_memory_reap(m);

		size_t resident = abd_perf_env_resident(true);

		printf("%zu %zu\n", m->bytes, resident > m->resident ? resident - m->resident : 0);
		fflush(stdout);
	}
	return 0;
}

int abd_perf_memory_child(int argc, char **argv)
{
	struct abd_perf_memory m = {.random = 1};

	if (argc != 4)
		abd_perf_say_die(EX_USAGE, "memory-child is a part of abd-perf run memory");
	m.target = strtoull(argv[3], NULL, 10);
	if (!abd_perf_memory_choose(&m, argv[1]))
		return ABD_PERF_MEMORY_ABSENT;

	size_t room = (m.target / PAGE + 1) * sizeof(*m.block);

	m.block = malloc(room);
	if (m.block == NULL)
		abd_perf_say_die(1, "no memory for a list of blocks");
	memset(m.block, 1, room); /* resident before the first step */
	for (size_t i = 0;
		i < sizeof(abd_perf_memory_patterns) / sizeof(abd_perf_memory_patterns[0]); i++)
		if (strcmp(abd_perf_memory_patterns[i].name, argv[2]) == 0)
			return abd_perf_memory_run(&m, &abd_perf_memory_patterns[i]);
	abd_perf_say_die(EX_USAGE, "no pattern is named '%s'", argv[2]);
}

/* ---- the processes, and what they said ---- */

#define ABD_PERF_MEMORY_SOURCES 6

/* Providers of libabd first. */
static const char *const abd_perf_memory_source[ABD_PERF_MEMORY_SOURCES] = {
	"regions", "pool", "malloc", "jemalloc", "plain glibc", "plain jemalloc"};

struct abd_perf_memory_run {
	struct abd_perf_process process;
	bool present;
	double bytes[ABD_PERF_MEMORY_STEPS], resident[ABD_PERF_MEMORY_STEPS]; /* MiB */
};

/* The child is this program again, with jemalloc as its malloc if that is the source. */
static void abd_perf_memory_start(
	struct abd_perf_memory_run *run, const char *source, const char *pattern, size_t bytes)
{
	/* The loader has words about LD_PRELOAD. jemalloc's own default for its decay is 10 s. */
	static const char script[] =
		"if [ \"$1\" = 'plain jemalloc' ]; then\n"
		"	export LD_PRELOAD=libjemalloc.so.2\n"
		"else\n"
		"	unset LD_PRELOAD\n"
		"fi\n"
		"MALLOC_CONF=dirty_decay_ms:500 exec \"$0\" memory-child \"$@\" "
		"2>/dev/null";
	char text[32], self[32];

	snprintf(text, sizeof(text), "%zu", bytes);
	snprintf(self, sizeof(self), "/proc/%d/exe", getpid());
	run->process = abd_perf_process_start(
		(const char *[]){"sh", "-c", script, self, source, pattern, text, NULL}, "r");
	if (run->process.pipe == NULL)
		abd_perf_say_die(1, "no process for memory");
}

/* Returns an exit status. */
static int abd_perf_memory_end(struct abd_perf_memory_run *run, const char *source)
{
	size_t bytes, resident;
	unsigned steps = 0;
	int status;

	while (steps < ABD_PERF_MEMORY_STEPS &&
		fscanf(run->process.pipe, "%zu %zu", &bytes, &resident) == 2) {
		run->bytes[steps] = (double)bytes / (double)MIB;
		run->resident[steps++] = (double)resident / (double)MIB;
	}
	status = abd_perf_process_end(&run->process);
	run->present = steps == ABD_PERF_MEMORY_STEPS;
	if (run->present || abd_perf_say_stopped() || status == ABD_PERF_MEMORY_ABSENT)
		return 0;
	abd_perf_say_error("memory: the process of %s ended early", source);
	return 1;
}

static void abd_perf_memory_add(const struct abd_perf_memory_run *runs, const char *pattern)
{
	for (unsigned step = 0; step < ABD_PERF_MEMORY_STEPS; step++) {
		bool last = step == ABD_PERF_MEMORY_STEPS - 1;
		json_t *result = abd_perf_result_add("memory", pattern,
			last ? "%s, after a reap" : "%s, step %u", pattern, step);

		abd_perf_result_number(result, "step", step);
		for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++) {
			if (!runs[i].present)
				continue;
			if (json_array_size(json_object_get(result, "figures")) == 0)
				abd_perf_result_value(result, "in use", "MiB", runs[i].bytes[step]);
			abd_perf_result_value(
				result, abd_perf_memory_source[i], "MiB", runs[i].resident[step]);
		}
	}
}

static int abd_perf_memory_pattern(const char *pattern, size_t bytes, bool *absent)
{
	struct abd_perf_memory_run runs[ABD_PERF_MEMORY_SOURCES];
	int status = 0;

	abd_perf_say_step("%s", pattern);
	if (!abd_perf_say_wanted())
		return 0;
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++)
		abd_perf_memory_start(&runs[i], abd_perf_memory_source[i], pattern, bytes);
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++) {
		status |= abd_perf_memory_end(&runs[i], abd_perf_memory_source[i]);
		absent[i] = !runs[i].present;
	}
	if (status == 0 && !abd_perf_say_stopped())
		abd_perf_memory_add(runs, pattern);
	return status;
}

static int abd_perf_memory_scenario(const struct abd_perf_options *options)
{
	static const char *const patterns[] = {"burst", "churn", "shift", "sparse"};
	bool absent[ABD_PERF_MEMORY_SOURCES] = {false};
	int status = 0;

	abd_perf_say_begin("memory", 4);
	for (unsigned i = 0; i < 4 && status == 0 && !abd_perf_say_stopped(); i++)
		status = abd_perf_memory_pattern(
			patterns[i], (options->quick ? 64 : 512) * MIB, absent);
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES && status == 0; i++)
		if (absent[i] && !abd_perf_say_stopped())
			abd_perf_say_warn("memory: %s is left out: it is not there",
				abd_perf_memory_source[i]);
	return status;
}

const struct abd_perf_scenario abd_perf_memory = {
	.name = "memory",
	.summary = "what is resident while buffers come and go, by provider, beside plain malloc",
	.normal_s = 3,
	.full_s = 15,
	.run = abd_perf_memory_scenario,
};
