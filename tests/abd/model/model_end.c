/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that free buffers, in an order that the contract allows: never a buffer that views,
 * gangs or borrows still use.
 */
#include "model.h"

static size_t entries_of(const struct object *gang, const struct object *child)
{
	size_t count = 0;

	for (size_t i = 0; i < gang->entry_count; i++)
		count += gang->entries[i].child == child;
	return count;
}

bool model_may_end(const struct object *o)
{
	if (o->users > 0 || o->borrow_count > 0 || o->owner != NULL)
		return false;
	for (size_t i = 0; i < o->entry_count; i++) {
		const struct object *child = o->entries[i].child;

		if (o->entries[i].owned && child != NULL &&
			(child->borrow_count > 0 || child->users != entries_of(o, child)))
			return false;
	}
	return true;
}

/* Memory that a buffer was made of, and does not own. */
void model_memory_free(const struct object *o, size_t size)
{
	if (o->memory_is_malloc)
		trace("free(m%u)", o->id);
	else
		trace("abd_buf_free(m%u, %zu)", o->id, size);
	if (o->memory_is_malloc)
		free(o->memory);
	else
		abd_buf_free(o->memory, size);
}

/* What the model does when the buffer itself has ended. memory and callback are those of a base. */
void model_object_ended(struct object *o)
{
	if (o->kind == VIEW)
		model_view_ended(o);
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].child != NULL)
			o->entries[i].child->users--;
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].owned && o->entries[i].child != NULL)
			model_object_ended(o->entries[i].child);
	if (o->kind == FROM_BUF && !o->has_callback)
		model_memory_free(o, o->size);
	model.expected.struct_size -= o->table_size;
	model_object_forget(o);
}

static size_t callbacks_of(const struct object *o)
{
	size_t count = o->has_callback;

	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].owned && o->entries[i].child != NULL)
			count += callbacks_of(o->entries[i].child);
	return count;
}

void model_op_free(void)
{
	struct object *o = model_any();

	if (o == NULL || !model_may_end(o))
		return;
	if (o->raw_count > 0)
		model_check_base(o);
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].child != NULL && o->entries[i].child->raw_count > 0)
			model_check_base(o->entries[i].child);

	size_t callbacks = model.callbacks + callbacks_of(o);

	trace("abd_free(o%u)", o->id);
	abd_free(o->abd);
	model_object_ended(o);
	check(model.callbacks == callbacks, "%zu free callbacks ran", model.callbacks);
}
