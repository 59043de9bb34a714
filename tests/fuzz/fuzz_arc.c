/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the input becomes puts, reads, holds, releases, removes and resizes of one
 * small cache. A model keeps the last content put under each key. The cache may have dropped any
 * record; a record that it still has must be right.
 */
#include "fuzz_input.h"

#include <abd/abd.h>
#include <abd/arc.h>

#include <errno.h>
#include <string.h>

enum { KEYS = 16, RECORD = 40000, HOLDS = 6, STEPS = 400 };

static struct {
	size_t size; /* 0: none was put, or it was removed */
	unsigned seed, noise;
} model[KEYS];

static struct {
	abd_arc_hold_t hold;
	uint8_t *content;
} held[HOLDS];

static uint8_t record[RECORD], back[RECORD + 1];

FUZZ_UNSEEN static void content(uint8_t *to, size_t n)
{
	uint32_t state = model[n].seed;

	for (size_t i = 0; i < model[n].size; i++) {
		state = (uint32_t)(state * 1664525ull + 1013904223u);
		to[i] = i % 64 < model[n].noise ? (uint8_t)(state >> 24) : (uint8_t)(n + i % 64);
	}
}

static abd_arc_key_t key_of(size_t n)
{
	return (abd_arc_key_t){1, {n, 2}, n / 3};
}

static void do_put(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);

	model[n].size = 1 + fuzz_below(in, RECORD);
	model[n].seed = fuzz_byte(in);
	model[n].noise = fuzz_byte(in) % 65;
	content(record, n);

	int error = abd_arc_put_flags(
		arc, &key, record, model[n].size, fuzz_byte(in) % 4 == 0 ? ABD_ARC_METADATA : 0);

	fuzz_check(error == 0 || error == -ENOSPC, "%zu bytes: %d", model[n].size, error);
	if (error != 0) /* what was there before may still be */
		abd_arc_remove(arc, &key), model[n].size = 0;
}

static void do_read(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t off = fuzz_below(in, RECORD), size = fuzz_below(in, RECORD);

	memset(back, 0xee, sizeof(back));

	ssize_t got = abd_arc_read(arc, &key, back, off, size);

	if (got == -ENOENT)
		return;
	fuzz_check(model[n].size > 0, "key %zu was never put", n);
	if (off > model[n].size || size > model[n].size - off) {
		fuzz_check(
			got == -EINVAL, "[%zu, +%zu) of %zu: %zd", off, size, model[n].size, got);
		return;
	}
	content(record, n);
	fuzz_check(got == (ssize_t)size && memcmp(back, record + off, size) == 0,
		"[%zu, +%zu) of %zu: %zd", off, size, model[n].size, got);
	fuzz_check(back[size] == 0xee, "a byte behind %zu", size);
}

static void do_release(size_t slot)
{
	abd_arc_hold_t *hold = &held[slot].hold;

	if (held[slot].content == NULL)
		return;
	if (hold->compressed)
		fuzz_check(abd_lz4_decompress_to_buf(back, hold->abd, hold->logical_size, 0,
				   hold->stored_size) == (ssize_t)hold->logical_size,
			"%zu", hold->logical_size);
	else
		abd_copy_to_buf_off(back, hold->abd, 0, hold->stored_size);
	fuzz_check(memcmp(back, held[slot].content, hold->logical_size) == 0, "%zu bytes changed",
		hold->logical_size);
	abd_arc_release(hold);
	free(held[slot].content);
	held[slot].content = NULL;
}

static void do_hold(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t slot = fuzz_byte(in) % HOLDS;

	do_release(slot);
	if (abd_arc_hold(arc, &key, &held[slot].hold) != 0)
		return;
	fuzz_check(held[slot].hold.logical_size == model[n].size, "%zu for %zu",
		held[slot].hold.logical_size, model[n].size);
	held[slot].content = malloc(model[n].size);
	content(held[slot].content, n);
}

static void step(abd_arc_t *arc, struct fuzz_input *in)
{
	uint8_t what = fuzz_byte(in);
	size_t n = fuzz_byte(in) % KEYS;
	abd_arc_key_t key = key_of(n);

	if (what < 90)
		do_put(arc, in, n);
	else if (what < 170)
		do_read(arc, in, n);
	else if (what < 210)
		do_hold(arc, in, n);
	else if (what < 225)
		do_release(n % HOLDS);
	else if (what < 245) {
		abd_arc_remove(arc, &key);
		model[n].size = 0;
	} else
		fuzz_check(abd_arc_resize(arc, ABD_ARC_CAPACITY_MIN << fuzz_byte(in) % 4) == 0,
			"resize");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	struct abd_arc_config config = {.config_size = sizeof(config)};
	struct abd_arc_stats stats;

	config.capacity_bytes = ABD_ARC_CAPACITY_MIN << fuzz_byte(&in) % 4;
	config.hit_batch = fuzz_byte(&in) % 4;
	unsigned flags = fuzz_byte(&in);

	config.flags = flags % 2 | (flags >= 192 ? ABD_ARC_SECOND_TIME : 0);
	memset(model, 0, sizeof(model));

	abd_arc_t *arc = abd_arc_create(&config);

	fuzz_check(arc != NULL, "capacity %zu", config.capacity_bytes);
	for (unsigned i = 0; i < STEPS && in.next < in.end; i++)
		step(arc, &in);
	for (size_t i = 0; i < HOLDS; i++)
		do_release(i);
	fuzz_check(abd_arc_resize(arc, ABD_ARC_CAPACITY_MIN) == 0, "resize");
	abd_arc_stats_get(arc, &stats, sizeof(stats));
	fuzz_check(stats.held_bytes == 0 && stats.used_bytes <= stats.capacity_bytes &&
			   stats.damaged == 0,
		"%zu used", (size_t)stats.used_bytes);
	abd_arc_destroy(arc);
	return 0;
}
