/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare: comparing, testing for zero and copying scattered buffers, against memcmp() and memcpy()
 * on linear memory, and against the best of several bare loops over the same runs: how far from the
 * machine's limit an operation is (abd_perf_limit.h).
 *
 * Scattered means 4 KiB runs at random addresses (abd_perf_place.h), which is checked before
 * anything is timed. From 2 MiB up, the linear memory lies on huge pages. Contents are equal, so
 * every byte is read. A buffer of up to 4 KiB is one run, hence linear.
 */
#include "abd_perf_compare_key.h"
#include "abd_perf_limit.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define ABD_PERF_HUGE (2 * MIB)

/*
 * More buffers, whose runs take part in the shuffle, so that the runs of small measured buffers
 * also come to lie apart.
 */
#define ABD_PERF_FILLERS 61
#define ABD_PERF_FILLER_SIZE (256 * KIB)

enum { A, B, ZEROS, SCATTERED };

struct abd_perf_operands {
	size_t size;
	abd_t *buffer[SCATTERED + ABD_PERF_FILLERS];
	char *linear[2]; /* the baseline's */
	abd_t view[2];   /* that memory as buffers */
	struct abd_perf_place place;
	struct abd_perf_limit limit; /* bare loops over the runs of A and B */
	const char *kernel;          /* for paths that force one */
};

/* ---- operands -------------------------------------------------------------------------------- */

/* From 2 MiB up: aligned to a huge page and advised so; else on small pages. */
static char *abd_perf_compare_linear(size_t size)
{
	size_t alignment = size >= ABD_PERF_HUGE ? ABD_PERF_HUGE : 4 * KIB;
	size_t rounded = (size + alignment - 1) / alignment * alignment;
	char *memory = aligned_alloc(alignment, rounded);

	if (memory == NULL)
		abd_perf_say_die(1, "no memory for %zu bytes of linear memory", size);
	if (alignment == ABD_PERF_HUGE)
		madvise(memory, rounded, MADV_HUGEPAGE);
	return memory;
}

static void abd_perf_operands_check(const struct abd_perf_operands *operands)
{
	const struct abd_perf_place *place = &operands->place;

	/* In random order, hardly any of the thousands of pairs are neighbours, and half ascend. */
	if (place->neighbours * 50 > place->pairs || place->ascending * 5 < place->pairs * 2 ||
		place->ascending * 5 > place->pairs * 3)
		abd_perf_say_die(1,
			"runs are not at random addresses: of %zu pairs %zu ascend, %zu are "
			"neighbours",
			place->pairs, place->ascending, place->neighbours);
}

static void abd_perf_operands_make(struct abd_perf_operands *operands, size_t size, uint64_t seed)
{
	uint64_t random = seed;

	memset(operands, 0, sizeof(*operands));
	operands->size = size;
	abd_perf_place_alloc(operands->buffer, SCATTERED, size);
	abd_perf_place_alloc(operands->buffer + SCATTERED, ABD_PERF_FILLERS, ABD_PERF_FILLER_SIZE);
	abd_perf_place_shuffle(operands->buffer, SCATTERED + ABD_PERF_FILLERS);
	operands->place = abd_perf_place_look(operands->buffer, SCATTERED + ABD_PERF_FILLERS);
	abd_perf_operands_check(operands);
	for (unsigned i = 0; i < 2; i++)
		operands->linear[i] = abd_perf_compare_linear(size);
	for (size_t i = 0; i < size; i++)
		operands->linear[0][i] = (char)(i % 8 == 0 ? abd_perf_random(&random) : i);
	memcpy(operands->linear[1], operands->linear[0], size);
	for (unsigned i = 0; i < 2; i++) {
		abd_get_from_buf_struct(&operands->view[i], operands->linear[i], size);
		abd_copy_from_buf(operands->buffer[i], operands->linear[0], size);
	}
	abd_zero(operands->buffer[ZEROS], size);
	abd_perf_limit_make(&operands->limit, operands->buffer[A], operands->buffer[B]);
}

static void abd_perf_operands_free(struct abd_perf_operands *operands)
{
	abd_perf_limit_free(&operands->limit);
	for (unsigned i = 0; i < SCATTERED + ABD_PERF_FILLERS; i++)
		abd_free(operands->buffer[i]);
	for (unsigned i = 0; i < 2; i++) {
		abd_free(&operands->view[i]);
		free(operands->linear[i]);
	}
	abd_cache_reap_now();
}

