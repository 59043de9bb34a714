/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums: checksums of linear and of scattered buffers, against what a user would otherwise call on
 * linear memory: libxxhash's xxh3, which chooses the CPU's vectors itself, ISA-L's crc32c, and for
 * fletcher_4 a bare loop of vectors. It leaves out what joins the lanes: no such sum costs less.
 *
 * Scattered means 4 KiB runs at random addresses; up to 4 KiB that is one run.
 * All sum the same bytes, and what they return is compared before they are timed. Libraries are
 * looked for when the scenario runs; without one its row has no ruler.
 */
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <abd/codec.h>

#include <stdlib.h>
#include <string.h>

enum { FILLERS = 31, RUN = 4096 };

struct abd_perf_summed {
	size_t size;
	abd_t *scattered[1 + FILLERS]; /* the fillers' runs take part in the shuffle */
	abd_t *linear;
};

/* ---- fletcher_4's ruler ---------------------------------------------------------------------- */

typedef uint64_t abd_perf_lanes __attribute__((vector_size(64), aligned(4), may_alias));

#if defined(__x86_64__) && defined(__GLIBC__)
#define BY_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BY_CPU
#endif

/* Words at even and odd places apart, each sum added to the next. Returns the first of the sums. */
BY_CPU static uint64_t abd_perf_sums_bare(const void *from, size_t size)
{
	abd_perf_lanes a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
	const abd_perf_lanes *lane = from, *end = lane + size / sizeof(*lane);
	uint64_t sum = 0;

	for (; lane < end; lane++) {
		d += c += b += a += *lane & 0xffffffff;
		h += g += f += e += *lane >> 32;
	}
	a += e;
	b += c + d + f + g + h;
	__asm__ volatile("" : : "m"(b));
	for (size_t i = 0; i < 8; i++)
		sum += a[i];
	return sum;
}

/* ---- the libraries' -------------------------------------------------------------------------- */

static uint32_t (*abd_perf_sums_isal)(const void *from, int size, uint32_t seed);

static uint64_t abd_perf_sums_isal_crc32c(const void *from, size_t size)
{
	return ~abd_perf_sums_isal(from, (int)size, ~0u);
}

/* ---- ours ------------------------------------------------------------------------------------ */

static uint64_t abd_perf_sums_fletcher(const abd_t *abd, size_t size)
{
	uint64_t sum[4];

	abd_fletcher_4(abd, 0, size, sum);
	return sum[0];
}

static uint64_t abd_perf_sums_crc32c(const abd_t *abd, size_t size)
{
	return abd_crc32c(abd, 0, size, 0);
}

static uint64_t abd_perf_sums_xxh3(const abd_t *abd, size_t size)
{
	return abd_xxh3(abd, 0, size, 0);
}

static struct abd_perf_sum {
	const char *name; /* the tunable of its kernels, too */
	uint64_t (*ours)(const abd_t *abd, size_t size);
	const char *ruler_name;
	uint64_t (*ruler)(const void *from, size_t size); /* NULL: there is none here */
} abd_perf_sums_all[] = {
	{"fletcher", abd_perf_sums_fletcher, "bare loop", abd_perf_sums_bare},
	{"crc32c", abd_perf_sums_crc32c, "ISA-L", NULL},
	{"xxh3", abd_perf_sums_xxh3, "libxxhash", NULL},
};
enum { CRC32C = 1, XXH3, SUMS };

static void abd_perf_sums_rulers(void)
{
	struct abd_perf_sum *xxh3 = &abd_perf_sums_all[XXH3];

	/* What <xxh_x86dispatch.h> makes of XXH3_64bits(); other CPUs have one kind of vectors. */
	if (!abd_perf_env_function(&xxh3->ruler, "libxxhash.so.0", "XXH3_64bits_dispatch"))
		abd_perf_env_function(&xxh3->ruler, "libxxhash.so.0", "XXH3_64bits");
	if (abd_perf_env_function(&abd_perf_sums_isal, "libisal.so.2", "crc32_iscsi"))
		abd_perf_sums_all[CRC32C].ruler = abd_perf_sums_isal_crc32c;
	for (unsigned i = 0; i < SUMS; i++)
		if (abd_perf_sums_all[i].ruler == NULL)
			abd_perf_say_warn("%s is not installed: %s has no ruler",
				abd_perf_sums_all[i].ruler_name, abd_perf_sums_all[i].name);
}

/* ---- the races ------------------------------------------------------------------------------- */

