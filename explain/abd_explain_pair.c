/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements about two buffers: copy, compare, iterate, compress.
 */
#include "abd_explain_range.h"

#include <errno.h>

static int abd_explain_pair_count(void *a, void *b, size_t len, void *priv)
{
	(void)a;
	(void)b;
	(void)len;
	++*(size_t *)priv;
	return 0;
}

static size_t abd_explain_pair_pieces(struct abd_explain_buffer *a, struct abd_explain_buffer *b,
	size_t a_off, size_t b_off, size_t size)
{
	size_t count = 0;

	abd_iterate_func2(a->abd, b->abd, a_off, b_off, size, abd_explain_pair_count, &count);
	return count;
}

/* Whether two ranges share memory: compares each span of one with each span of the other. */
static bool abd_explain_pair_overlaps(struct abd_explain_run *run,
	const struct abd_explain_range *to, const struct abd_explain_range *from)
{
	struct abd_explain_spans a, b;

	if (!abd_explain_range_is_inside(to) || !abd_explain_range_is_inside(from))
		return false; /* the library reports it */
	a = abd_explain_range_spans(run, to);
	b = abd_explain_range_spans(run, from);
	for (size_t i = 0; i < a.count; i++)
		for (size_t j = 0; j < b.count; j++)
			if ((char *)a.spans[i].iov_base <
					(char *)b.spans[j].iov_base + b.spans[j].iov_len &&
				(char *)b.spans[j].iov_base <
					(char *)a.spans[i].iov_base + a.spans[i].iov_len)
				return true;
	return false;
}

void abd_explain_pair_copy(struct abd_explain_run *run)
{
	struct abd_explain_range to = {abd_explain_run_buffer(run), 0, 0};
	struct abd_explain_range from = {abd_explain_run_buffer(run), 0, 0};
	size_t first = abd_explain_run_size(run, "SIZE");

	if (abd_explain_run_more(run)) {
		to.off = first;
		from.off = abd_explain_run_size(run, "FROM_OFFSET");
		first = abd_explain_run_size(run, "SIZE");
	}
	abd_explain_run_end(run);
	to.size = from.size = first;
	abd_explain_run_call(run, "abd_copy_off(%s, %s, %zu, %zu, %zu)", to.buffer->name,
		from.buffer->name, to.off, from.off, from.size);
	if (abd_explain_pair_overlaps(run, &to, &from)) {
		abd_explain_run_undefined(
			run, "source and destination must not overlap, and these share memory");
		return;
	}
	abd_copy_off(to.buffer->abd, from.buffer->abd, to.off, from.off, from.size);
	abd_explain_trace_mark(
		abd_explain_run_draw(run, from.buffer), from.off, from.size, "copied from");
	abd_explain_trace_mark(abd_explain_run_draw(run, to.buffer), to.off, to.size, "copied to");
	abd_explain_trace_note(run->trace, run->step,
		"%s in %s: a span ends where either side is not continued in memory.",
		abd_explain_run_count(run, to.size, "byte"),
		abd_explain_run_count(run,
			abd_explain_pair_pieces(to.buffer, from.buffer, to.off, from.off, to.size),
			"span"));
}

static void abd_explain_pair_compared(struct abd_explain_run *run,
	const struct abd_explain_range *a, const struct abd_explain_range *b)
{
	size_t at = abd_diff_off(a->buffer->abd, b->buffer->abd, a->off, b->off, a->size);
	struct abd_explain_shot *shot_a = abd_explain_run_draw(run, a->buffer);
	struct abd_explain_shot *shot_b = abd_explain_run_draw(run, b->buffer);
	size_t looked = at < a->size ? at + 1 : at;
	const char *what = at < a->size ? "compared up to the difference" : "compared";

	abd_explain_trace_mark(shot_a, a->off, looked, what);
	abd_explain_trace_mark(shot_b, b->off, looked, what);
	if (at < a->size)
		abd_explain_trace_note(run->trace, run->step,
			"The first difference is byte %zu of the range (abd_diff_off).", at);
}

void abd_explain_pair_cmp(struct abd_explain_run *run)
{
	struct abd_explain_range a = {abd_explain_run_buffer(run), 0, 0};
	struct abd_explain_range b = {abd_explain_run_buffer(run), 0, 0};
	int order;

	abd_explain_run_end(run);
	a.size = b.size = abd_get_size(a.buffer->abd);
	abd_explain_run_call(run, "abd_cmp(%s, %s)", a.buffer->name, b.buffer->name);
	order = abd_cmp(a.buffer->abd, b.buffer->abd);
	abd_explain_trace_note(run->trace, run->step, "%s",
		order == 0  ? "0: equal."
		: order < 0 ? "Less than 0: the first is smaller, as memcmp() would say."
			    : "Greater than 0: the first is larger, as memcmp() would say.");
	abd_explain_pair_compared(run, &a, &b);
}

/* Read BUFFER BUFFER [OFFSET OFFSET SIZE]; must: the range is required. False: no range given. */
static bool abd_explain_pair_ranges(struct abd_explain_run *run, struct abd_explain_range *a,
	struct abd_explain_range *b, bool must)
{
	a->buffer = abd_explain_run_buffer(run);
	b->buffer = abd_explain_run_buffer(run);
	a->off = b->off = 0;
	a->size = b->size = abd_get_size(a->buffer->abd);
	if (!must && !abd_explain_run_more(run))
		return false;
	a->off = abd_explain_run_size(run, "OFFSET");
	b->off = abd_explain_run_size(run, "OFFSET");
	a->size = b->size = abd_explain_run_size(run, "SIZE");
	abd_explain_run_end(run);
	return true;
}

