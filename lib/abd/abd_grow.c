/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs that grow by bytes: at the end into the room behind the last member, in front into the room
 * before the first. Without room a member is made that has some.
 *
 *   members       [      room | 40 bytes ][ any child ][ 4000 bytes | room ]
 *                        <-- abd_prepend()            abd_append() -->
 *
 * A new member has room for a quarter of what the gang holds already. So there are few members, and
 * each byte is moved once, however small the pieces are; room that was never used is not resident.
 * Positions in the table go down in front, so that no entry is renumbered.
 * OpenZFS: none; folly's IOBufQueue, Ceph's bufferlist and absl's Cord do this.
 */
#include "abd_check.h"
#include "abd_gang.h"

#include <string.h>

/* The first member's room costs no more than a page. */
#define ABD_GROW_MIN ((size_t)4096)
/* Where positions begin once bytes are put in front: half of all that there are. */
#define ABD_GROW_BASE (SIZE_MAX / 2 + 1)

static inline size_t abd_grow_room_behind(const struct abd_gang_entry *entry)
{
	return entry->grows ? entry->child->abd_size - entry->child_off - entry->size : 0;
}

static inline size_t abd_grow_room_before(const struct abd_gang_entry *entry)
{
	return entry->grows ? entry->child_off : 0;
}

/* The last entry of a gang that bytes may be appended to; NULL: there is none, or it may not be. */
static inline struct abd_gang_entry *abd_grow_last(const abd_t *abd)
{
	if (ABD_CHECKED || abd == NULL || !abd_is_gang(abd) || ABD_GANG(abd).abd_root != NULL)
		return NULL;

	struct abd_gang *gang = ABD_GANG(abd).abd_table;

	return gang != NULL && gang->count > 0 ? &gang->entries[gang->count - 1] : NULL;
}

static void abd_grow_check(const char *call, const abd_t *abd, const void *buf, size_t size)
{
	abd_check(call, abd);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	ABD_REQUIRE_IN(call, abd_is_gang(abd), "the buffer of %zu bytes is no gang", abd->abd_size);
	ABD_REQUIRE_IN(call, ABD_GANG(abd).abd_root == NULL,
		"the gang of %zu bytes is a view; it can't grow", abd->abd_size);
	ABD_REQUIRE_IN(call, abd->abd_size <= SIZE_MAX / 2 && size <= SIZE_MAX / 2 - abd->abd_size,
		"a gang of %zu bytes can't grow by %zu", abd->abd_size, size);
}

/* A member for size bytes, and room in the gang's table for it. NULL: no memory. */
static abd_t *abd_grow_member(abd_t *abd, size_t size)
{
	size_t least = abd->abd_size / 4 > ABD_GROW_MIN ? abd->abd_size / 4 : ABD_GROW_MIN;
	abd_t *member = NULL;

	if (!abd_gang_reserve(abd, 1))
		return NULL;
	if (size < least)
		member = abd_alloc_linear(least, false);
	if (member == NULL)
		member = abd_alloc_linear(size, false);
	if (member != NULL)
		member->abd_flags |= ABD_FLAG_GANG_FREE;
	return member;
}

static ABD_NOINLINE int abd_append_slow(const char *call, abd_t *abd, const char *buf, size_t size)
{
	struct abd_gang *gang;
	size_t part = 0;

	abd_grow_check(call, abd, buf, size);
	gang = ABD_GANG(abd).abd_table;
	if (gang != NULL && gang->count > 0)
		part = abd_min(size, abd_grow_room_behind(&gang->entries[gang->count - 1]));

	abd_t *member = NULL;

	if (part < size) {
		member = abd_grow_member(abd, size - part);
		if (member == NULL)
			return -ENOMEM;
		gang = ABD_GANG(abd).abd_table; /* it may have moved */
	}
	if (part > 0) {
		struct abd_gang_entry *last = &gang->entries[gang->count - 1];

		memcpy((char *)ABD_BUF(last->child) + last->child_off + last->size, buf, part);
		last->size += part;
		abd->abd_size += part;
	}
	if (member != NULL) {
		memcpy(ABD_BUF(member), buf + part, size - part);
		abd_gang_append(abd, member, 0, size - part, true);
		gang->entries[gang->count - 1].grows = true;
	}
	return 0;
}

int abd_append(abd_t *abd, const void *buf, size_t size)
{
	struct abd_gang_entry *last = abd_grow_last(abd);

	if (ABD_UNLIKELY(last == NULL || buf == NULL || size > abd_grow_room_behind(last)))
		return abd_append_slow(__func__, abd, buf, size);
	memcpy((char *)ABD_BUF(last->child) + last->child_off + last->size, buf, size);
	last->size += size;
	abd->abd_size += size;
	return 0;
}

/* Copy the part bytes that end at end to the place in front of the first entry's bytes. */
static void abd_grow_front(abd_t *abd, const char *end, size_t part)
{
	struct abd_gang_entry *first = &ABD_GANG(abd).abd_table->entries[0];

	first->child_off -= part;
	memcpy((char *)ABD_BUF(first->child) + first->child_off, end - part, part);
	first->start -= part;
	first->size += part;
	ABD_GANG(abd).abd_offset -= part;
	abd->abd_size += part;
}

/* Make positions below the first one. The gang has a table. */
static void abd_grow_rebase(abd_t *abd)
{
	struct abd_gang *gang = ABD_GANG(abd).abd_table;
	size_t up = ABD_GROW_BASE - ABD_GANG(abd).abd_offset;

	for (size_t i = 0; i < gang->count; i++)
		gang->entries[i].start += up;
	ABD_GANG(abd).abd_offset += up;
}

int abd_prepend(abd_t *abd, const void *buf, size_t size)
{
	abd_grow_check(__func__, abd, buf, size);

	const char *end = (const char *)buf + size;
	struct abd_gang *gang;
	size_t part = 0;

	ABD_REQUIRE(!ABD_CHECKED || __atomic_load_n(&abd->abd_children, __ATOMIC_RELAXED) == 0,
		"bytes are put in front of a gang of %zu bytes that has views", abd->abd_size);
	gang = ABD_GANG(abd).abd_table;
	if (gang != NULL && gang->count > 0)
		part = abd_min(size, abd_grow_room_before(&gang->entries[0]));

	abd_t *member = NULL;
	size_t rest = size - part;

	if (rest > 0) {
		member = abd_grow_member(abd, rest);
		if (member == NULL)
			return -ENOMEM;
		gang = ABD_GANG(abd).abd_table; /* it may have moved */
	}
	if (ABD_GANG(abd).abd_offset < size)
		abd_grow_rebase(abd);
	if (part > 0)
		abd_grow_front(abd, end, part);
	if (rest > 0) {
		/* An entry without bytes at the member's end, which then grows in front. */
		memmove(gang->entries + 1, gang->entries, gang->count * sizeof(gang->entries[0]));
		gang->entries[0] = (struct abd_gang_entry){
			member, member->abd_size, ABD_GANG(abd).abd_offset, 0, true, true};
		gang->count++;
		__atomic_fetch_add(&member->abd_gang_refs, 1, __ATOMIC_RELAXED);
		abd_grow_front(abd, end - part, rest);
	}
	return 0;
}
