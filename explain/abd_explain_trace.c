/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace's memory is one obstack: parts are added one by one, and freed all together.
 */
#include "abd_explain_trace.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

void abd_explain_trace_begin(struct abd_explain_trace *trace)
{
	memset(trace, 0, sizeof(*trace));
	obstack_init(&trace->memory);
	trace->steps_end = &trace->steps;
}

void abd_explain_trace_end(struct abd_explain_trace *trace)
{
	obstack_free(&trace->memory, NULL);
}

void *abd_explain_trace_new(struct abd_explain_trace *trace, size_t size)
{
	if (size > INT_MAX) /* an obstack counts in int */
		abort();
	return memset(obstack_alloc(&trace->memory, (int)size), 0, size);
}

static const char *abd_explain_trace_vtext(
	struct abd_explain_trace *trace, const char *format, va_list args)
{
	obstack_vprintf(&trace->memory, format, args);
	obstack_1grow(&trace->memory, '\0');
	return obstack_finish(&trace->memory);
}

const char *abd_explain_trace_text(struct abd_explain_trace *trace, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = abd_explain_trace_vtext(trace, format, args);
	va_end(args);
	return text;
}

struct abd_explain_step *abd_explain_trace_step(struct abd_explain_trace *trace)
{
	struct abd_explain_step *step = abd_explain_trace_new(trace, sizeof(*step));

	*trace->steps_end = step;
	trace->steps_end = &step->next;
	return step;
}

void abd_explain_trace_note(
	struct abd_explain_trace *trace, struct abd_explain_step *step, const char *format, ...)
{
	struct abd_explain_note *note = abd_explain_trace_new(trace, sizeof(*note));
	struct abd_explain_note **end = &step->notes;
	va_list args;

	va_start(args, format);
	note->text = abd_explain_trace_vtext(trace, format, args);
	va_end(args);
	while (*end != NULL)
		end = &(*end)->next;
	*end = note;
}

void abd_explain_trace_mark(
	struct abd_explain_shot *shot, size_t off, size_t size, const char *what)
{
	if (shot->mark_count < ABD_EXPLAIN_MARKS)
		shot->marks[shot->mark_count++] = (struct abd_explain_mark){off, size, what};
}

const char *abd_explain_outcome_name(enum abd_explain_outcome outcome)
{
	static const char *const names[] = {"done", "refused", "broken"};

	return names[outcome];
}
