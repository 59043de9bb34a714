/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that make and free buffers.
 */
#include "abd_explain_run.h"
#include "abd_explain_heap.h"

#include <errno.h>

enum { ABD_EXPLAIN_CHILDREN = 1024, ABD_EXPLAIN_ZEROS = 1 << 30 };

/* Read a constructor's only word, its size, and record the call. */
static size_t abd_explain_make_size(struct abd_explain_run *run, const char *call)
{
	size_t size = abd_explain_run_size(run, "SIZE");

	abd_explain_run_end(run);
	if (abd_explain_memory_pool(&run->world) != 0)
		abd_explain_run_wrong(run, "the system refuses address space for the pool");
	abd_explain_run_call(run, "%s = %s(%zu, false)", run->name, call, size);
	errno = 0;
	return size;
}

static void abd_explain_make_born(struct abd_explain_run *run, abd_t *abd)
{
	struct abd_explain_buffer *buffer = abd_explain_run_born(run, abd);

	if (buffer != NULL)
		abd_explain_run_draw(run, buffer);
}

void abd_explain_make_alloc(struct abd_explain_run *run)
{
	abd_explain_make_born(run, abd_alloc(abd_explain_make_size(run, "abd_alloc"), false));
}

void abd_explain_make_linear(struct abd_explain_run *run)
{
	abd_explain_make_born(
		run, abd_alloc_linear(abd_explain_make_size(run, "abd_alloc_linear"), false));
}

void abd_explain_make_zeros(struct abd_explain_run *run)
{
	size_t size = abd_explain_run_size_max(run, "SIZE", ABD_EXPLAIN_ZEROS);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "%s = abd_get_zeros(%zu)", run->name, size);
	abd_explain_make_born(run, abd_get_zeros(size));
}

void abd_explain_make_wrap(struct abd_explain_run *run)
{
	size_t size = abd_explain_run_size(run, "SIZE");
	char *memory;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "buf = abd_buf_alloc(%zu, false)", size);
	errno = 0;
	memory = abd_buf_alloc(size, false);
	if (memory == NULL) {
		abd_explain_run_born(run, NULL);
		return;
	}
	for (size_t i = 0; i < size; i++)
		memory[i] = run->name[0];
	abd_explain_run_call(run, "%s = abd_get_from_buf(buf, %zu)", run->name, size);

	struct abd_explain_buffer *buffer =
		abd_explain_run_born(run, abd_get_from_buf(memory, size));

	if (buffer == NULL)
		return;
	buffer->is_wrapped = true;
	abd_explain_run_draw(run, buffer);
	abd_explain_trace_note(run->trace, run->step,
		"The memory stays the caller's: %s does not own it.", buffer->name);
}

/* ---- views ----------------------------------------------------------------------------------- */

void abd_explain_make_view(struct abd_explain_run *run)
{
	struct abd_explain_buffer *parent = abd_explain_run_buffer_or_newest(run);
	size_t off = abd_explain_run_size(run, "OFFSET"), size = 0;
	bool has_size = abd_explain_run_more(run);
	abd_t *abd;

	if (has_size)
		size = abd_explain_run_size(run, "SIZE");
	abd_explain_run_end(run);
	if (has_size) {
		abd_explain_run_call(run, "%s = abd_get_offset_size(%s, %zu, %zu)", run->name,
			parent->name, off, size);
		abd = abd_get_offset_size(parent->abd, off, size);
	} else {
		abd_explain_run_call(
			run, "%s = abd_get_offset(%s, %zu)", run->name, parent->name, off);
		abd = abd_get_offset(parent->abd, off);
	}

	struct abd_explain_buffer *view = abd_explain_run_born_view(run, parent, off, abd);

	if (view == NULL)
		return;
	abd_explain_run_draw(run, view);
	abd_explain_trace_note(run->trace, run->step,
		"Nothing is copied: %s shares the memory of %s, which has to outlive it.",
		view->name, parent->name);
}

/* ---- gangs ----------------------------------------------------------------------------------- */

static size_t abd_explain_make_leaves(const struct abd_explain_buffer *buffer)
{
	while (buffer->parent != NULL && abd_is_gang(buffer->abd))
		buffer = buffer->parent;
	return abd_is_gang(buffer->abd) ? buffer->child_count : 1;
}

static void abd_explain_make_add_one(struct abd_explain_run *run, struct abd_explain_buffer *gang,
	struct abd_explain_buffer *child, bool give)
{
	bool is_gang = abd_is_gang(child->abd);