/* ---- what is timed --------------------------------------------------------------------------- */

ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_cmp, abd_cmp(o->buffer[A], o->buffer[B]))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_equal, abd_equal(o->buffer[A], o->buffer[B]))
ABD_PERF_LOOP(
	struct abd_perf_operands, abd_perf_loop_equal_linear, abd_equal(&o->view[A], &o->view[B]))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_zero, abd_cmp_zero(o->buffer[ZEROS], o->size))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_copy,
	(abd_copy(o->buffer[B], o->buffer[A], o->size), 1))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_copy_stream,
	(abd_copy_stream_off(o->buffer[B], o->buffer[A], 0, 0, o->size), 1))
ABD_PERF_LOOP(
	struct abd_perf_operands, abd_perf_loop_memcmp, memcmp(o->linear[A], o->linear[B], o->size))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_memcpy,
	(memcpy(o->linear[B], o->linear[A], o->size), 1))

ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_limit_compare,
	abd_perf_limit_run(&o->limit, ABD_PERF_LIMIT_COMPARE))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_limit_copy,
	abd_perf_limit_run(&o->limit, ABD_PERF_LIMIT_COPY))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_limit_zero,
	abd_perf_limit_run(&o->limit, ABD_PERF_LIMIT_ZERO))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_clear, (abd_zero(o->buffer[B], o->size), 1))
ABD_PERF_LOOP(struct abd_perf_operands, abd_perf_loop_memset, (memset(o->linear[B], 0, o->size), 1))

/* The baselines come first; those of bare loops only where there are any. */
enum { MEMCMP, MEMCPY, LOOP_COMPARE, LOOP_COPY, NONE };

struct abd_perf_operation {
	const char *name;
	double (*run)(void *arg, uint64_t iterations);
	unsigned against; /* a baseline; NONE: it is one itself */
	unsigned limit;   /* the baseline of bare loops over the same runs, or NONE */
	size_t size_min;
	size_t size_max; /* 0: all sizes from size_min on */
	struct {
		size_t size_min, size_max;
		double ratio, ratio_avx512; /* with AVX-512; 0: the same */
	} target[3];
};

static const struct abd_perf_operation abd_perf_operations[] = {
	{"memcmp", abd_perf_loop_memcmp, NONE, NONE, 0, 0, {{0}}},
	{"memcpy", abd_perf_loop_memcpy, NONE, NONE, 0, 0, {{0}}},
	{"best loop, compare", abd_perf_loop_limit_compare, NONE, NONE, 0, 0, {{0}}},
	{"best loop, copy", abd_perf_loop_limit_copy, NONE, NONE, 0, 0, {{0}}},
	{"abd_cmp", abd_perf_loop_cmp, MEMCMP, LOOP_COMPARE, 0, 0, {{0, 8 * KIB, 1, 0}}},
	{"abd_equal", abd_perf_loop_equal, MEMCMP, LOOP_COMPARE, 0, 0, {{0, 8 * KIB, 1, 0}}},
	/* Both sides fit 32 KiB of first-level cache. */
	{"abd_equal, linear", abd_perf_loop_equal_linear, MEMCMP, NONE, 0, 16 * KIB,
		{{4 * KIB, 16 * KIB, 1, 1.5}}},
	{"abd_cmp_zero", abd_perf_loop_zero, MEMCMP, NONE, 0, 0, {{128 * KIB, 128 * KIB, 1.3, 0}}},
	{"abd_copy", abd_perf_loop_copy, MEMCPY, LOOP_COPY, 0, 0, {{0, 16 * KIB, 0.95, 0}}},
	/* The caller says that nobody reads the copy soon. */
	{"abd_copy_stream_off", abd_perf_loop_copy_stream, MEMCPY, LOOP_COPY, 1024 * KIB, 0, {{0}}},
};

/* From this size on, what bare loops reach over the same runs is the target's measure. */
#define ABD_PERF_LIMIT_FROM (64 * KIB)
#define ABD_PERF_LIMIT_TARGET 0.95

#define ABD_PERF_OPERATIONS (sizeof(abd_perf_operations) / sizeof(abd_perf_operations[0]))

