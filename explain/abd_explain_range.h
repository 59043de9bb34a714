/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a buffer: read from a statement's words, and marked in pictures.
 */
#ifndef ABD_EXPLAIN_RANGE_H
#define ABD_EXPLAIN_RANGE_H

#include "abd_explain_run.h"

struct abd_explain_range {
	struct abd_explain_buffer *buffer;
	size_t off, size;
};

/* The spans that the iterator hands out for a range. */
struct abd_explain_spans {
	struct iovec *spans;
	size_t count;
};

/** Read the next words: [BUFFER] OFFSET SIZE. */
struct abd_explain_range abd_explain_range_next(struct abd_explain_run *run);
/** Read the last words: [BUFFER] [OFFSET SIZE]; the whole buffer without a range. */
struct abd_explain_range abd_explain_range_or_all(struct abd_explain_run *run);

bool abd_explain_range_is_inside(const struct abd_explain_range *range);
struct abd_explain_spans abd_explain_range_spans(
	struct abd_explain_run *run, const struct abd_explain_range *range);
/** "2 spans", and why they may be fewer than the parts drawn. */
const char *abd_explain_range_spans_of(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, size_t off, size_t size);

/** Draw the buffer with the range marked, and note how many spans the range has. */
void abd_explain_range_touched(
	struct abd_explain_run *run, const struct abd_explain_range *range, const char *what);
/** Draw the buffer with each span marked as a call, if there are few enough to draw. */
void abd_explain_range_calls(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans);
/** List each span's length and offset; only the first ones if there are many. */
void abd_explain_range_list(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans, const char *what);

/** Write text into memory, over and over. */
void abd_explain_range_fill(char *to, size_t size, const char *text);

#endif
