/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All buffers first, then their runs into random order, then the bytes.
 */
#include "abd_perf_dedupe_sample.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdlib.h>
#include <string.h>

/* Every step-th proof of a kind. */
static size_t abd_perf_sample_step(const struct abd_perf_find *find, unsigned kind, uint64_t most)
{
	/* A page more for each: that is what a buffer may take. */
	uint64_t all =
		find->duplicate_bytes[kind] + (uint64_t)find->duplicates[kind] * ABD_PERF_PAGE;
	bool memory = find->set->count > 0 && find->set->file[0].abd != NULL;

	return memory || all <= most ? 1 : (size_t)((all + most - 1) / most);
}

static abd_t *abd_perf_sample_buffer(struct abd_perf_sample *sample, size_t size)
{
	abd_t *abd = abd_alloc(abd_perf_pages(size), false);

	if (abd == NULL)
		abd_perf_say_die(1, "no memory for buffers to compare");
	return sample->buffer[sample->buffers++] = abd;
}

static void abd_perf_sample_buffers(
	struct abd_perf_sample *sample, const struct abd_perf_proof *const *proof, uint64_t seed)
{
	sample->buffer = malloc((2 * sample->count + 1) * sizeof(abd_t *));
	if (sample->buffer == NULL)
		abd_perf_say_die(1, "no memory for a list of buffers");
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < sample->count; i++) {
		struct abd_perf_pair *pair = &sample->pair[i];

		pair->src = abd_perf_sample_buffer(
			sample, proof[i]->src_off % ABD_PERF_PAGE + proof[i]->size);
		pair->dst = abd_perf_sample_buffer(
			sample, proof[i]->dst_off % ABD_PERF_PAGE + proof[i]->size);
	}
	abd_perf_place_tune("max_order", "10");
	abd_perf_place_shuffle(sample->buffer, sample->buffers, &seed);
}

/* Pairs that can't be read any more are left out. */
static void abd_perf_sample_load(struct abd_perf_sample *sample, struct abd_perf_fileset *set,
	const struct abd_perf_proof *const *proof)
{
	size_t good = 0;

	for (size_t i = 0; i < sample->count && !abd_perf_stop_wanted(); i++) {
		struct abd_perf_pair pair = sample->pair[i];
		const struct abd_perf_proof *p = proof[i];

		pair.size = p->size;
		if (!abd_perf_file_load(set, p->src_file, p->src_off, p->size, 0, pair.src,
			    &pair.src, &pair.src_off) ||
			!abd_perf_file_load(set, p->dst_file, p->dst_off, p->size, 1, pair.dst,
				&pair.dst, &pair.dst_off))
			continue;
		sample->bytes += pair.size;
		sample->pair[good++] = pair;
	}
	sample->count = good;
}

void abd_perf_sample_make(struct abd_perf_sample *sample, struct abd_perf_find *find, unsigned kind,
	uint64_t most, uint64_t seed)
{
	size_t step = abd_perf_sample_step(find, kind, most), seen = 0;
	const struct abd_perf_proof **proof = malloc((find->proofs + 1) * sizeof(*proof));

	memset(sample, 0, sizeof(*sample));
	sample->pair = calloc(find->duplicates[kind] / step + 2, sizeof(*sample->pair));
	if (proof == NULL || sample->pair == NULL)
		abd_perf_say_die(1, "no memory for a list of proofs");
	for (size_t i = 0; i < find->proofs; i++) {
		if (find->proof[i].kind == kind && seen++ % step == 0)
			proof[sample->count++] = &find->proof[i];
	}
	if (sample->count > 0 && find->set->file[0].abd == NULL)
		abd_perf_sample_buffers(sample, proof, seed);
	abd_perf_sample_load(sample, find->set, proof);
	free(proof);
}

void abd_perf_sample_free(struct abd_perf_sample *sample)
{
	for (size_t i = 0; i < sample->buffers; i++)
		abd_free(sample->buffer[i]);
	free(sample->buffer);
	free(sample->pair);
	memset(sample, 0, sizeof(*sample));
	abd_cache_reap_now();
}

double abd_perf_sample_prove(struct abd_perf_sample *sample, uint64_t iterations)
{
	double start = abd_perf_clock_ns();
	size_t equal = 0;

	for (uint64_t n = 0; n < iterations; n++) {
		for (size_t i = 0; i < sample->count; i++) {
			const struct abd_perf_pair *pair = &sample->pair[i];

			equal += abd_equal_off(
				pair->dst, pair->src, pair->dst_off, pair->src_off, pair->size);
		}
	}

	double ns = abd_perf_clock_ns() - start;

	sample->errors += iterations * sample->count - equal;
	return ns;
}

size_t abd_perf_sample_prove_wrong(const struct abd_perf_sample *sample)
{
	size_t equal = 0;

	for (size_t i = 0; i < sample->count; i++) {
		const struct abd_perf_pair *pair = &sample->pair[i];
		size_t page = pair->dst_off - pair->dst_off % ABD_PERF_PAGE;

		equal += abd_equal_off(pair->dst, pair->src, page + pair->src_off % ABD_PERF_PAGE,
			pair->src_off, pair->size);
	}
	return equal;
}
