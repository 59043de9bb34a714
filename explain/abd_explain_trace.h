/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, step by step. The script's statements write it; the three drawings (text, SVG,
 * JSON) read it.
 *
 * Invariant: a trace contains no address. Memory is named as pages of the pool or as a numbered
 * heap piece. So the same script gives the same trace on every machine.
 * Owner: everything is in the trace's obstack; abd_explain_trace_end() frees it.
 */
#ifndef ABD_EXPLAIN_TRACE_H
#define ABD_EXPLAIN_TRACE_H

#include <obstack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of a buffer that lies in one run, or in one other piece of memory. */
struct abd_explain_part {
	size_t off, size;  /* in the buffer */
	size_t in;         /* from the start of the run */
	const char *owner; /* the buffer whose run it is; "" for zeros */
	const char *place; /* "pages 4-5", "heap 1", "zeros" */
	int run;           /* which run of its owner; -1: no run */
	int order;         /* of that run; -1: no run */
};

/* A range that a call touched. */
struct abd_explain_mark {
	size_t off, size;
	const char *what;
};

enum { ABD_EXPLAIN_MARKS = 8 };

/* One buffer, as it was after a step. */
struct abd_explain_shot {
	const char *name;
	const char *head; /* what it is, in words */
	const char *kind; /* linear, scatter, gang, zeros, memory */
	const char *of;   /* a view's parent, and of_off the offset in it; or NULL */
	size_t of_off;
	size_t size;
	bool is_linear, is_linear_page;
	size_t part_count;
	struct abd_explain_part *parts;
	size_t mark_count;
	struct abd_explain_mark marks[ABD_EXPLAIN_MARKS];
	struct abd_explain_shot *next;
};

/* A sentence under a step. */
struct abd_explain_note {
	const char *text;
	struct abd_explain_note *next;
};

/* A counter that a step changed. */
struct abd_explain_delta {
	const char *name;
	uint64_t now;
	int64_t by;
	struct abd_explain_delta *next;
};

enum abd_explain_outcome {
	ABD_EXPLAIN_DONE,
	ABD_EXPLAIN_REFUSED, /* the call returned an error */
	ABD_EXPLAIN_BROKEN,  /* the script broke a contract */
};

struct abd_explain_step {
	unsigned line;
	const char *statement;
	const char *call; /* the C it stands for, or NULL */
	enum abd_explain_outcome outcome;
	struct abd_explain_note *notes;
	struct abd_explain_shot *shots;
	struct abd_explain_delta *deltas;
	const char *pool; /* one character for each page, or NULL */
	bool is_chapter;  /* statement is the title of what follows, which starts anew */
	struct abd_explain_step *next;
};

struct abd_explain_trace {
	struct obstack memory;
	struct abd_explain_step *steps, **steps_end;
};

void abd_explain_trace_begin(struct abd_explain_trace *trace);
void abd_explain_trace_end(struct abd_explain_trace *trace);

/** Zeroed memory, and text as printf() makes it, that live as long as the trace. */
void *abd_explain_trace_new(struct abd_explain_trace *trace, size_t size);
const char *abd_explain_trace_text(struct abd_explain_trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct abd_explain_step *abd_explain_trace_step(struct abd_explain_trace *trace);
void abd_explain_trace_note(struct abd_explain_trace *trace, struct abd_explain_step *step,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
void abd_explain_trace_mark(
	struct abd_explain_shot *shot, size_t off, size_t size, const char *what);

const char *abd_explain_outcome_name(enum abd_explain_outcome outcome);

#endif
