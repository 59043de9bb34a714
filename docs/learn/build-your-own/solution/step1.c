/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 1: a buffer is a struct, and knows whether its memory ends with it. */
#include "mini.h"

#include <string.h>

static size_t struct_size(size_t count)
{
	return sizeof(struct mini) + count * sizeof(struct piece);
}

struct mini *mini_new(size_t count)
{
	struct mini *buffer = mem_get(struct_size(count));

	if (buffer == NULL)
		return NULL;
	memset(buffer, 0, struct_size(count));
	buffer->count = count;
	return buffer;
}

static void end_heap(struct mini *buffer)
{
	mem_put(buffer->piece[0].addr, buffer->piece[0].len);
}

struct mini *mini_wrap(void *mem, size_t size)
{
	struct mini *buffer = mini_new(1);

	if (buffer == NULL)
		return NULL;
	buffer->size = size;
	buffer->piece[0] = (struct piece){.addr = mem, .len = size};
	return buffer;
}

struct mini *mini_alloc_linear(size_t size)
{
	void *mem = mem_get(size);

	if (mem == NULL)
		return NULL;
	struct mini *buffer = mini_wrap(mem, size);
	if (buffer == NULL)
		mem_put(mem, size);
	else
		mini_take(buffer);
	return buffer;
}

void mini_take(struct mini *buffer)
{
	buffer->end = end_heap;
}

void *mini_give(struct mini *buffer)
{
	buffer->end = NULL;
	return buffer->piece[0].addr;
}

void mini_free(struct mini *buffer)
{
	if (buffer->end != NULL)
		buffer->end(buffer);
	mem_put(buffer, struct_size(buffer->count));
}
