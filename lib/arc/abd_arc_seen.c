/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table's beginning, end and size.
 * OpenZFS: none; there a header in a ghost list remembers.
 */
#include "abd_arc_seen.h"
#include "abd_mem.h"

#include <string.h>

/* The least a record costs is about half of this: entry, index and the smallest slot. */
#define ABD_ARC_SEEN_PART 512

size_t abd_arc_seen_places(size_t capacity)
{
	return (size_t)1 << abd_log2(capacity / ABD_ARC_SEEN_PART);
}

void abd_arc_seen_init(struct abd_arc_seen *seen, size_t capacity)
{
	*seen = (struct abd_arc_seen){NULL, abd_arc_seen_places(capacity)};
	seen->tag = abd_mem_alloc(abd_arc_seen_bytes(seen), 64);
	if (seen->tag == NULL)
		seen->places = 0;
	else
		memset(seen->tag, 0, abd_arc_seen_bytes(seen));
}

void abd_arc_seen_fini(struct abd_arc_seen *seen)
{
	if (seen->tag != NULL)
		abd_mem_free(seen->tag, abd_arc_seen_bytes(seen), 64);
	*seen = (struct abd_arc_seen){NULL, 0};
}

void abd_arc_seen_resize(struct abd_arc_seen *seen, struct abd_arc_seen *other, size_t capacity)
{
	size_t places = abd_arc_seen_places(capacity);
	struct abd_arc_seen old = *seen;

	if (old.places == places || (old.places < places && other->places == 0))
		return;
	*seen = *other;
	*other = old;
}
