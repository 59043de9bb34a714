/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of lz4: against liblz4, which decides what a block decodes to.
 */
#include "model.h"

#include <lz4.h>

/* What liblz4 makes of a block, or less: it lets some damage pass that the format forbids. */
static bool decompressed(ssize_t got, int expected, bool damaged)
{
	return got == expected || (got == -EBADMSG && (expected < 0 || damaged)) ||
	       (model.oom && got == -ENOMEM);
}

/*
 * Both lz4's, of size bytes at off of src: into flat memory, and that into model.b. Returns what
 * liblz4 says.
 */
static int decompress_flat(
	const struct object *src, size_t off, size_t size, size_t room, bool damaged)
{
	ssize_t got;
	int expected;

	model_read(src, off, size, model.a);
	expected = LZ4_decompress_safe((char *)model.a, (char *)model.b, (int)size, (int)room);
	memset(model.a, 0xa5, room + 1);
	trace("decompress_to_buf(o%u, %zu, %zu, %zu, %d, %d)", src->id, room, off, size, damaged,
		model.oom);
	got = abd_lz4_decompress_to_buf(model.a, src->abd, room, off, size);
	check(decompressed(got, expected, damaged), "lz4_decompress_to_buf gave %zd, not %d", got,
		expected);
	check(got < 0 || memcmp(model.a, model.b, (size_t)got) == 0, "lz4_decompress_to_buf of %zd",
		got);
	check(model.a[room] == 0xa5, "lz4_decompress_to_buf wrote behind %zu", room);
	return expected;
}

static void decompress(const struct object *src, size_t off, size_t size, size_t room, bool damaged)
{
	struct object *d = model_any();
	int expected = decompress_flat(src, off, size, room, damaged);
	size_t d_off, d_n;
	ssize_t got;

	model_random_range(d, &d_off, &d_n);
	if (!d->writes || d_n < room || model_overlap(d, d_off, room, src, off, size) ||
		model_repeats(d, d_off, room))
		return;
	trace("decompress(o%u, o%u, %zu, %zu, %zu, %zu, %d, %d)", d->id, src->id, d_off, room, off,
		size, damaged, model.oom);
	got = abd_lz4_decompress(d->abd, src->abd, d_off, room, off, size);
	check(decompressed(got, expected, damaged), "lz4_decompress gave %zd, not %d", got,
		expected);
	if (got > 0)
		model_write(d, d_off, (size_t)got, model.b);
	if (got > 0)
		model_resync(d, d_off + (size_t)got, room - (size_t)got);
	else
		model_resync(d, d_off, room);
	model_check_written(d, d_off, room, "lz4_decompress");
}

/*
 * A range of the n bytes that a block of size bytes at off of src has; of a damaged one, as far as
 * it is read at all.
 */
static void decompress_range(
	const struct object *src, size_t off, size_t size, size_t n, bool damaged)
{
	size_t from = model_below(n + 100), room = model_below(n + 100);
	size_t there = from < n ? abd_min(room, n - from) : 0;
	ssize_t got;

	memset(model.a, 0xa5, room + 1);
	trace("decompress_range(o%u, %zu, %zu, %zu, %zu, %zu, %d, %d)", src->id, from, room, off,
		size, n, damaged, model.oom);
	got = abd_lz4_decompress_range_to_buf(model.a, src->abd, from, room, off, size);
	check(model.a[room] == 0xa5, "lz4_decompress_range_to_buf wrote behind %zu", room);
	if (damaged) {
		check(got <= (ssize_t)room, "lz4_decompress_range_to_buf gave %zd of %zu", got,
			room);
		return;
	}
	check(got == (ssize_t)there || (got == -ENOMEM && model.oom),
		"lz4_decompress_range_to_buf [%zu, +%zu) of %zu gave %zd", from, room, n, got);
	if (got <= 0)
		return;
	model_read(src, off, size, model.b);
	LZ4_decompress_safe((char *)model.b, (char *)model.b + 65536, (int)size, (int)n);
	check(memcmp(model.a, model.b + 65536 + from, (size_t)got) == 0,
		"lz4_decompress_range_to_buf [%zu, +%zu) of %zu", from, room, n);
}

