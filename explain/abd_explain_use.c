/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that use buffers.
 */
#include "abd_explain_run.h"
#include "abd_explain_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ABD_EXPLAIN_LIST = 12 }; /* spans that are listed one by one */

/* "2 spans", and why they may be fewer than the parts drawn. */
static const char *abd_explain_use_spans_of(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, size_t off, size_t size)
{
	const struct abd_explain_shot *shot = abd_explain_memory_shot(&run->world, buffer);
	size_t spans = abd_explain_memory_spans(buffer->abd, off, size), parts = 0;

	for (size_t i = 0; i < shot->part_count; i++)
		parts += shot->parts[i].off < off + size &&
			 shot->parts[i].off + shot->parts[i].size > off;
	return abd_explain_trace_text(run->trace, "%s%s", abd_explain_run_count(run, spans, "span"),
		spans < parts ? " (runs that are neighbours in memory make one)" : "");
}

/* ---- borrow and return ------------------------------------------------------------------------------------------- */

/* What is borrowed from: the buffer, or a view of it if the borrow is to begin at an offset. */
static struct abd_explain_buffer *abd_explain_use_from(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, size_t off, size_t size)
{
	if (off == 0)
		return buffer;
	abd_explain_run_call(
		run, "%s = abd_get_offset_size(%s, %zu, %zu)", run->name, buffer->name, off, size);

	struct abd_explain_buffer *view =
		abd_explain_run_born(run, abd_get_offset_size(buffer->abd, off, size));

	if (view == NULL)
		return NULL;
	view->parent = buffer;
	view->parent_off = off;
	buffer->view_count++;
	abd_explain_trace_note(run->trace, run->step,
		"A borrow begins at 0; to begin at %zu, it is made from a view.", off);
	abd_explain_trace_mark(abd_explain_run_draw(run, buffer), off, size, view->name);
	return view;
}

static void abd_explain_use_borrowed(struct abd_explain_run *run, struct abd_explain_buffer *buffer,
	void *memory, size_t size, bool content)
{
	struct abd_explain_borrow *borrow = abd_explain_trace_new(run->trace, sizeof(*borrow));

	*borrow = (struct abd_explain_borrow){
		buffer, memory, size, !abd_is_linear(buffer->abd), run->world.borrows};
	run->world.borrows = borrow;
	buffer->borrow_count++;
	abd_explain_trace_mark(abd_explain_run_draw(run, buffer), 0, size,
		borrow->is_copy && content ? "copied" : "borrowed");
	if (!borrow->is_copy) {
		abd_explain_trace_note(run->trace, run->step,
			"%s is linear: it lends its own memory. Nothing is copied.", buffer->name);
		return;
	}
	abd_explain_run_show(run, abd_explain_memory_shot_piece(&run->world, memory, size));
	if (content)
		abd_explain_trace_note(run->trace, run->step,
			"%s is not linear: %zu bytes were allocated, and as many copied, out of %s.",
			buffer->name, size, abd_explain_use_spans_of(run, buffer, 0, size));
	else
		abd_explain_trace_note(run->trace, run->step,
			"%s is not linear: %zu bytes were allocated. Their content is undefined.",
			buffer->name, size);
}

static void abd_explain_use_borrow_as(struct abd_explain_run *run, bool content)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);
	size_t first = abd_explain_run_size(run, "SIZE"), off = 0, size = first;
	void *memory;

	if (abd_explain_run_more(run)) {
		off = first;
		size = abd_explain_run_size(run, "SIZE");
	}
	abd_explain_run_end(run);
	buffer = abd_explain_use_from(run, buffer, off, size);
	if (buffer == NULL)
		return;
	abd_explain_run_call(
		run, "buf = abd_borrow_buf%s(%s, %zu)", content ? "_copy" : "", buffer->name, size);
	errno = 0;
	memory = content ? abd_borrow_buf_copy(buffer->abd, size)
			 : abd_borrow_buf(buffer->abd, size);
	if (memory == NULL) {
		abd_explain_run_born(run, NULL);
		return;
	}
	if (!content && !abd_is_linear(buffer->abd))
		memset(memory, '?', size);
	abd_explain_use_borrowed(run, buffer, memory, size, content);
}

void abd_explain_use_borrow(struct abd_explain_run *run)
{
	abd_explain_use_borrow_as(run, true);
}

void abd_explain_use_borrow_only(struct abd_explain_run *run)
{
	abd_explain_use_borrow_as(run, false);
}

static struct abd_explain_borrow *abd_explain_use_last_borrow(struct abd_explain_run *run)
{
	if (run->world.borrows == NULL)
		abd_explain_run_wrong(
			run, "nothing is borrowed: expected a borrow before '%s'", run->words[0]);
	return run->world.borrows;
}

