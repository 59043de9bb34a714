/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of buffers, as statements name them and as drawings show them.
 */
#include "abd_explain_range.h"

enum { ABD_EXPLAIN_LIST = 12 }; /* spans that are listed one by one */

const char *abd_explain_range_spans_of(
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

struct abd_explain_range abd_explain_range_next(struct abd_explain_run *run)
{
	struct abd_explain_range range;

	range.buffer = abd_explain_run_buffer_or_newest(run);
	range.off = abd_explain_run_size(run, "OFFSET");
	range.size = abd_explain_run_size(run, "SIZE");
	return range;
}

struct abd_explain_range abd_explain_range_or_all(struct abd_explain_run *run)
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

bool abd_explain_range_is_inside(const struct abd_explain_range *range)
{
	size_t all = abd_get_size(range->buffer->abd);

	return range->off <= all && range->size <= all - range->off;
}

void abd_explain_range_touched(
	struct abd_explain_run *run, const struct abd_explain_range *range, const char *what)
{
	abd_explain_trace_mark(
		abd_explain_run_draw(run, range->buffer), range->off, range->size, what);
	abd_explain_trace_note(run->trace, run->step, "%s in %s.",
		abd_explain_run_count(run, range->size, "byte"),
		abd_explain_range_spans_of(run, range->buffer, range->off, range->size));
}

static int abd_explain_range_span(void *buf, size_t len, void *priv)
{
	struct abd_explain_spans *spans = priv;

	spans->spans[spans->count++] = (struct iovec){buf, len};
	return 0;
}

struct abd_explain_spans abd_explain_range_spans(
	struct abd_explain_run *run, const struct abd_explain_range *range)
{
	struct abd_explain_spans spans = {NULL, 0};
	size_t count = abd_explain_memory_spans(range->buffer->abd, range->off, range->size);

	spans.spans = abd_explain_trace_new(run->trace, (count + 1) * sizeof(*spans.spans));
	abd_iterate_func(
		range->buffer->abd, range->off, range->size, abd_explain_range_span, &spans);
	return spans;
}

void abd_explain_range_list(struct abd_explain_run *run, const struct abd_explain_range *range,
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

void abd_explain_range_calls(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans)
{
	struct abd_explain_shot *shot = abd_explain_run_draw(run, range->buffer);
	size_t at = range->off;

	for (size_t i = 0; i < spans->count && spans->count <= ABD_EXPLAIN_MARKS; i++) {
		abd_explain_trace_mark(shot, at, spans->spans[i].iov_len,
			abd_explain_trace_text(run->trace, "call %zu", i));
		at += spans->spans[i].iov_len;
	}
}

void abd_explain_range_fill(char *to, size_t size, const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < size; i++)
		to[i] = text[i % length];
}
