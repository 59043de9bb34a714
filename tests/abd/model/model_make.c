/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that make buffers: allocate, wrap memory, zeros, gangs, views.
 */
#include "model.h"

/* Whether a constructor's answer was allowed; true when there is a buffer. */
bool model_made(const abd_t *abd, const char *what)
{
	check(abd != NULL || (model.oom && errno == ENOMEM), "%s refused, errno %d", what, errno);
	return abd != NULL;
}

void model_op_alloc(void)
{
	size_t size = model_random_size();
	bool meta = model_one_in(2), linear = abd_size_alloc_linear(size);
	struct object *like = model_any();
	abd_t *abd;

	switch (model_below(4)) {
	case 0:
		trace("o%u = abd_alloc_for_io(%zu, %d)", model.ids, size, meta);
		abd = abd_alloc_for_io(size, meta);
		linear = linear && size >= 4096;
		break;
	case 1:
		if (like != NULL) {
			meta = (like->abd->abd_flags & ABD_FLAG_META) != 0;
			linear = linear ||
				 (abd_is_linear(like->abd) && !abd_is_linear_page(like->abd));
			trace("o%u = abd_alloc_sametype(o%u, %zu)", model.ids, like->id, size);
			abd = abd_alloc_sametype(like->abd, size);
			break;
		}
		/* fall through */
	default:
		trace("o%u = abd_alloc(%zu, %d)", model.ids, size, meta);
		abd = abd_alloc(size, meta);
	}
	if (!model_made(abd, "alloc")) {
		model.ids++;
		return;
	}

	struct object *o = model_object_new(linear ? LINEAR : SCATTER, abd);

	check(((abd->abd_flags & ABD_FLAG_META) != 0) == meta, "metadata mark of %zu bytes", size);
	check(abd_get_size(abd) == size, "size %zu", abd_get_size(abd));
	check((abd_is_linear(abd) && !abd_is_linear_page(abd)) == linear, "kind of %zu bytes",
		size);
	if (linear)
		model_linear_begin(o);
	else
		model_scatter_begin(o);
}

void model_op_alloc_linear(void)
{
	struct object *o = model_object_new(LINEAR, NULL);
	size_t size = model_random_size();

	o->own_struct = model_one_in(2);

	bool meta = model_one_in(2);

	if (o->own_struct)
		trace("o%u = abd_alloc_linear_struct(&own, %zu, %d)", o->id, size, meta);
	else
		trace("o%u = abd_alloc_linear(%zu, %d)", o->id, size, meta);
	o->abd = o->own_struct ? abd_alloc_linear_struct(&o->own, size, meta)
			       : abd_alloc_linear(size, meta);
	if (model_made(o->abd, "alloc_linear"))
		model_linear_begin(o);
	else
		free(o);
}

static void callback(void *buf, size_t size, void *arg)
{
	struct object *o = arg;

	check(buf == o->memory && size == o->size, "free callback of %zu bytes", size);
	model.callbacks++;
	free(buf);
}

/*
 * Memory for a buffer to be made of: malloc()'s, or the library's own, which a buffer may come to
 * own.
 */
static bool memory_new(struct object *o, size_t size)
{
	bool meta = model_one_in(2);

	o->memory_is_malloc = !model_one_in(3);
	if (o->memory_is_malloc) {
		trace("m%u = malloc(%zu)", o->id, size);
		o->memory = malloc(size);
		cr_assert_not_null(o->memory);
		return true;
	}
	trace("m%u = abd_buf_alloc(%zu, %d)", o->id, size, meta);
	o->memory = abd_buf_alloc(size, meta);
	check(o->memory != NULL || (model.oom && errno == ENOMEM), "buf_alloc of %zu refused",
		size);
	return o->memory != NULL;
}

void model_op_from_buf(void)
{
	struct object *o = model_object_new(FROM_BUF, NULL);
	size_t size = model_random_size();

	if (!memory_new(o, size)) {
		free(o);
		return;
	}
	switch (model_below(o->memory_is_malloc ? 3 : 2)) {
	case 0:
		o->own_struct = true;
		trace("o%u = abd_get_from_buf_struct(&own, m%u, %zu)", o->id, o->id, size);
		o->abd = abd_get_from_buf_struct(&o->own, o->memory, size);
		break;
	case 2:
		o->has_callback = true;
		trace("o%u = abd_get_from_buf_cb(m%u, %zu, callback, NULL)", o->id, o->id, size);
		o->abd = abd_get_from_buf_cb(o->memory, size, callback, o);
		break;
	default:
		trace("o%u = abd_get_from_buf(m%u, %zu)", o->id, o->id, size);
		o->abd = abd_get_from_buf(o->memory, size);
	}
	if (model_made(o->abd, "get_from_buf")) {
		model_linear_begin(o);
		return;
	}
	model_memory_free(o, size);
	free(o);
}

void model_op_zeros(void)
{
	struct object *o = model_object_new(ZEROS, NULL);
	size_t size = model_random_size();

	o->own_struct = model_one_in(2);
	if (o->own_struct)
		trace("o%u = abd_get_zeros_struct(&own, %zu)", o->id, size);
	else
		trace("o%u = abd_get_zeros(%zu)", o->id, size);
	o->abd = o->own_struct ? abd_get_zeros_struct(&o->own, size) : abd_get_zeros(size);
	if (!model_made(o->abd, "get_zeros")) {
		free(o);
		return;
	}
	model_slice_add(o, NULL, 0, size);
	model_object_begin(o);
}

void model_op_gang(void)
{
	struct object *o = model_object_new(GANG, NULL);

	o->own_struct = model_one_in(2);
	if (o->own_struct)
		trace("o%u = abd_alloc_gang_struct(&own)", o->id);
	else
		trace("o%u = abd_alloc_gang()", o->id);
	o->abd = o->own_struct ? abd_alloc_gang_struct(&o->own) : abd_alloc_gang();
	if (model_made(o->abd, "alloc_gang"))
		model_object_begin(o);
	else
		free(o);
}

void model_op_view(void)
{
	struct object *parent = model_any(), *o;
	size_t off, n;

	if (parent == NULL || parent->size == 0)
		return;
	model_random_range(parent, &off, &n);
	if (n == 0)
		return;
	o = model_object_new(VIEW, NULL);
	switch (model_below(3)) {
	case 0:
		trace("o%u = abd_get_offset(o%u, %zu)", o->id, parent->id, off);
		o->abd = abd_get_offset(parent->abd, off);
		n = parent->size - off;
		break;
	case 1:
		o->own_struct = true;
		trace("o%u = abd_get_offset_struct(&own, o%u, %zu, %zu)", o->id, parent->id, off,
			n);
		o->abd = abd_get_offset_struct(&o->own, parent->abd, off, n);
		break;
	default:
		trace("o%u = abd_get_offset_size(o%u, %zu, %zu)", o->id, parent->id, off, n);
		o->abd = abd_get_offset_size(parent->abd, off, n);
	}
	if (!model_made(o->abd, "get_offset")) {
		free(o);
		return;
	}
	check(abd_get_size(o->abd) == n, "a view of %zu bytes has %zu", n, abd_get_size(o->abd));
	for (struct walk w = model_walk(parent, off, n); model_walk_next(&w);)
		model_slice_add(o, w.base, w.base_off, w.len);
	o->parent = parent;
	parent->users++;
	model_object_begin(o);
}
