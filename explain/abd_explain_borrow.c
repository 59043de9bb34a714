/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that borrow a buffer as one piece of memory, and return it.
 */
#include "abd_explain_range.h"

#include <errno.h>
#include <string.h>

/* The buffer to borrow from: buffer itself, or a view of it if the borrow begins at an offset. */
static struct abd_explain_buffer *abd_explain_borrow_from(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, size_t off, size_t size)
{
	if (off == 0)
		return buffer;
	abd_explain_run_call(
		run, "%s = abd_get_offset_size(%s, %zu, %zu)", run->name, buffer->name, off, size);

	struct abd_explain_buffer *view = abd_explain_run_born_view(
		run, buffer, off, abd_get_offset_size(buffer->abd, off, size));

	if (view != NULL)
		abd_explain_trace_note(run->trace, run->step,
			"A borrow begins at 0; to begin at %zu, it is made from a view.", off);
	return view;
}

static void abd_explain_borrow_made(
	struct abd_explain_run *run, struct abd_explain_buffer *buffer, void *memory, size_t size)
{
	struct abd_explain_borrow *borrow = abd_explain_trace_new(run->trace, sizeof(*borrow));

	*borrow = (struct abd_explain_borrow){
		buffer, memory, size, !abd_is_linear(buffer->abd), run->world.borrows};
	run->world.borrows = borrow;
	buffer->borrow_count++;
	abd_explain_trace_mark(abd_explain_run_draw(run, buffer), 0, size,
		borrow->is_copy ? "copied" : "borrowed");
	if (!borrow->is_copy) {
		abd_explain_trace_note(run->trace, run->step,
			"%s is linear: it lends its own memory. Nothing is copied.", buffer->name);
		return;
	}
	abd_explain_run_show(run, abd_explain_memory_shot_piece(&run->world, memory, size));
	abd_explain_trace_note(run->trace, run->step,
		"%s is not linear: %zu bytes were allocated, and as many copied, out of %s.",
		buffer->name, size, abd_explain_range_spans_of(run, buffer, 0, size));
}

void abd_explain_borrow_content(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);
	size_t first = abd_explain_run_size(run, "SIZE"), off = 0, size = first;
	void *memory;

	if (abd_explain_run_more(run)) {
		off = first;
		size = abd_explain_run_size(run, "SIZE");
	}
	abd_explain_run_end(run);
	buffer = abd_explain_borrow_from(run, buffer, off, size);
	if (buffer == NULL)
		return;
	abd_explain_run_call(run, "buf = abd_borrow_buf_copy(%s, %zu)", buffer->name, size);
	errno = 0;
	memory = abd_borrow_buf_copy(buffer->abd, size);
	if (memory == NULL) {
		abd_explain_run_born(run, NULL);
		return;
	}
	abd_explain_borrow_made(run, buffer, memory, size);
}

static struct abd_explain_borrow *abd_explain_borrow_last(struct abd_explain_run *run)
{
	if (run->world.borrows == NULL)
		abd_explain_run_wrong(
			run, "nothing is borrowed: expected a borrow before '%s'", run->words[0]);
	return run->world.borrows;
}

/*
 * Memory given to abd_return_buf() must be unchanged. The library checks that only in builds with
 * deep checks; here it is checked in every build.
 */
static bool abd_explain_borrow_is_unchanged(const struct abd_explain_borrow *borrow)
{
	return abd_cmp_buf_off(borrow->buffer->abd, borrow->memory, 0, borrow->size) == 0;
}

static void abd_explain_borrow_return_as(struct abd_explain_run *run, bool write)
{
	struct abd_explain_borrow *borrow = abd_explain_borrow_last(run);
	struct abd_explain_buffer *buffer = borrow->buffer;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_return_buf%s(%s, buf, %zu)", write ? "_copy" : "",
		buffer->name, borrow->size);
	if (!write && !abd_explain_borrow_is_unchanged(borrow)) {
		abd_explain_run_undefined(run,
			"the borrowed bytes were changed, and abd_return_buf() would lose the change: abd_return_buf_copy() writes it back");
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
		: write          ? "The copy was written back, and freed."
				 : "The copy was freed; nothing was written back.");
}

void abd_explain_borrow_return(struct abd_explain_run *run)
{
	abd_explain_borrow_return_as(run, false);
}

void abd_explain_borrow_return_copy(struct abd_explain_run *run)
{
	abd_explain_borrow_return_as(run, true);
}

void abd_explain_borrow_poke(struct abd_explain_run *run)
{
	struct abd_explain_borrow *borrow = abd_explain_borrow_last(run);
	const char *text = abd_explain_run_rest(run);

	abd_explain_run_call(run, "memset(buf, ..., %zu)", borrow->size);
	for (const struct abd_explain_buffer *at = borrow->buffer; at != NULL; at = at->parent) {
		if (abd_is_zeros(at->abd) && !borrow->is_copy) {
			abd_explain_run_undefined(run, "zeros can't be written");
			return;
		}
	}
	abd_explain_range_fill(borrow->memory, borrow->size, text != NULL ? text : "!");
	abd_explain_trace_note(run->trace, run->step,
		borrow->is_copy ? "The copy is changed; %s is not, until abd_return_buf_copy()."
				: "This is the memory of %s: it is changed at once.",
		borrow->buffer->name);
}
