/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that add children to gangs: children that the gang owns or does not, spliced gangs,
 * and views that stand for the children of other gangs.
 * Invariant: no two gangs must outlive each other; a child that its gang will free is used by
 * nobody else.
 */
#include "model.h"

static void entry_add(struct object *gang, struct object *child, size_t size, bool owned)
{
	cr_assert(gang->entry_count < 2 * ENTRIES);
	gang->entries[gang->entry_count++] =
		(struct entry){.child = child, .size = size, .owned = owned};
	if (child != NULL)
		child->users++;
}

/* The gang's children go over to another. */
static void entries_hand_over(struct object *gang, struct object *from)
{
	for (size_t i = 0; i < from->entry_count; i++) {
		struct entry *entry = &from->entries[i];

		if (entry->owned && entry->child != NULL)
			entry->child->owner = gang;
		gang->entries[gang->entry_count++] = *entry;
	}
	gang->gauge.struct_size += from->gauge.struct_size - (from->own_struct ? 0 : sizeof(abd_t));
	model.expected.struct_size +=
		from->gauge.struct_size - (from->own_struct ? 0 : sizeof(abd_t));
}

void model_view_ended(struct object *view)
{
	view->parent->users--;
}

/*
 * The child gang is no more; model.expected is as after an abd_free() of it, but that its children
 * live on.
 */
static void gang_swallow(struct object *gang, struct object *child)
{
	if (child->kind == GANG) {
		entries_hand_over(gang, child);
		model.expected.struct_size -= child->table_size;
	} else {
		entry_add(gang, child->parent, 0, false);
		model_view_ended(child);
	}
	model_object_forget(child);
}

/*
 * Whether o must not outlive on: gangs that outlive each other could never end. A child that is
 * freed with its gang lives on that.
 */
static bool lives_on(const struct object *o, const struct object *on)
{
	bool lives = o == on || (o->parent != NULL && lives_on(o->parent, on)) ||
		     (o->owner != NULL && lives_on(o->owner, on));

	for (size_t i = 0; i < o->entry_count && !lives; i++) {
		const struct object *child = o->entries[i].child;

		if (child != NULL && child->owner != o)
			lives = lives_on(child, on);
		else if (child != NULL && child->parent != NULL)
			lives = lives_on(child->parent, on);
	}
	return lives;
}

void model_op_gang_add(void)
{
	struct object *gang = model_any(), *child = model_any();
	bool free_it = model_one_in(2), is_gang;

	if (gang == NULL || gang->kind != GANG || child->owner != NULL || lives_on(child, gang))
		return;
	is_gang = abd_is_gang(child->abd);
	if (gang->slice_count + child->slice_count > ENTRIES ||
		gang->entry_count + child->entry_count + child->slice_count + 1 > 2 * ENTRIES ||
		gang->size + child->size > ROOM)
		return;
	/*
	 * To be freed: nobody else may need it, nor what it frees; the gang itself may, by a view
	 * that it frees.
	 */
	if (child->users > 0 || child->borrow_count > 0 || lives_on(gang, child))
		free_it = false;

	size_t child_size = child->size;
	int error;

	trace("abd_gang_add(o%u, o%u, %d)", gang->id, child->id, free_it);
	error = abd_gang_add(gang->abd, child->abd, free_it);
	model_table_update(gang);
	check(error == 0 || (model.oom && error == -ENOMEM), "gang_add gave %d", error);
	if (error != 0) {
		check(abd_get_size(gang->abd) == gang->size, "gang changed: %zu", gang->size);
		return;
	}
	for (size_t i = 0; i < child->slice_count; i++)
		model_slice_add(
			gang, child->slices[i].base, child->slices[i].off, child->slices[i].len);
	gang->size += child_size;
	if (is_gang && free_it) {
		gang_swallow(gang, child);
	} else {
		child->owner = free_it ? gang : NULL;
		entry_add(gang, child, is_gang ? 0 : child_size, free_it);
	}
	check(abd_get_size(gang->abd) == gang->size, "gang of %zu bytes", gang->size);
}
