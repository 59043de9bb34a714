/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces are in a list, because scripts have few of them.
 */
#include "abd_explain_heap.h"

#include <stdlib.h>

static struct abd_explain_piece *abd_explain_pieces;
static unsigned abd_explain_piece_count;
static size_t abd_explain_heap_used;

static void *abd_explain_heap_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	struct abd_explain_piece *piece;

	(void)is_metadata;
	(void)arg;
	if (size > ABD_EXPLAIN_HEAP_MAX - abd_explain_heap_used)
		return NULL;
	piece = calloc(1, sizeof(*piece));
	if (piece == NULL ||
		posix_memalign((void **)&piece->memory,
			alignment > sizeof(void *) ? alignment : sizeof(void *), size) != 0) {
		free(piece);
		return NULL;
	}
	piece->size = size;
	piece->number = ++abd_explain_piece_count;
	piece->next = abd_explain_pieces;
	abd_explain_pieces = piece;
	abd_explain_heap_used += size;
	return piece->memory;
}

static void abd_explain_heap_drop(struct abd_explain_piece **at)
{
	struct abd_explain_piece *piece = *at;

	*at = piece->next;
	abd_explain_heap_used -= piece->size;
	free(piece->memory);
	free(piece);
}

static void abd_explain_heap_free(void *memory, size_t size, bool is_metadata, void *arg)
{
	(void)size;
	(void)is_metadata;
	(void)arg;
	for (struct abd_explain_piece **at = &abd_explain_pieces; *at != NULL; at = &(*at)->next) {
		if ((*at)->memory == memory) {
			abd_explain_heap_drop(at);
			return;
		}
	}
}

void abd_explain_heap_begin(void)
{
	static const struct abd_allocator allocator = {
		abd_explain_heap_alloc, abd_explain_heap_free, NULL};

	if (abd_allocator_set(&allocator) != 0)
		abort();
}

struct abd_explain_piece *abd_explain_heap_find(const void *memory)
{
	struct abd_explain_piece *piece = abd_explain_pieces;
	const char *at = memory;

	while (piece != NULL && !(at >= piece->memory && at < piece->memory + piece->size))
		piece = piece->next;
	return piece;
}

void abd_explain_heap_reset(void)
{
	while (abd_explain_pieces != NULL)
		abd_explain_heap_drop(&abd_explain_pieces);
	abd_explain_piece_count = 0;
}
