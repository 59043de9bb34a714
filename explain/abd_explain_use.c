/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that use one buffer.
 */
#include "abd_explain_range.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The caller's memory for a range. One byte if the range reaches past the end: the library refuses
 * it first.
 */
static char *abd_explain_use_scratch(
	struct abd_explain_run *run, const struct abd_explain_range *range)
{
	return abd_explain_run_scratch(run, abd_explain_range_is_inside(range) ? range->size : 1);
}

void abd_explain_use_write(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_range_next(run);
	const char *text = abd_explain_run_rest(run);
	char *from = abd_explain_use_scratch(run, &range);

	if (abd_explain_range_is_inside(&range))
		abd_explain_range_fill(from, range.size, text != NULL ? text : "abcdefgh");
	abd_explain_run_call(run, "abd_copy_from_buf_off(%s, buf, %zu, %zu)", range.buffer->name,
		range.off, range.size);
	abd_copy_from_buf_off(range.buffer->abd, from, range.off, range.size);
	abd_explain_range_touched(run, &range, "written");
}

void abd_explain_use_read(struct abd_explain_run *run)
{
	enum { SHOWN = 48 };
	struct abd_explain_range range = abd_explain_range_next(run);
	char *to = abd_explain_use_scratch(run, &range), shown[SHOWN + 1];
	size_t length = range.size < SHOWN ? range.size : SHOWN;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_copy_to_buf_off(buf, %s, %zu, %zu)", range.buffer->name,
		range.off, range.size);
	abd_copy_to_buf_off(to, range.buffer->abd, range.off, range.size);
	abd_explain_range_touched(run, &range, "read");
	for (size_t i = 0; i < length; i++)
		shown[i] = to[i] > ' ' && to[i] <= '~' ? to[i] : '.';
	shown[length] = '\0';
	abd_explain_trace_note(
		run->trace, run->step, "They are %s%s", shown, length < range.size ? "..." : "");
}

void abd_explain_use_iterate(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_range_or_all(run);

	abd_explain_run_call(run, "abd_iterate_func(%s, %zu, %zu, func, NULL)", range.buffer->name,
		range.off, range.size);

	struct abd_explain_spans spans = abd_explain_range_spans(run, &range);
	abd_explain_range_calls(run, &range, &spans);
	abd_explain_range_list(run, &range, &spans, "call");
}

void abd_explain_use_load(struct abd_explain_run *run)
{
	struct abd_explain_buffer *buffer = abd_explain_world_newest(&run->world);
	const char *file, *folder = run->path != NULL ? strrchr(run->path, '/') : NULL;
	struct abd_explain_range range;
	char path[512];
	ssize_t got = -1;
	int fd;

	if (run->word_count > 2)
		buffer = abd_explain_run_buffer(run);
	file = abd_explain_run_word(run, "FILE");
	abd_explain_run_end(run);
	if (buffer == NULL)
		abd_explain_run_wrong(run, "'load' needs a buffer: expected an alloc first");
	range = (struct abd_explain_range){buffer, 0, abd_get_size(buffer->abd)};
	snprintf(path, sizeof(path), "%.*s%s",
		folder != NULL && file[0] != '/' ? (int)(folder + 1 - run->path) : 0,
		folder != NULL ? run->path : "", file);
	abd_explain_run_call(run, "abd_pread(fd, %s, 0, %zu, 0)", buffer->name, range.size);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		got = abd_pread(fd, buffer->abd, 0, range.size, 0);
		close(fd);
	}
	if (got <= 0)
		abd_explain_run_wrong(run, "'%.200s' can't be read: expected a file", file);
	range.size = (size_t)got;
	abd_explain_range_touched(run, &range, "read from the file");
}