struct abd_perf_sums_path {
	const struct abd_perf_sum *sum;
	abd_t *abd;
	bool by_ruler;
	size_t size;
};

static uint64_t abd_perf_sums_path_sum(const struct abd_perf_sums_path *path)
{
	return path->by_ruler ? path->sum->ruler(abd_to_buf(path->abd), path->size)
			      : path->sum->ours(path->abd, path->size);
}

ABD_PERF_LOOP(struct abd_perf_sums_path, abd_perf_sums_loop, (long)abd_perf_sums_path_sum(o))

static int abd_perf_sums_race(const struct abd_perf_sum *sum, const struct abd_perf_summed *summed,
	const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	size_t size = summed->size;
	struct abd_perf_sums_path way[] = {{sum, summed->linear, false, size},
		{sum, summed->scattered[0], false, size}, {sum, summed->linear, true, size}};
	const struct abd_perf_path path[] = {{"linear", abd_perf_sums_loop, &way[0]},
		{"scattered", abd_perf_sums_loop, &way[1]}, {"ruler", abd_perf_sums_loop, &way[2]}};
	const double target = size < RUN ? 0 : 0.95;
	char text[24];

	abd_perf_options_size_text(size, text, sizeof(text));
	abd_perf_say_step("%s of %s", sum->name, text);
	for (unsigned i = 1; i < (sum->ruler != NULL ? 3 : 2); i++)
		if (abd_perf_sums_path_sum(&way[i]) != abd_perf_sums_path_sum(&way[0])) {
			abd_perf_say_error("%s of %s: %s and linear memory differ", sum->name, text,
				path[i].name);
			return 1;
		}
	if (!abd_perf_race_run(&race, path, sum->ruler != NULL ? 3 : 2, options))
		return 0;

	json_t *result = abd_perf_result_add("sums", "sums", "%s of %s", sum->name, text);

	abd_perf_result_text(result, "checksum", sum->name);
	abd_perf_result_size(result, "size", size);
	abd_perf_result_text(result, "kernel", abd_tuning_get(sum->name));
	abd_perf_result_text(result, "ruler", sum->ruler != NULL ? sum->ruler_name : "none");
	abd_perf_result_race(result, &race, path, (double)size);
	if (sum->ruler != NULL)
		abd_perf_result_claims(result, &race, path,
			(const struct abd_perf_claim[]){{0, 2, target, NULL}, {1, 2, target, NULL}},
			2);
	return 0;
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static void abd_perf_sums_make(
	struct abd_perf_summed *summed, size_t size, const struct abd_perf_options *options)
{
	uint64_t random = options->seed;
	char *bytes;

	summed->size = size;
	summed->linear = abd_alloc_linear(size, false);
	if (summed->linear == NULL)
		abd_perf_say_die(1, "no memory for %zu bytes to sum", size);
	abd_perf_place_alloc(summed->scattered, 1, size);
	abd_perf_place_alloc(summed->scattered + 1, FILLERS, 256 << 10);
	abd_perf_place_shuffle(summed->scattered, 1 + FILLERS);
	bytes = abd_to_buf(summed->linear);
	for (size_t off = 0; off < size; off += sizeof(random)) {
		uint64_t word = abd_perf_random(&random);

		memcpy(bytes + off, &word, sizeof(word));
	}
	abd_copy_from_buf(summed->scattered[0], bytes, size);
	bytes[size / 2] ^= (char)options->plant;
}

static int abd_perf_sums_run(const struct abd_perf_options *options)
{
	static const size_t sizes[] = {512, RUN, 4 * RUN, 32 * RUN, 256 * RUN};
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
	struct abd_perf_summed summed;
	int status = 0;

	abd_perf_sums_rulers();
	abd_perf_say_begin("sums", SIZES * SUMS);
	for (unsigned i = 0; i < SIZES && status == 0; i++) {
		abd_perf_sums_make(&summed, sizes[i], options);
		for (unsigned j = 0; j < SUMS && status == 0 && !abd_perf_say_stopped(); j++)
			status = abd_perf_sums_race(&abd_perf_sums_all[j], &summed, options);
		for (unsigned j = 0; j <= FILLERS; j++)
			abd_free(summed.scattered[j]);
		abd_free(summed.linear);
	}
	return status;
}

const struct abd_perf_scenario abd_perf_sums = {
	.name = "sums",
	.summary =
		"checksums of scattered and of linear buffers, beside ISA-L, libxxhash and a bare loop",
	.normal_s = 4,
	.full_s = 8,
	.run = abd_perf_sums_run,
};
