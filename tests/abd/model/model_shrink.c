/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shrinking: operations are left out as long as the rest still fails, each try in a process of its
 * own. What is left is printed as C: a test for a file of its own in tests/abd (model_replay.h has
 * its functions).
 * Invariant: each operation draws from a seed of its own, so it stays the same when others are left
 * out.
 */
#include "model.h"

#include <sys/time.h>

/* The end of what lives, told and not done: the library can't be trusted any more. */
static void trace_frees(void)
{
	size_t left = model.count + 1;

	model.only_told = true;
	for (size_t i = 0; i < model.count; i++) {
		struct object *o = model.objects[i];

		for (size_t k = 0; k < o->borrow_count; k++) {
			struct borrowed *lent = &o->borrows[k];

			if (lent->content != NULL)
				trace("flat(o%u, 0, %zu, (unsigned char *)m%u);", o->id, lent->n,
					lent->id);
			trace("abd_return_buf(o%u, m%u, %zu);", o->id, lent->id, lent->n);
		}
		o->borrow_count = 0;
	}
	while (model.count > 0 && model.count < left) {
		left = model.count;
		for (size_t i = 0; i < model.count; i++) {
			if (!model_may_end(model.objects[i]))
				continue;
			trace("abd_free(o%u);", model.objects[i]->id);
			model_object_ended(model.objects[i]);
			break;
		}
	}
}

static void trace_gauges(const struct abd_stats *e)
{
	trace("gauges(%llu, %llu, %llu, %llu, %llu, %llu, %llu);", ull(e->struct_size),
		ull(e->linear_cnt), ull(e->linear_data_size), ull(e->scatter_cnt),
		ull(e->scatter_data_size), ull(e->scatter_chunk_waste),
		ull(e->scatter_multi_chunk));
	for (unsigned order = 0; order < ABD_STATS_ORDERS; order++)
		if (e->scatter_order[order] != 0)
			trace("order(%u, %llu);", order, ull(e->scatter_order[order]));
	trace("orders();");
}

static void trace_holds(const struct object *o)
{
	if (o->size > 0)
		trace("holds(o%u, 0x%llx);", o->id,
			ull(model_sum(model_read(o, 0, o->size, model.a), o->size)));
}

/*
 * The end of the program: what all is to be, by the model; midway in an operation it does not say
 * what lives.
 */
static void trace_end(const char *message)
{
	trace("/* the model: %s */", message);
	for (size_t i = 0; i < model.count; i++)
		trace_holds(model.objects[i]);
	if (model.midway)
		return;
	trace_gauges(&model.expected);
	trace_frees();
}

void model_check_failed(const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (model.replays) {
		if (model.trace != NULL)
			trace_end(message);
		if (model.trace != NULL)
			fclose(model.trace);
		_exit(CHECK_FAILED);
	}
	fprintf(stderr, "ABD_TEST_SEED=%llu step %zu: %s\n", ull(model.seed), model.step, message);
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

/* The steps of a file, in a process of their own: whether they fail. */
ABD_TEST_CHILD(model_replay)
{
	const char *trace_name = getenv("MODEL_TRACE");
	FILE *steps = fopen(getenv("MODEL_STEPS"), "r");
	size_t number;

	model.replays = true;
	model_memory_begin();
	if (trace_name != NULL)
		model.trace = fopen(trace_name, "w");
	/* Line by line: what came before a crash is what matters. */
	if (model.trace != NULL)
		setvbuf(model.trace, NULL, _IOLBF, 0);
	model_episode_begin(strtoull(getenv("MODEL_SEED"), NULL, 0));
	while (steps != NULL && fscanf(steps, "%zu", &number) == 1) {
		step_limit();
		model_step(number);
	}
	model_episode_end();
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
	status = abd_test_child_run("model_replay",
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

static void print_program(const char *trace_name, size_t count)
{
	FILE *file = fopen(trace_name, "r");
	char line[512];

	fprintf(stderr,
		"/* ABD_TEST_SEED=%llu, shrunk to %zu operations */\n"
		"#include \"model/model_replay.h\"\n\n#include <criterion/criterion.h>\n\n"
		"Test(abd_model_found, seed_%llu)\n{\n",
		ull(model.seed), count, ull(model.seed));
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fputs(line, stderr);
	fprintf(stderr, "\tcr_assert(replayed());\n}\n");
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
		print_program(trace_name, steps);
	} else {
		fprintf(stderr, "alone, the episode of seed %llu does not fail\n", ull(model.seed));
	}
	unlink(trace_name);
	free(list);
}