static double abd_perf_compare_target(const struct abd_perf_operation *operation, size_t size)
{
	for (unsigned i = 0; i < 3; i++) {
		if (operation->target[i].ratio == 0 || size < operation->target[i].size_min ||
			size > operation->target[i].size_max)
			continue;
		/* Setting this kernel succeeds exactly when the CPU has AVX-512. */
		if (operation->target[i].ratio_avx512 != 0 &&
			abd_tuning_set("compare", "avx512") == 0) {
			abd_perf_place_restore("compare");
			return operation->target[i].ratio_avx512;
		}
		return operation->target[i].ratio;
	}
	return 0;
}

static void abd_perf_compare_record(const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_operands *operands,
	const char *text)
{
	json_t *result = abd_perf_result_add("compare", "sizes", "%s", text);

	abd_perf_result_size(result, "size", operands->size);
	abd_perf_result_number(result, "runs_neighbours", (double)operands->place.neighbours);
	abd_perf_result_number(result, "runs_pairs", (double)operands->place.pairs);
	abd_perf_result_text(result, "kernel", abd_tuning_get("compare"));
	abd_perf_result_race(result, race, path, (double)operands->size);
	double limit = operands->size >= ABD_PERF_LIMIT_FROM ? ABD_PERF_LIMIT_TARGET : 0;

	for (unsigned i = 0; i < race->paths; i++) {
		const struct abd_perf_operation *operation = abd_perf_operations;

		while (strcmp(operation->name, path[i].name) != 0)
			operation++;
		if (operation->against != NONE)
			abd_perf_result_claims(result, race, path,
				&(struct abd_perf_claim){i, operation->against,
					abd_perf_compare_target(operation, operands->size), NULL},
				1);
		if (operation->limit != NONE && operands->limit.count > 0)
			abd_perf_result_claims(result, race, path,
				&(struct abd_perf_claim){i, operation->limit, limit, NULL}, 1);
	}
}

static void abd_perf_compare_size(
	struct abd_perf_operands *operands, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_path path[ABD_PERF_OPERATIONS];
	unsigned paths = 0;
	char text[24];

	abd_perf_say_step("%s", abd_perf_options_size_text(operands->size, text, sizeof(text)));
	for (unsigned i = 0; i < ABD_PERF_OPERATIONS; i++) {
		const struct abd_perf_operation *operation = &abd_perf_operations[i];

		if ((i == LOOP_COMPARE || i == LOOP_COPY) && operands->limit.count == 0)
			continue;
		if (operands->size >= operation->size_min &&
			(operation->size_max == 0 || operands->size <= operation->size_max))
			path[paths++] =
				(struct abd_perf_path){operation->name, operation->run, operands};
	}
	if (abd_perf_race_run(&race, path, paths, options))
		abd_perf_compare_record(&race, path, operands, text);
}

/* abd_zero() against memset() and against the best loop that stores zeroes. */
static void abd_perf_compare_zeroing(
	struct abd_perf_operands *operands, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	const struct abd_perf_path path[] = {
		{"memset", abd_perf_loop_memset, operands},
		{"abd_zero", abd_perf_loop_clear, operands},
		{"best loop, zero", abd_perf_loop_limit_zero, operands},
	};
	char text[24];

	abd_perf_say_step(
		"zeroing, %s", abd_perf_options_size_text(operands->size, text, sizeof(text)));
	if (!abd_perf_race_run(&race, path, operands->limit.count > 0 ? 3 : 2, options))
		return;

	json_t *result = abd_perf_result_add("compare", "sizes", "zeroing, %s", text);

	abd_perf_result_size(result, "size", operands->size);
	abd_perf_result_text(result, "kernel", abd_tuning_get("zero"));
	abd_perf_result_race(result, &race, path, (double)operands->size);
	abd_perf_result_claims(result, &race, path,
		(const struct abd_perf_claim[]){{1, 0, 0, NULL},
			{1, 2, operands->size >= ABD_PERF_LIMIT_FROM ? ABD_PERF_LIMIT_TARGET : 0,
				NULL}},
		race.paths - 1);
}

/* ---- boundaries that don't meet ------------------------------------------------------------ */

/* How far the second operand's boundaries of runs lie behind the first's. */
static const size_t abd_perf_shifts[] = {0, 1, 64, 512, 2048};
enum { SHIFTS = sizeof(abd_perf_shifts) / sizeof(abd_perf_shifts[0]) };

struct abd_perf_shifted {
	struct abd_perf_operands *operands;
	size_t size, shift;
};

ABD_PERF_LOOP(struct abd_perf_shifted, abd_perf_loop_shifted_equal,
	abd_equal_off(o->operands->buffer[A], o->operands->buffer[B], 0, o->shift, o->size))
