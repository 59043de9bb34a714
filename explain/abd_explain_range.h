/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a buffer: from a statement's words, to a picture's marks.
 */
#ifndef ABD_EXPLAIN_RANGE_H
#define ABD_EXPLAIN_RANGE_H

#include "abd_explain_run.h"

struct abd_explain_range {
	struct abd_explain_buffer *buffer;
	size_t off, size;
};

/* What the iterator hands out for a range. */
struct abd_explain_spans {
	struct iovec *spans;
	size_t count;
};

/** The next words: [BUFFER] OFFSET SIZE. */
struct abd_explain_range abd_explain_range_next(struct abd_explain_run *run);
/** The last words: [BUFFER] [OFFSET SIZE]. */
struct abd_explain_range abd_explain_range_or_all(struct abd_explain_run *run);

bool abd_explain_range_is_inside(const struct abd_explain_range *range);
struct abd_explain_spans abd_explain_range_spans(
	struct abd_explain_run *run, const struct abd_explain_range *range);
/** "2 spans", and why they may be fewer than the parts drawn. */
const char *abd_explain_range_spans_of(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, size_t off, size_t size);

/** Draw the buffer with the range marked, and say in how many spans it is. */
void abd_explain_range_touched(
	struct abd_explain_run *run, const struct abd_explain_range *range, const char *what);
/** Draw the buffer with each span marked as a call, if they are few enough to be told apart. */
void abd_explain_range_calls(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans);
/** Say of each span how long it is, and from where; of many, of the first ones. */
void abd_explain_range_list(struct abd_explain_run *run, const struct abd_explain_range *range,
	const struct abd_explain_spans *spans, const char *what);

/** Write text into memory, over and over. */
void abd_explain_range_fill(char *to, size_t size, const char *text);

#endif