/* The deep checks' rule for abd_return_buf(), kept in every build: what was only lent must not differ. */
static bool abd_explain_use_is_unchanged(const struct abd_explain_borrow *borrow)
{
	return abd_cmp_buf_off(borrow->buffer->abd, borrow->memory, 0, borrow->size) == 0;
}

static void abd_explain_use_return_as(struct abd_explain_run *run, bool write)
{
	struct abd_explain_borrow *borrow = abd_explain_use_last_borrow(run);
	struct abd_explain_buffer *buffer = borrow->buffer;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_return_buf%s(%s, buf, %zu)", write ? "_copy" : "",
		buffer->name, borrow->size);
	if (!write && !abd_explain_use_is_unchanged(borrow)) {
		abd_explain_run_undefined(run,
			"what goes back by abd_return_buf() must be unchanged, or the change is lost: abd_return_buf_copy() writes it back");
		return;
	}
	if (write)
		abd_return_buf_copy(buffer->abd, borrow->memory, borrow->size);
	else
		abd_return_buf(buffer->abd, borrow->memory, borrow->size);
	run->world.borrows = borrow->next;
	buffer->borrow_count--;

	struct abd_explain_shot *shot = abd_explain_run_draw(run, buffer);

	if (write && borrow->is_copy)
		abd_explain_trace_mark(shot, 0, borrow->size, "copied back");
	abd_explain_trace_note(run->trace, run->step,
		!borrow->is_copy ? "It was the buffer's own memory: there is nothing to do."
		: write          ? "The copy was written back, and ended."
				 : "The copy was ended; nothing was written back.");
}

void abd_explain_use_return(struct abd_explain_run *run)
{
	abd_explain_use_return_as(run, false);
}

void abd_explain_use_return_copy(struct abd_explain_run *run)
{
	abd_explain_use_return_as(run, true);
}

static void abd_explain_use_fill(char *to, size_t size, const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < size; i++)
		to[i] = text[i % length];
}

void abd_explain_use_poke(struct abd_explain_run *run)
{
	struct abd_explain_borrow *borrow = abd_explain_use_last_borrow(run);
	const char *text = abd_explain_run_rest(run);

	abd_explain_run_call(run, "memset(buf, ..., %zu)", borrow->size);
	for (const struct abd_explain_buffer *at = borrow->buffer; at != NULL; at = at->parent) {
		if ((at->abd->abd_flags & ABD_FLAG_ZEROS) != 0 && !borrow->is_copy) {
			abd_explain_run_undefined(run, "zeros can't be written");
			return;
		}
	}
	abd_explain_use_fill(borrow->memory, borrow->size, text != NULL ? text : "!");
	abd_explain_trace_note(run->trace, run->step,
		borrow->is_copy ? "The copy is changed; %s is not, until abd_return_buf_copy()."
				: "This is the memory of %s: it is changed at once.",
		borrow->buffer->name);
}

/* ---- write, read, zero ------------------------------------------------------------------------------------------- */

/* BUFFER OFFSET SIZE */
struct abd_explain_range {
	struct abd_explain_buffer *buffer;
	size_t off, size;
};

static struct abd_explain_range abd_explain_use_range(struct abd_explain_run *run)
{
	struct abd_explain_range range;

	range.buffer = abd_explain_run_buffer_or_newest(run);
	range.off = abd_explain_run_size(run, "OFFSET");
	range.size = abd_explain_run_size(run, "SIZE");
	return range;
}

/* BUFFER [OFFSET SIZE] */
static struct abd_explain_range abd_explain_use_range_or_all(struct abd_explain_run *run)
{
	struct abd_explain_range range;

	range.buffer = abd_explain_run_buffer_or_newest(run);
	range.off = 0;
	range.size = abd_get_size(range.buffer->abd);
	if (abd_explain_run_more(run)) {
		range.off = abd_explain_run_size(run, "OFFSET");
		range.size = abd_explain_run_size(run, "SIZE");
	}
	abd_explain_run_end(run);
	return range;
}

static bool abd_explain_use_is_inside(const struct abd_explain_range *range)
{
	size_t all = abd_get_size(range->buffer->abd);

	return range->off <= all && range->size <= all - range->off;
}

/* The caller's memory for a range. What reaches past the end is checked before it would be touched. */
static char *abd_explain_use_scratch(
	struct abd_explain_run *run, const struct abd_explain_range *range)
{
	return abd_explain_run_scratch(run, abd_explain_use_is_inside(range) ? range->size : 1);
}

static void abd_explain_use_touched(
	struct abd_explain_run *run, const struct abd_explain_range *range, const char *what)
{
	abd_explain_trace_mark(
		abd_explain_run_draw(run, range->buffer), range->off, range->size, what);
	abd_explain_trace_note(run->trace, run->step, "%s in %s.",
		abd_explain_run_count(run, range->size, "byte"),
		abd_explain_use_spans_of(run, range->buffer, range->off, range->size));
}