	if (gang->child_count + abd_explain_make_leaves(child) > ABD_EXPLAIN_CHILDREN)
		abd_explain_run_wrong(run,
			"'%s' has too many children for this program: expected at most %d",
			gang->name, ABD_EXPLAIN_CHILDREN);
	if (abd_get_size(gang->abd) > ABD_EXPLAIN_ZEROS)
		abd_explain_run_wrong(run,
			"'%s' is too large for this program: expected at most %d bytes", gang->name,
			ABD_EXPLAIN_ZEROS);
	abd_explain_run_call(
		run, "abd_gang_add(%s, %s, %s)", gang->name, child->name, give ? "true" : "false");
	if (give && (child->view_count > 0 || (is_gang && child->borrow_count > 0))) {
		abd_explain_run_undefined(
			run, abd_explain_trace_text(run->trace,
				     "%s is handed over while it is in use", child->name));
		return;
	}
	if (abd_gang_add(gang->abd, child->abd, give) != 0) {
		abd_explain_run_born(run, NULL);
		return;
	}
	abd_explain_world_adopt(&run->world, gang, child, give);
	if (is_gang)
		abd_explain_trace_note(run->trace, run->step,
			"Gangs don't nest: the children of %s are added one by one%s.", child->name,
			give ? ", and it ends" : "");
	if (is_gang && give)
		abd_explain_world_ended(&run->world, child, run->line);
}

void abd_explain_make_gang(struct abd_explain_run *run)
{
	struct abd_explain_buffer *children[ABD_EXPLAIN_WORDS], *gang;
	size_t count = 0;

	while (abd_explain_run_more(run))
		children[count++] = abd_explain_run_buffer(run);
	abd_explain_run_call(run, "%s = abd_alloc_gang()", run->name);
	gang = abd_explain_run_born(run, abd_alloc_gang());
	for (size_t i = 0; gang != NULL && i < count; i++)
		abd_explain_make_add_one(run, gang, children[i], false);
	if (gang == NULL)
		return;
	abd_explain_run_draw(run, gang);
	abd_explain_trace_note(run->trace, run->step,
		count > 0
			? "Nothing is copied: %s refers to its children, which have to outlive it."
			: "%s is empty: a gang is the one buffer that may be.",
		gang->name);
}

static void abd_explain_make_member(struct abd_explain_run *run, bool give)
{
	struct abd_explain_buffer *gang = abd_explain_run_buffer(run);
	struct abd_explain_buffer *child = abd_explain_run_buffer(run);

	abd_explain_run_end(run);
	abd_explain_make_add_one(run, gang, child, give);
	abd_explain_run_draw(run, gang);
}

void abd_explain_make_add(struct abd_explain_run *run)
{
	abd_explain_make_member(run, false);
}

void abd_explain_make_give(struct abd_explain_run *run)
{
	abd_explain_make_member(run, true);
}

/* ---- the end, and who owns ------------------------------------------------------------------- */

void abd_explain_make_free(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);
	const char *why;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_free(%s)", buffer->name);
	why = abd_explain_world_why_not_free(&run->world, buffer);
	if (why != NULL) {
		abd_explain_run_undefined(run, why);
		return;
	}
	abd_free(buffer->abd);
	abd_explain_world_ended(&run->world, buffer, run->line);
}

void abd_explain_make_take(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_take_ownership_of_buf(%s, false)", buffer->name);
	if (!buffer->is_wrapped && abd_is_linear(buffer->abd)) {
		abd_explain_run_undefined(run,
			abd_explain_trace_text(run->trace,
				"only memory from abd_buf_alloc() can be taken, and what %s lies in is not its own",
				buffer->name));
		return;
	}
	abd_take_ownership_of_buf(buffer->abd, false);
	abd_explain_trace_note(run->trace, run->step,
		"%s owns its memory now, and ends it with abd_free().", buffer->name);
	abd_explain_run_draw(run, buffer);
}

void abd_explain_make_release(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_release_ownership_of_buf(%s)", buffer->name);
	abd_release_ownership_of_buf(buffer->abd);
	buffer->is_wrapped = true;
	abd_explain_trace_note(run->trace, run->step,
		"The memory is the caller's now, to be ended with abd_buf_free(); %s still shows it.",
		buffer->name);
	abd_explain_run_draw(run, buffer);
}
