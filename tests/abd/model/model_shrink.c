/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shrinking: operations are left out as long as the rest still fails, each try in a process of its
 * own. What is left is printed: the setting that repeats these steps, and what they do.
 * Invariant: each operation draws from a seed of its own, so it stays the same when others are left
 * out.
 */
#include "model.h"

#include <sys/time.h>

void model_check_failed(const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	trace("%s", message);
	if (model.tries)
		_exit(CHECK_FAILED);
	fprintf(stderr, "ABD_TEST_SEED=%llu step %zu: %s\n", ull(model.seed), model.step, message);
	if (model.trace == NULL)
		model_shrink(model.step + 1);
	cr_assert(false, "ABD_TEST_SEED=%llu step %zu: %s", ull(model.seed), model.step, message);
}

/*
 * A step takes microseconds. One that takes a second of processor time, or ten minutes by the
 * clock, never ends: the signal ends the process, which counts for a failure.
 */
static void step_limit(void)
{
	const struct itimerval second = {.it_value = {.tv_sec = 1}};

	setitimer(ITIMER_PROF, &second, NULL);
	alarm(600);
}

void model_repeat(FILE *steps)
{
	size_t number;

	/* Line by line: what came before a crash is what matters. */
	if (model.trace != NULL)
		setvbuf(model.trace, NULL, _IOLBF, 0);
	model_episode_begin(model.seed);
	while (fscanf(steps, "%zu", &number) == 1) {
		step_limit();
		model_step(number);
	}
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
	alarm(0);
	model_episode_end();
}

/* The steps of a file, in a process of their own: whether they fail. */
ABD_TEST_CHILD(model_try)
{
	const char *trace_name = getenv("MODEL_TRACE");
	FILE *steps = fopen(getenv("MODEL_STEPS"), "r");

	if (steps == NULL)
		return 0;
	model.tries = true;
	model.seed = strtoull(getenv("MODEL_SEED"), NULL, 0);
	if (trace_name != NULL)
		model.trace = fopen(trace_name, "w");
	model_memory_begin();
	model_repeat(steps);
	return 0;
}

static bool shrink_try(const size_t *steps, size_t count, const char *trace_name)
{
	char name[] = "/tmp/abd_model_XXXXXX", seed[64], list[64], where[128], text[64];
	FILE *file = fdopen(mkstemp(name), "w");
	int status;

	cr_assert_not_null(file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%zu\n", steps[i]);
	fclose(file);
	snprintf(seed, sizeof(seed), "MODEL_SEED=%llu", ull(model.seed));
	snprintf(list, sizeof(list), "MODEL_STEPS=%s", name);
	snprintf(where, sizeof(where), "MODEL_TRACE=%s", trace_name != NULL ? trace_name : "");
	status = abd_test_child_run("model_try",
		(const char *const[]){seed, list, trace_name != NULL ? where : NULL, NULL}, text,
		sizeof(text));
	unlink(name);
	return abd_test_child_exit(status) != 0;
}

/*
 * Leave out pieces, ever smaller ones, for as long as the rest fails. Returns how many steps are
 * left.
 */
static size_t shrink_steps(size_t *steps, size_t count)
{
	size_t *fewer = malloc(count * sizeof(*fewer));
	size_t tries = 0;

	cr_assert_not_null(fewer);
	for (size_t piece = (count + 1) / 2; piece > 0 && tries < SHRINK_TRIES;) {
		size_t before = count;

		for (size_t at = 0; at < count && tries < SHRINK_TRIES; tries++) {
			size_t gone = abd_min(piece, count - at);

			memcpy(fewer, steps, at * sizeof(*steps));
			memcpy(fewer + at, steps + at + gone, (count - at - gone) * sizeof(*steps));
			if (shrink_try(fewer, count - gone, NULL)) {
				count -= gone;
				memcpy(steps, fewer, count * sizeof(*steps));
			} else {
				at += gone;
			}
		}
		/* Single ones again and again: what one needed may be gone now. */
		if (piece > 1 || count == before)
			piece /= 2;
	}
	free(fewer);
	return count;
}

static void print_steps(const char *trace_name, const size_t *steps, size_t count)
{
	FILE *file = fopen(trace_name, "r");
	char line[512];

	fprintf(stderr, "shrunk to %zu operations: ABD_TEST_SEED=%llu ABD_TEST_STEPS=\"", count,
		ull(model.seed));
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s%zu", i > 0 ? " " : "", steps[i]);
	fprintf(stderr, "\"\n");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fprintf(stderr, "\t%s", line);
	if (file != NULL)
		fclose(file);
}

void model_shrink(size_t steps)
{
	char trace_name[] = "/tmp/abd_model_XXXXXX";
	size_t *list = malloc(steps * sizeof(*list));
	int fd = mkstemp(trace_name);

	cr_assert(list != NULL && fd >= 0);
	close(fd);
	for (size_t i = 0; i < steps; i++)
		list[i] = i;
	if (shrink_try(list, steps, NULL)) {
		steps = shrink_steps(list, steps);
		shrink_try(list, steps, trace_name);
		print_steps(trace_name, list, steps);
	} else {
		fprintf(stderr, "alone, the episode of seed %llu does not fail\n", ull(model.seed));
	}
	unlink(trace_name);
	free(list);
}