void abd_explain_use_write(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_use_range(run);
	const char *text = abd_explain_run_rest(run);
	char *from = abd_explain_use_scratch(run, &range);

	if (abd_explain_use_is_inside(&range))
		abd_explain_use_fill(from, range.size, text != NULL ? text : "abcdefgh");
	abd_explain_run_call(run, "abd_copy_from_buf_off(%s, buf, %zu, %zu)", range.buffer->name,
		range.off, range.size);
	abd_copy_from_buf_off(range.buffer->abd, from, range.off, range.size);
	abd_explain_use_touched(run, &range, "written");
}

void abd_explain_use_read(struct abd_explain_run *run)
{
	enum { SHOWN = 48 };
	struct abd_explain_range range = abd_explain_use_range(run);
	char *to = abd_explain_use_scratch(run, &range), shown[SHOWN + 1];
	size_t length = range.size < SHOWN ? range.size : SHOWN;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_copy_to_buf_off(buf, %s, %zu, %zu)", range.buffer->name,
		range.off, range.size);
	abd_copy_to_buf_off(to, range.buffer->abd, range.off, range.size);
	abd_explain_use_touched(run, &range, "read");
	for (size_t i = 0; i < length; i++)
		shown[i] = to[i] > ' ' && to[i] <= '~' ? to[i] : '.';
	shown[length] = '\0';
	abd_explain_trace_note(
		run->trace, run->step, "They are %s%s", shown, length < range.size ? "..." : "");
}

void abd_explain_use_zero(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_use_range(run);

	abd_explain_run_end(run);
	abd_explain_run_call(
		run, "abd_zero_off(%s, %zu, %zu)", range.buffer->name, range.off, range.size);
	abd_zero_off(range.buffer->abd, range.off, range.size);
	abd_explain_use_touched(run, &range, "zeroed");
}

/* ---- two buffers ------------------------------------------------------------------------------------------------- */

static int abd_explain_use_pair(void *a, void *b, size_t len, void *priv)
{
	(void)a;
	(void)b;
	(void)len;
	++*(size_t *)priv;
	return 0;
}

static size_t abd_explain_use_pieces(struct abd_explain_buffer *a, struct abd_explain_buffer *b,
	size_t a_off, size_t b_off, size_t size)
{
	size_t count = 0;

	abd_iterate_func2(a->abd, b->abd, a_off, b_off, size, abd_explain_use_pair, &count);
	return count;
}

/* Whether two ranges share memory without being the same: what was asked of the iterator, piece against piece. */
struct abd_explain_spans {
	struct iovec *spans;
	size_t count;
};

static int abd_explain_use_span(void *buf, size_t len, void *priv)
{
	struct abd_explain_spans *spans = priv;

	spans->spans[spans->count++] = (struct iovec){buf, len};
	return 0;
}

static struct abd_explain_spans abd_explain_use_spans(
	struct abd_explain_run *run, const struct abd_explain_range *range)
{
	struct abd_explain_spans spans = {NULL, 0};
	size_t count = abd_explain_memory_spans(range->buffer->abd, range->off, range->size);

	spans.spans = abd_explain_trace_new(run->trace, (count + 1) * sizeof(*spans.spans));
	abd_iterate_func(range->buffer->abd, range->off, range->size, abd_explain_use_span, &spans);
	return spans;
}

static bool abd_explain_use_overlaps(struct abd_explain_run *run,
	const struct abd_explain_range *to, const struct abd_explain_range *from)
{
	struct abd_explain_spans a, b;

	if (!abd_explain_use_is_inside(to) || !abd_explain_use_is_inside(from))
		return false; /* the library says so */
	a = abd_explain_use_spans(run, to);
	b = abd_explain_use_spans(run, from);
	for (size_t i = 0; i < a.count; i++)
		for (size_t j = 0; j < b.count; j++)
			if ((char *)a.spans[i].iov_base <
					(char *)b.spans[j].iov_base + b.spans[j].iov_len &&
				(char *)b.spans[j].iov_base <
					(char *)a.spans[i].iov_base + a.spans[i].iov_len)
				return true;
	return false;
}

void abd_explain_use_copy(struct abd_explain_run *run)
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
	if (abd_explain_use_overlaps(run, &to, &from)) {
		abd_explain_run_undefined(
			run, "both sides of a copy are apart, and these share memory");
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
			abd_explain_use_pieces(to.buffer, from.buffer, to.off, from.off, to.size),
			"span"));
}

static void abd_explain_use_compared(struct abd_explain_run *run, const struct abd_explain_range *a,
	const struct abd_explain_range *b)
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

