/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of the codec: lz4 against liblz4, whose word on a block is taken for the truth.
 */
#include "model.h"

#include <errno.h>
#include <lz4.h>

/* What liblz4 makes of a block, or less: it lets some damage pass that the format forbids. */
static bool decompressed(ssize_t got, int expected, bool damaged)
{
	return got == expected || (got == -EBADMSG && (expected < 0 || damaged)) ||
	       (model.oom && got == -ENOMEM);
}

/* Decompress size bytes at off of src. */
static void decompress(struct object *src, size_t off, size_t size, size_t room, bool damaged)
{
	struct object *d = model_any();
	size_t d_off, d_n;
	ssize_t got;
	int expected;

	model_read(src, off, size, model.a);
	expected = LZ4_decompress_safe((char *)model.a, (char *)model.b, (int)size, (int)room);
	memset(model.a, 0xa5, room + 1);
	trace("abd_lz4_decompress_to_buf(a, o%u, %zu, %zu, %zu);", src->id, room, off, size);
	got = abd_lz4_decompress_to_buf(model.a, src->abd, room, off, size);
	check(decompressed(got, expected, damaged), "lz4_decompress_to_buf gave %zd, not %d", got,
		expected);
	check(got < 0 || memcmp(model.a, model.b, (size_t)got) == 0, "lz4_decompress_to_buf of %zd",
		got);
	check(model.a[room] == 0xa5, "lz4_decompress_to_buf wrote behind %zu", room);

	model_random_range(d, &d_off, &d_n);
	if (!d->writes || d_n < room || model_overlap(d, d_off, room, src, off, size) ||
		model_repeats(d, d_off, room))
		return;
	trace("abd_lz4_decompress(o%u, o%u, %zu, %zu, %zu, %zu);", d->id, src->id, d_off, room, off,
		size);
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

static void damage(struct object *o, size_t off, size_t size)
{
	uint8_t byte = (uint8_t)model_below(256);
	size_t at = off + model_below(size);

	trace("set_byte(o%u, %zu, %u);", o->id, at, byte);
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

	ssize_t got = abd_lz4_compress(dst->abd, src->abd, d_off, off, n);

	trace("compress(o%u, o%u, %zu, %zu, %zu, %zd);", dst->id, src->id, d_off, off, n, got);

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
	}
	model_borrows_resync();
}
