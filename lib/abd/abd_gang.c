/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs: other buffers, one after another.
 * Adding reserves first and changes afterwards, so that a refusal leaves both sides as they were.
 * OpenZFS: abd_alloc_gang(), abd_gang_add(), abd_gang_add_gang(), abd_free_gang() in
 * module/zfs/abd.c.
 */
#include "abd_gang.h"
#include "abd_checked.h"

#include <string.h>

abd_t *abd_alloc_gang_struct(abd_t *abd)
{
	ABD_REQUIRE(abd != NULL, "struct is NULL");
	abd_struct_init(abd, ABD_FLAG_GANG | ABD_FLAG_OWNER, 0);
	return abd;
}

abd_t *abd_alloc_gang(void)
{
	abd_t *abd = abd_struct_alloc(sizeof(*abd));

	if (abd != NULL)
		abd->abd_flags |= ABD_FLAG_GANG | ABD_FLAG_OWNER;
	return abd;
}

static size_t abd_gang_table_size(size_t capacity)
{
	return sizeof(struct abd_gang) + capacity * sizeof(struct abd_gang_entry);
}

static void abd_gang_table_free(struct abd_gang *gang)
{
	size_t size;

	if (gang == NULL)
		return;
	size = abd_gang_table_size(gang->capacity);
	abd_counter_add(ABD_COUNTER(struct_size), -(uint64_t)size);
	abd_mem_cache_free(gang, size);
}

/* Room for more entries; doubling keeps the cost of an append constant on average. */
static bool abd_gang_reserve(abd_t *abd, size_t more)
{
	struct abd_gang *old = ABD_GANG(abd).abd_table;
	size_t count = old != NULL ? old->count : 0;
	size_t capacity = old != NULL ? old->capacity : 0;

	if (more <= capacity - count)
		return true;
	/* 6 entries and the counts fill a size class of 256 bytes. */
	capacity = capacity > 0 ? 2 * capacity : 6;
	if (capacity < count + more)
		capacity = count + more;

	size_t size = abd_gang_table_size(capacity);
	struct abd_gang *gang = abd_mem_cache_alloc(size);

	if (gang == NULL)
		return false;
	abd_counter_add(ABD_COUNTER(struct_size), size);
	gang->count = count;
	gang->capacity = capacity;
	if (old != NULL)
		memcpy(gang->entries, old->entries, count * sizeof(gang->entries[0]));
	abd_gang_table_free(old);
	ABD_GANG(abd).abd_table = gang;
	return true;
}

static void abd_gang_append(abd_t *abd, abd_t *child, size_t child_off, size_t size, bool owned)
{
	struct abd_gang *gang = ABD_GANG(abd).abd_table;

	__atomic_fetch_add(&child->abd_gang_refs, 1, __ATOMIC_RELAXED);
	gang->entries[gang->count++] =
		(struct abd_gang_entry){child, child_off, abd->abd_size, size, owned};
	abd->abd_size += size;
}

/* The entries of cabd that hold its bytes: all of a gang's, those in range of a view of one. */
static size_t abd_gang_span(const abd_t *cabd, const struct abd_gang_entry **first)
{
	const struct abd_gang *gang = abd_gang_table(cabd);

	*first = NULL;
	if (cabd->abd_size == 0)
		return 0;
	*first = abd_gang_seek(gang, ABD_GANG(cabd).abd_offset);
	return (size_t)(abd_gang_seek(gang, ABD_GANG(cabd).abd_offset + cabd->abd_size - 1) -
			*first) +
	       1;
}

/* Append a gang's children one by one; they go over if it is to be freed and owns them. */
static int abd_gang_add_gang(abd_t *pabd, abd_t *cabd, bool free_on_free)
{
	const struct abd_gang_entry *entry;
	size_t count = abd_gang_span(cabd, &entry);
	size_t at = ABD_GANG(cabd).abd_offset, end = at + cabd->abd_size;
	bool hand_over = free_on_free && ABD_GANG(cabd).abd_root == NULL;

	if (!abd_gang_reserve(pabd, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++, entry++) {
		size_t skip = at - entry->start;
		size_t size = abd_min(entry->size - skip, end - at);

		abd_gang_append(pabd, entry->child, entry->child_off + skip, size,
			hand_over && entry->owned);
		at += size;
	}
	if (!free_on_free)
		return 0;

	struct abd_gang *gang = hand_over ? ABD_GANG(cabd).abd_table : NULL;

	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		gang->entries[i].owned = false;
	abd_free(cabd);
	return 0;
}

int abd_gang_add(abd_t *pabd, abd_t *cabd, bool free_on_free)
{
	abd_check(__func__, pabd);
	abd_check(__func__, cabd);
	ABD_REQUIRE(abd_is_gang(pabd), "the buffer of %zu bytes is no gang", pabd->abd_size);
	ABD_REQUIRE(ABD_GANG(pabd).abd_root == NULL,
		"the gang of %zu bytes is a view; nothing can be added to it", pabd->abd_size);
	ABD_REQUIRE(pabd != cabd, "a gang of %zu bytes is added to itself", pabd->abd_size);
	ABD_REQUIRE(cabd->abd_size <= SIZE_MAX - pabd->abd_size,
		"a gang of %zu bytes can't grow by %zu", pabd->abd_size, cabd->abd_size);
	if (abd_is_gang(cabd)) {
		ABD_REQUIRE(ABD_GANG(cabd).abd_root != pabd,
			"a gang of %zu bytes is added to itself by a view", pabd->abd_size);
		return abd_gang_add_gang(pabd, cabd, free_on_free);
	}
	ABD_REQUIRE(cabd->abd_size > 0, "the child is empty, or was freed");
	ABD_REQUIRE(!free_on_free || __atomic_load_n(&cabd->abd_gang_refs, __ATOMIC_RELAXED) == 0,
		"a child of %zu bytes that is to be freed is in a gang already", cabd->abd_size);
	if (!abd_gang_reserve(pabd, 1))
		return -ENOMEM;
	if (free_on_free)
		cabd->abd_flags |= ABD_FLAG_GANG_FREE;
	abd_gang_append(pabd, cabd, 0, cabd->abd_size, free_on_free);
	return 0;
}

void abd_gang_free(abd_t *abd)
{
	struct abd_gang *gang = ABD_GANG(abd).abd_table;

	/* References first: a gang may refer more than once to a child that it owns. */
	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		__atomic_fetch_sub(&gang->entries[i].child->abd_gang_refs, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		if (gang->entries[i].owned)
			abd_free(gang->entries[i].child);
	abd_gang_table_free(gang);
	abd_struct_free(abd, sizeof(*abd));
}