static void damage(struct object *o, size_t off, size_t size)
{
	uint8_t byte = (uint8_t)model_below(256);
	size_t at = off + model_below(size);

	trace("set_byte(o%u, %zu, %u)", o->id, at, byte);
	abd_copy_from_buf_off(o->abd, &byte, at, 1);
	model_write(o, at, 1, &byte);
}

void model_op_lz4(void)
{
	struct object *src = model_any(), *dst = model_any();
	size_t off, n, d_off, unused;

	if (dst == NULL || !dst->writes)
		return;
	model_random_range(src, &off, &n);
	n = abd_min(n, 40000);
	model_random_range(dst, &d_off, &unused);

	size_t bound = (size_t)LZ4_compressBound((int)n);
	size_t room = abd_min(dst->size - d_off, bound);

	if (model_overlap(src, off, n, dst, d_off, room) || model_repeats(dst, d_off, room))
		return;

	trace("compress(o%u, o%u, %zu, %zu, %zu, %zu, %d)", dst->id, src->id, d_off, off, n, room,
		model.oom);

	ssize_t got = abd_lz4_compress(dst->abd, src->abd, d_off, off, n);

	model_resync(dst, d_off, room);
	model_check_written(dst, d_off, room, "lz4_compress");
	check((got > 0 && (size_t)got <= room) || (got == -ENOSPC && room < bound) ||
			(got == -ENOMEM && model.oom),
		"lz4_compress of %zu into %zu gave %zd", n, room, got);
	if (got > 0) {
		model_read(dst, d_off, (size_t)got, model.a);
		check(LZ4_decompress_safe((char *)model.a, (char *)model.b, (int)got, (int)n) ==
					(int)n &&
				memcmp(model.b, model_read(src, off, n, model.a), n) == 0,
			"lz4_compress of %zu bytes lost them", n);

		bool damaged = model_one_in(3);

		if (damaged)
			damage(dst, d_off, (size_t)got);
		decompress(dst, d_off, (size_t)got, model_one_in(2) ? n : n / 2 + model_below(100),
			damaged);
		decompress_range(dst, d_off, (size_t)got, n, damaged);
	}
	model_borrows_resync();
}

/*
 * A block's length as ZFS has it, big-endian, put and read back where there may be too little
 * behind it.
 */
void model_op_lz4_length(void)
{
	struct object *o = model_any();
	size_t off, n, size;

	if (o == NULL || !o->writes)
		return;
	model_random_range(o, &off, &n);
	if (n < ABD_LZ4_LENGTH_SIZE || model_repeats(o, off, ABD_LZ4_LENGTH_SIZE))
		return;

	uint32_t length =
		(uint32_t)(model_one_in(3) ? abd_test_random(&model.random) : model_below(2 * n));
	const uint8_t bytes[] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16),
		(uint8_t)(length >> 8), (uint8_t)length};

	trace("abd_lz4_length_put(o%u, %zu, %u)", o->id, off, (unsigned)length);
	abd_lz4_length_put(o->abd, off, length);
	model_write(o, off, sizeof(bytes), bytes);
	model_check_written(o, off, sizeof(bytes), "lz4_length_put");
	size = model_one_in(5) ? model_below(5) : n;

	ssize_t got = abd_lz4_length_get(o->abd, off, size);
	ssize_t want = size >= sizeof(bytes) && length <= size - sizeof(bytes) ? (ssize_t)length
									       : -EBADMSG;

	trace("abd_lz4_length_get(o%u, %zu, %zu)", o->id, off, size);
	check(got == want, "lz4_length_get of %u in %zu bytes gave %zd", (unsigned)length, size,
		got);
}
