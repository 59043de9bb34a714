/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table's beginning, end and size.
 * OpenZFS: none; there a header in a ghost list remembers.
 */
#include "abd_arc_admission.h"
#include "abd_mem.h"

#include <string.h>

/* The least a record costs is about half of this: entry, index and the smallest slot. */
#define ABD_ARC_ADMISSION_PART 512

size_t abd_arc_admission_places(size_t capacity)
{
	return (size_t)1 << abd_log2(capacity / ABD_ARC_ADMISSION_PART);
}

void abd_arc_admission_init(struct abd_arc_admission *filter, size_t capacity)
{
	*filter = (struct abd_arc_admission){NULL, abd_arc_admission_places(capacity)};
	filter->tag = abd_mem_alloc(abd_arc_admission_bytes(filter), 64);
	if (filter->tag == NULL)
		filter->places = 0;
	else
		memset(filter->tag, 0, abd_arc_admission_bytes(filter));
}

void abd_arc_admission_fini(struct abd_arc_admission *filter)
{
	if (filter->tag != NULL)
		abd_mem_free(filter->tag, abd_arc_admission_bytes(filter), 64);
	*filter = (struct abd_arc_admission){NULL, 0};
}

void abd_arc_admission_resize(
	struct abd_arc_admission *filter, struct abd_arc_admission *other, size_t capacity)
{
	size_t places = abd_arc_admission_places(capacity);
	struct abd_arc_admission old = *filter;

	if (old.places == places || (old.places < places && other->places == 0))
		return;
	*filter = *other;
	*other = old;
}