ABD_PERF_LOOP(struct abd_perf_shifted, abd_perf_loop_shifted_copy,
	(abd_copy_off(o->operands->buffer[B], o->operands->buffer[A], o->shift, 0, o->size), 1))

/* All bytes are the same, so operands are equal at any shift. */
static void abd_perf_compare_shifted(struct abd_perf_operands *operands, const char *operation,
	double (*loop)(void *arg, uint64_t iterations), const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_shifted shifted[SHIFTS];
	struct abd_perf_path path[SHIFTS];
	char text[24], name[SHIFTS][24];

	abd_perf_options_size_text(operands->size, text, sizeof(text));
	abd_perf_say_step("%s, shifted, %s", operation, text);
	abd_zero(operands->buffer[A], operands->size);
	abd_zero(operands->buffer[B], operands->size);
	for (unsigned i = 0; i < SHIFTS; i++) {
		shifted[i] = (struct abd_perf_shifted){
			operands, operands->size - 4 * KIB, abd_perf_shifts[i]};
		snprintf(name[i], sizeof(name[i]), "shift %zu", abd_perf_shifts[i]);
		path[i] = (struct abd_perf_path){name[i], loop, &shifted[i]};
	}
	if (!abd_perf_race_run(&race, path, SHIFTS, options))
		return;

	json_t *result =
		abd_perf_result_add("compare", "shifted", "%s, shifted, %s", operation, text);

	abd_perf_result_text(result, "operation", operation);
	abd_perf_result_size(result, "size", operands->size);
	abd_perf_result_race(result, &race, path, (double)(operands->size - 4 * KIB));
	for (unsigned i = 1; i < SHIFTS; i++)
		abd_perf_result_claims(
			result, &race, path, &(struct abd_perf_claim){i, 0, 0.7, NULL}, 1);
}

/* ---- kernels, by name ------------------------------------------------------------------------ */

static const char *const abd_perf_kernels[] = {
	"scalar", "word", "libc", "sse2", "avx2", "avx512", "neon"};

#define ABD_PERF_KERNELS (sizeof(abd_perf_kernels) / sizeof(abd_perf_kernels[0]))

struct abd_perf_forced {
	struct abd_perf_operands *operands;
	const char *kernel;
};

static double abd_perf_compare_forced(void *arg, uint64_t iterations)
{
	const struct abd_perf_forced *forced = arg;

	abd_perf_place_tune("compare", forced->kernel);
	return abd_perf_loop_equal(forced->operands, iterations);
}

static void abd_perf_compare_kernels(
	struct abd_perf_operands *operands, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_path path[1 + ABD_PERF_KERNELS] = {
		{"memcmp", abd_perf_loop_memcmp, operands}};
	struct abd_perf_forced forced[1 + ABD_PERF_KERNELS];
	unsigned paths = 1;
	char text[24];

	abd_perf_say_step(
		"kernels, %s", abd_perf_options_size_text(operands->size, text, sizeof(text)));
	for (unsigned i = 0; i < ABD_PERF_KERNELS; i++) {
		if (abd_tuning_set("compare", abd_perf_kernels[i]) != 0)
			continue; /* this CPU lacks it */
		forced[paths] = (struct abd_perf_forced){operands, abd_perf_kernels[i]};
		path[paths] = (struct abd_perf_path){
			abd_perf_kernels[i], abd_perf_compare_forced, &forced[paths]};
		paths++;
	}

	bool run = abd_perf_race_run(&race, path, paths, options);

	abd_perf_place_restore("compare");
	if (!run)
		return;

	json_t *result = abd_perf_result_add("compare", "kernels", "abd_equal by kernel, %s", text);

	abd_perf_result_size(result, "size", operands->size);
	abd_perf_result_race(result, &race, path, (double)operands->size);
	/* "auto" takes the widest kernel, which comes last. */
	abd_perf_result_claims(
		result, &race, path, &(struct abd_perf_claim){paths - 1, 0, 0, NULL}, 1);
}

/* ---- what memory allows ---------------------------------------------------------------------- */

struct abd_perf_stream {
	size_t size;
	double *a, *b, *c;
};

/* McCalpin's triad, which bounds what memory gives to three streams. */
static long abd_perf_stream_triad(const struct abd_perf_stream *of)
{
	double *restrict a = of->a;
	const double *restrict b = of->b, *restrict c = of->c;

	for (size_t i = 0; i < of->size / sizeof(*a); i++)
		a[i] = b[i] + 3 * c[i];
	return 1;
}