void abd_explain_use_cmp(struct abd_explain_run *run)
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
	abd_explain_use_compared(run, &a, &b);
}

/* BUFFER BUFFER [OFFSET OFFSET SIZE]. Returns whether there is a range. */
static bool abd_explain_use_ranges(struct abd_explain_run *run, struct abd_explain_range *a,
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

void abd_explain_use_equal(struct abd_explain_run *run)
{
	struct abd_explain_range a, b;
	bool has_range = abd_explain_use_ranges(run, &a, &b, false), equal;

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
		abd_explain_use_compared(run, &a, &b);
	else
		abd_explain_trace_note(
			run->trace, run->step, "The sizes differ, so there is nothing to compare.");
}

void abd_explain_use_diff(struct abd_explain_run *run)
{
	struct abd_explain_range a, b;
	size_t at;

	abd_explain_use_ranges(run, &a, &b, true);
	abd_explain_run_call(run, "abd_diff_off(%s, %s, %zu, %zu, %zu)", a.buffer->name,
		b.buffer->name, a.off, b.off, a.size);
	at = abd_diff_off(a.buffer->abd, b.buffer->abd, a.off, b.off, a.size);
	abd_explain_trace_note(run->trace, run->step, "%zu%s", at,
		at == a.size ? ", the size: there is no difference." : ".");
	abd_explain_use_compared(run, &a, &b);
}

/* ---- one buffer -------------------------------------------------------------------------------------------------- */

void abd_explain_use_cmp_zero(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_use_range_or_all(run);
	int order;

	abd_explain_run_call(
		run, "abd_cmp_zero_off(%s, %zu, %zu)", range.buffer->name, range.off, range.size);
	order = abd_cmp_zero_off(range.buffer->abd, range.off, range.size);
	abd_explain_trace_note(run->trace, run->step,
		order == 0 ? "0: all of it is zero." : "Not 0: some of it is not zero.");
	abd_explain_use_touched(run, &range, "looked at");
}

void abd_explain_use_to_buf(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "buf = abd_to_buf(%s)", buffer->name);
	abd_to_buf(buffer->abd);
	abd_explain_trace_note(run->trace, run->step, "The memory of %s, itself.", buffer->name);
	abd_explain_run_draw(run, buffer);
}

static void abd_explain_use_list(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans, const char *what)
{
	size_t at = range->off;

	for (size_t i = 0; i < spans->count && i < ABD_EXPLAIN_LIST; i++) {
		abd_explain_trace_note(run->trace, run->step, "%s %zu: %zu bytes, from %zu of %s.",
			what, i, spans->spans[i].iov_len, at, range->buffer->name);
		at += spans->spans[i].iov_len;
	}
	if (spans->count > ABD_EXPLAIN_LIST)
		abd_explain_trace_note(
			run->trace, run->step, "And %zu more.", spans->count - ABD_EXPLAIN_LIST);
}

void abd_explain_use_iterate(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_use_range_or_all(run);

	abd_explain_run_call(run, "abd_iterate_func(%s, %zu, %zu, func, NULL)", range.buffer->name,
		range.off, range.size);

	struct abd_explain_spans spans = abd_explain_use_spans(run, &range);
	struct abd_explain_shot *shot = abd_explain_run_draw(run, range.buffer);
	size_t at = range.off;

	for (size_t i = 0; i < spans.count && spans.count <= ABD_EXPLAIN_MARKS; i++) {
		abd_explain_trace_mark(shot, at, spans.spans[i].iov_len,
			abd_explain_trace_text(run->trace, "call %zu", i));
		at += spans.spans[i].iov_len;
	}
	abd_explain_use_list(run, &range, &spans, "call");
}

void abd_explain_use_iov(struct abd_explain_run *run)
{
	enum { ENTRIES = 1024 };
	struct abd_explain_range range = abd_explain_use_range_or_all(run);
	struct abd_explain_spans spans = {NULL, 0};
	size_t covered;

	abd_explain_run_call(run, "abd_to_iov(%s, %zu, %zu, iov, %d, &covered)", range.buffer->name,
		range.off, range.size, ENTRIES);
	spans.spans = abd_explain_trace_new(run->trace, ENTRIES * sizeof(*spans.spans));
	spans.count = (size_t)abd_to_iov(
		range.buffer->abd, range.off, range.size, spans.spans, ENTRIES, &covered);
	abd_explain_trace_note(run->trace, run->step, "%zu, covering %zu bytes; nothing is copied.",
		spans.count, covered);
	abd_explain_use_list(run, &range, &spans, "entry");
	abd_explain_trace_mark(
		abd_explain_run_draw(run, range.buffer), range.off, covered, "described");
}
