/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making, growing and freeing the gang's table. abd_gang_add.c adds to a gang.
 * OpenZFS: abd_alloc_gang(), abd_free_gang() in module/zfs/abd.c.
 */
#include "abd_gang.h"

#include <string.h>

abd_t *abd_alloc_gang_struct(abd_t *abd)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	abd_struct_init(abd, ABD_FLAG_GANG | ABD_FLAG_OWNER, 0);
	return abd;
}

abd_t *abd_alloc_gang(void)
{
	abd_t *abd = abd_struct_alloc();

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

/* Doubling keeps the cost of an append constant on average. */
bool abd_gang_reserve(abd_t *abd, size_t more)
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

void abd_gang_append(abd_t *abd, abd_t *child, size_t child_off, size_t size, bool owned)
{
	struct abd_gang *gang = ABD_GANG(abd).abd_table;

	__atomic_fetch_add(&child->abd_gang_refs, 1, __ATOMIC_RELAXED);
	gang->entries[gang->count++] = (struct abd_gang_entry){
		child, child_off, ABD_GANG(abd).abd_offset + abd->abd_size, size, owned, false};
	abd->abd_size += size;
}

void abd_gang_free(abd_t *abd, void (*free_child)(abd_t *child))
{
	struct abd_gang *gang = ABD_GANG(abd).abd_table;

	/* Drop all references first: a gang may refer more than once to a child that it owns. */
	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		__atomic_fetch_sub(&gang->entries[i].child->abd_gang_refs, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		if (gang->entries[i].owned)
			free_child(gang->entries[i].child);
	abd_gang_table_free(gang);
	abd_struct_free(abd);
}