void abd_explain_pair_equal(struct abd_explain_run *run)
{
	struct abd_explain_range a, b;
	bool has_range = abd_explain_pair_ranges(run, &a, &b, false), equal;

	if (has_range) {
		abd_explain_run_call(run, "abd_equal_off(%s, %s, %zu, %zu, %zu)", a.buffer->name,
			b.buffer->name, a.off, b.off, a.size);
		equal = abd_equal_off(a.buffer->abd, b.buffer->abd, a.off, b.off, a.size);
	} else {
		abd_explain_run_call(run, "abd_equal(%s, %s)", a.buffer->name, b.buffer->name);
		equal = abd_equal(a.buffer->abd, b.buffer->abd);
	}
	abd_explain_trace_note(run->trace, run->step, equal ? "true." : "false.");
	if (has_range || a.size == abd_get_size(b.buffer->abd))
		abd_explain_pair_compared(run, &a, &b);
	else
		abd_explain_trace_note(
			run->trace, run->step, "The sizes differ, so there is nothing to compare.");
}

void abd_explain_pair_diff(struct abd_explain_run *run)
{
	struct abd_explain_range a, b;
	size_t at;

	abd_explain_pair_ranges(run, &a, &b, true);
	abd_explain_run_call(run, "abd_diff_off(%s, %s, %zu, %zu, %zu)", a.buffer->name,
		b.buffer->name, a.off, b.off, a.size);
	at = abd_diff_off(a.buffer->abd, b.buffer->abd, a.off, b.off, a.size);
	abd_explain_trace_note(run->trace, run->step, "%zu%s", at,
		at == a.size ? ", the size: there is no difference." : ".");
	abd_explain_pair_compared(run, &a, &b);
}

/* ---- lz4, durable copies --------------------------------------------------------------------- */

static const char *abd_explain_pair_error(ssize_t error)
{
	switch (error) {
	case -EBADMSG:
		return "-EBADMSG: the block is damaged, or holds more than there is room for";
	case -ENOSPC:
		return "-ENOSPC: the compressed form is larger than the room";
	case -EINVAL:
		return "-EINVAL: lz4 serves no such size";
	default:
		return "-ENOMEM: there is not enough memory";
	}
}

/* The end of both lz4 statements: draw the bytes made in to from size bytes of from, or the error.
 */
static void abd_explain_pair_coded(struct abd_explain_run *run, struct abd_explain_buffer *to,
	struct abd_explain_buffer *from, size_t size, ssize_t made)
{
	if (made < 0) {
		run->step->outcome = ABD_EXPLAIN_REFUSED;
		abd_explain_trace_note(run->trace, run->step, "%s.", abd_explain_pair_error(made));
		return;
	}
	abd_explain_trace_mark(abd_explain_run_draw(run, from), 0, size, "read");
	abd_explain_trace_mark(abd_explain_run_draw(run, to), 0, (size_t)made, "written");
	abd_explain_trace_note(
		run->trace, run->step, "%zd, the bytes made out of %zu.", made, size);
}

/* Read TO FROM, which must not share memory. */
static bool abd_explain_pair_to_from(
	struct abd_explain_run *run, struct abd_explain_range *to, struct abd_explain_range *from)
{
	to->buffer = abd_explain_run_buffer(run);
	from->buffer = abd_explain_run_buffer(run);
	to->off = from->off = 0;
	to->size = abd_get_size(to->buffer->abd);
	from->size = abd_get_size(from->buffer->abd);
	if (!abd_explain_pair_overlaps(run, to, from))
		return true;
	abd_explain_run_undefined(
		run, "source and destination must not overlap, and these share memory");
	return false;
}

void abd_explain_pair_compress(struct abd_explain_run *run)
{
	struct abd_explain_range to, from;
	bool apart = abd_explain_pair_to_from(run, &to, &from);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_lz4_compress(%s, %s, 0, 0, %zu)", to.buffer->name,
		from.buffer->name, from.size);
	if (apart)
		abd_explain_pair_coded(run, to.buffer, from.buffer, from.size,
			abd_lz4_compress(to.buffer->abd, from.buffer->abd, 0, 0, from.size));
}

void abd_explain_pair_decompress(struct abd_explain_run *run)
{
	struct abd_explain_range to, from;
	bool apart = abd_explain_pair_to_from(run, &to, &from);
	size_t size = abd_explain_run_size(run, "SIZE");

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_lz4_decompress(%s, %s, 0, %zu, 0, %zu)", to.buffer->name,
		from.buffer->name, to.size, size);
	if (apart)
		abd_explain_pair_coded(run, to.buffer, from.buffer, size,
			abd_lz4_decompress(to.buffer->abd, from.buffer->abd, 0, to.size, 0, size));
}

void abd_explain_pair_flush_copy(struct abd_explain_run *run)
{
	struct abd_explain_range to, from;
	bool apart = abd_explain_pair_to_from(run, &to, &from);
	size_t size = abd_explain_run_size(run, "SIZE");

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_flush_copy_off(%s, %s, 0, 0, %zu, ABD_FLUSH_AUTO)",
		to.buffer->name, from.buffer->name, size);
	if (!apart)
		return;
	abd_flush_copy_off(to.buffer->abd, from.buffer->abd, 0, 0, size, ABD_FLUSH_AUTO);
	abd_explain_trace_mark(abd_explain_run_draw(run, from.buffer), 0, size, "read");
	abd_explain_trace_mark(abd_explain_run_draw(run, to.buffer), 0, size, "written, durably");
	abd_explain_trace_note(run->trace, run->step,
		"One fence for all of it, however many runs there are. Now it is durable, if the memory is persistent.");
}
