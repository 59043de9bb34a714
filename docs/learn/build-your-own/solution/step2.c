/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 2: many pieces, and one loop that finds its way through them. */
#include "mini.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

void mini_end_runs(struct mini *buffer)
{
	for (size_t i = 0; i < buffer->count; i++)
		if (buffer->piece[i].addr != NULL)
			mem_run_put(
				buffer->piece[i].addr, (buffer->piece[i].len + PAGE - 1) / PAGE);
}

struct mini *mini_alloc_pages(size_t size)
{
	struct mini *buffer = mini_new((size + PAGE - 1) / PAGE);

	if (buffer == NULL)
		return NULL;
	buffer->end = mini_end_runs;
	buffer->size = size;
	for (size_t i = 0; i < buffer->count; i++) {
		buffer->piece[i].len = smaller(size - i * PAGE, PAGE);
		buffer->piece[i].addr = mem_run(1);
		if (buffer->piece[i].addr == NULL) {
			mini_free(buffer);
			return NULL;
		}
	}
	return buffer;
}

int mini_each(struct mini *buffer, size_t off, size_t size, mini_func *func, void *arg)
{
	int result = 0;
	size_t i = 0;

	if (size == 0)
		return 0;
	while (off >= buffer->piece[i].len)
		off -= buffer->piece[i++].len;
	for (; size > 0 && result == 0; i++) {
		size_t len = smaller(buffer->piece[i].len - off, size);

		result = func(buffer->piece[i].addr + off, len, arg);
		size -= len;
		off = 0; /* the next piece is read from its first byte */
	}
	return result;
}

static int copy_out(char *addr, size_t len, void *arg)
{
	char **to = arg;

	memcpy(*to, addr, len);
	*to += len;
	return 0;
}

void mini_copy_out(void *to, struct mini *from, size_t off, size_t size)
{
	char *at = to;

	mini_each(from, off, size, copy_out, &at);
}

static int copy_in(char *addr, size_t len, void *arg)
{
	const char **from = arg;

	memcpy(addr, *from, len);
	*from += len;
	return 0;
}

void mini_copy_in(struct mini *to, const void *from, size_t off, size_t size)
{
	const char *at = from;

	mini_each(to, off, size, copy_in, &at);
}
