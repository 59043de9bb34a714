/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gang's table: which bytes of which children, and where each starts.
 * Invariants: children are linear or scatter, never gangs; each entry starts where the one before
 * ends. The first starts at the root's abd_offset, which is 0 until bytes are put in front.
 *
 * OpenZFS links children into a list, so a child can be in one gang only (a second one gets a view
 * of it) and seeking walks. Here an entry refers to its child. The child needs only a count,
 * seeking is a binary search, and a view of a gang shares the table of its root instead of making a
 * view of every child.
 */
#ifndef ABD_GANG_H
#define ABD_GANG_H

#include "abd_impl.h"

struct abd_gang_entry {
	abd_t *child;
	size_t child_off; /* of the first byte taken from the child */
	size_t start;     /* of that byte, in the table's positions */
	size_t size;
	bool owned; /* the child is freed with this gang */
	bool grows; /* made by abd_grow.c: the child has room before and behind these bytes */
};

struct abd_gang {
	size_t count;
	size_t capacity;
	struct abd_gang_entry entries[];
};

static inline const struct abd_gang *abd_gang_table(const abd_t *abd)
{
	const abd_t *root = ABD_GANG(abd).abd_root;

	return root != NULL ? ABD_GANG(root).abd_table : ABD_GANG(abd).abd_table;
}

/** The entry that holds position at. Contract: at lies within the table. */
static inline const struct abd_gang_entry *abd_gang_seek(const struct abd_gang *gang, size_t at)
{
	const struct abd_gang_entry *entry = gang->entries;
	size_t count = gang->count;

	/* The last entry that starts at or before at; without a branch to mispredict. */
	while (count > 1) {
		size_t half = count / 2;

		entry += entry[half].start <= at ? half : 0;
		count -= half;
	}
	return entry;
}

/** Make room for more entries of a gang that is no view. False: no memory, nothing has changed. */
bool abd_gang_reserve(abd_t *abd, size_t more);
/** Append size bytes of child from child_off. Contract: room is reserved. */
void abd_gang_append(abd_t *abd, abd_t *child, size_t child_off, size_t size, bool owned);

/** How many entries hold cabd's bytes [off, off + size), and the first of them. */
size_t abd_gang_span(
	const abd_t *cabd, size_t off, size_t size, const struct abd_gang_entry **first);
/**
 * Append the children that hold cabd's bytes [off, off + size), cut to these, one by one.
 * hand_over: pabd owns those that cabd owned. False: no memory; nothing has changed.
 */
bool abd_gang_append_range(abd_t *pabd, const abd_t *cabd, size_t off, size_t size, bool hand_over);

#endif