ABD_PERF_LOOP(struct abd_perf_stream, abd_perf_stream_copy, (memcpy(o->a, o->b, o->size), 1))
ABD_PERF_LOOP(struct abd_perf_stream, abd_perf_stream_set, (memset(o->a, 0, o->size), 1))
ABD_PERF_LOOP(struct abd_perf_stream, abd_perf_stream_cmp, memcmp(o->b, o->c, o->size))
ABD_PERF_LOOP(struct abd_perf_stream, abd_perf_stream_three, abd_perf_stream_triad(o))

/*
 * Linear memory, for orientation. As STREAM asks, each array takes four times the last cache;
 * without
 * --full at most 256 MiB: arrays of 2 GiB took 16 s of the 29 that this scenario had.
 */
static void abd_perf_compare_stream(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	size_t all = 4 * abd_perf_env_last_cache(),
	       size = options->quick && all > 256 * MIB ? 256 * MIB : all;
	struct abd_perf_stream of = {.size = size};
	const struct abd_perf_path path[] = {{"memcpy", abd_perf_stream_copy, &of},
		{"memset", abd_perf_stream_set, &of}, {"memcmp", abd_perf_stream_cmp, &of},
		{"triad", abd_perf_stream_three, &of}};
	double **array[] = {&of.a, &of.b, &of.c};

	abd_perf_say_step("memory");
	if (options->mode == ABD_PERF_QUICK || size > abd_perf_env_memory() / 6 ||
		!abd_perf_say_wanted())
		return;
	for (unsigned i = 0; i < 3; i++)
		*array[i] = memset(abd_perf_compare_linear(size), 0, size);
	if (abd_perf_race_run(&race, path, 4, options)) {
		json_t *result = abd_perf_result_add("compare", "memory", "linear memory");

		abd_perf_result_size(result, "size", size);
		abd_perf_result_text(result, "state", abd_perf_env_state(2 * size));
		abd_perf_result_race(result, &race, path, (double)size);
	}
	for (unsigned i = 0; i < 3; i++)
		free(*array[i]);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static int abd_perf_compare_run(const struct abd_perf_options *options)
{
	static const size_t all[] = {
		64, 512, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MIB, 16 * MIB, 256 * MIB};
	static const size_t few[] = {64, 4 * KIB, 8 * KIB, 128 * KIB, MIB, 16 * MIB};
	const size_t *size = options->record_size != 0 ? &options->record_size
			     : options->quick          ? few
						       : all;
	size_t count = options->record_size != 0 ? 1 : options->quick ? 6 : 10;
	static struct abd_perf_operands operands;

	abd_perf_say_begin(
		"compare", 2 * (unsigned)count + 8 + abd_perf_compare_key_steps(options));
	for (size_t i = 0; i < count && !abd_perf_say_stopped(); i++) {
		/* Three scattered buffers and two linear ones. */
		if (size[i] > abd_perf_env_memory() / 3 / 5) {
			abd_perf_say_warn("%zu MiB are left out: too little memory", size[i] / MIB);
			continue;
		}
		abd_perf_operands_make(&operands, size[i], options->seed);
		abd_perf_compare_size(&operands, options);
		if (size[i] == 4 * KIB || size[i] == 128 * KIB || size[i] == 16 * MIB)
			abd_perf_compare_kernels(&operands, options);
		if (!abd_perf_say_stopped())
			abd_perf_compare_zeroing(&operands, options);
		if (size[i] == 128 * KIB || size[i] == MIB) {
			abd_perf_compare_shifted(
				&operands, "abd_equal", abd_perf_loop_shifted_equal, options);
			abd_perf_compare_shifted(
				&operands, "abd_copy", abd_perf_loop_shifted_copy, options);
		}
		abd_perf_operands_free(&operands);
	}
	if (options->record_size == 0 && !abd_perf_say_stopped())
		abd_perf_compare_stream(options);
	if (options->record_size == 0 && !abd_perf_say_stopped())
		abd_perf_compare_keys(options);
	return 0;
}

const struct abd_perf_scenario abd_perf_compare = {
	.name = "compare",
	.summary = "comparing, testing for zero and copying scattered buffers, by size, by shift "
		   "of boundaries and by kernel; short keys",
	.uses = ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 12,
	.full_s = 65,
	.run = abd_perf_compare_run,
};
