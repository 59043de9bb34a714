/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 4: another shape over the same bytes. Only addresses are copied. */
#include "mini.h"

static int count_piece(char *addr, size_t len, void *arg)
{
	(void)addr, (void)len;
	++*(size_t *)arg;
	return 0;
}

static int add_piece(char *addr, size_t len, void *arg)
{
	struct piece **next = arg;

	*(*next)++ = (struct piece){.addr = addr, .len = len};
	return 0;
}

struct mini *mini_view(struct mini *buffer, size_t off, size_t size)
{
	size_t count = 0;

	mini_each(buffer, off, size, count_piece, &count);
	struct mini *view = mini_new(count);
	if (view == NULL)
		return NULL;
	struct piece *next = view->piece;
	mini_each(buffer, off, size, add_piece, &next);
	view->size = size;
	return view;
}

/* What a gang owns: count buffers. */
struct parts {
	size_t count;
	struct mini *part[];
};

static size_t parts_size(size_t count)
{
	return sizeof(struct parts) + count * sizeof(struct mini *);
}

static void end_parts(struct mini *gang)
{
	struct parts *parts = gang->more;

	for (size_t i = 0; i < parts->count; i++)
		mini_free(parts->part[i]);
	mem_put(parts, parts_size(parts->count));
}

struct mini *mini_gang(struct mini *const *part, size_t count, bool own)
{
	size_t pieces = 0;

	for (size_t i = 0; i < count; i++)
		pieces += part[i]->count;
	struct mini *gang = mini_new(pieces);
	if (gang == NULL)
		return NULL;
	struct piece *next = gang->piece;
	for (size_t i = 0; i < count; i++) {
		mini_each(part[i], 0, part[i]->size, add_piece, &next);
		gang->size += part[i]->size;
	}
	if (!own)
		return gang;

	struct parts *parts = mem_get(parts_size(count));
	if (parts == NULL) {
		mini_free(gang);
		return NULL;
	}
	parts->count = count;
	for (size_t i = 0; i < count; i++)
		parts->part[i] = part[i];
	gang->more = parts;
	gang->end = end_parts;
	return gang;
}
