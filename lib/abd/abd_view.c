/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Views: part of a buffer as a buffer. The parent's memory, run table or gang table is shared, so a
 * view costs the same for 2 chunks and for 4,096, and needs no memory but its struct. A view that
 * lies within one run of a scatter buffer is linear: borrowing it copies nothing.
 * Invariant: a view owns nothing; its parent outlives it. It is not marked as metadata or as a
 * single run: both marks go with ownership.
 * OpenZFS: abd_get_offset_impl() in module/zfs/abd.c, abd_get_offset_scatter() in
 *          module/os/linux/zfs/abd_os.c.
 */
#include "abd_check.h"
#include "abd_walk.h"

static inline void abd_view_init_linear(abd_t *view, char *buf)
{
	view->abd_flags |= ABD_FLAG_LINEAR;
	ABD_BUF(view) = buf;
}

static inline void abd_view_init_scatter(abd_t *view, const abd_t *sabd, size_t off)
{
	view->abd_u.abd_scatter = sabd->abd_u.abd_scatter;
	view->abd_order = sabd->abd_order;
	view->abd_class_count = sabd->abd_class_count;
	view->abd_zeros = sabd->abd_zeros;
	ABD_SCATTER(view).abd_offset += off;
}

/* Runs of several orders: the same, by the slower seek. */
static ABD_NOINLINE abd_t *abd_view_init_classes(abd_t *view, const abd_t *sabd, size_t off)
{
	size_t within, run = abd_scatter_seek(sabd, ABD_SCATTER(sabd).abd_offset + off, &within);
	const struct iovec *at = &ABD_SCATTER(sabd).abd_runs[run];

	if (ABD_TUNE(linear_page) && view->abd_size <= at->iov_len - within)
		abd_view_init_linear(view, (char *)at->iov_base + within);
	else
		abd_view_init_scatter(view, sabd, off);
	return view;
}

static inline abd_t *abd_view_init(abd_t *view, abd_t *sabd, size_t off, size_t size)
{
	char *at;

	view->abd_size = size;
	view->abd_parent = sabd;
	abd_checked_view_begin(sabd);
	if (abd_is_linear(sabd)) {
		abd_view_init_linear(view, (char *)ABD_BUF(sabd) + off);
	} else if (abd_is_gang(sabd)) {
		view->abd_flags |= ABD_FLAG_GANG;
		ABD_GANG(view).abd_table = NULL;
		ABD_GANG(view).abd_root =
			ABD_GANG(sabd).abd_root != NULL ? ABD_GANG(sabd).abd_root : sabd;
		ABD_GANG(view).abd_offset = ABD_GANG(sabd).abd_offset + off;
	} else if (ABD_UNLIKELY(sabd->abd_class_count > 1)) {
		return abd_view_init_classes(view, sabd, off);
	} else if (size <= ABD_CHUNK_SIZE << sabd->abd_order && ABD_TUNE(linear_page) &&
		   abd_contiguous(sabd, off, size, &at)) {
		abd_view_init_linear(view, at);
	} else {
		abd_view_init_scatter(view, sabd, off);
	}
	return view;
}

static void abd_view_check(const char *call, const abd_t *sabd, size_t off, size_t size)
{
	abd_check_range(call, sabd, off, size);
	ABD_REQUIRE_IN(call, size > 0, "a view of 0 bytes at %zu of %zu", off, sabd->abd_size);
}

abd_t *abd_get_offset_struct(abd_t *abd, abd_t *sabd, size_t off, size_t size)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	ABD_REQUIRE(abd != sabd, "a view can't take the place of its parent");
	abd_view_check(__func__, sabd, off, size);
	abd_struct_init(abd, (abd_flags_t)0, size);
	return abd_view_init(abd, sabd, off, size);
}

/* Makes each check alone, to name what is wrong, and allocates when the magazine is empty. */
static ABD_NOINLINE abd_t *abd_view_alloc_slow(
	const char *call, abd_t *sabd, size_t off, size_t size)
{
	abd_t *view;

	abd_view_check(call, sabd, off, size);
	view = abd_struct_alloc();
	return view != NULL ? abd_view_init(view, sabd, off, size) : NULL;
}

static inline abd_t *abd_view_alloc(const char *call, abd_t *sabd, size_t off, size_t size)
{
	abd_t *view = NULL;

	if (ABD_LIKELY(sabd != NULL && size > 0 && off <= sabd->abd_size &&
		       size <= sabd->abd_size - off))
		view = abd_struct_take();
	if (ABD_UNLIKELY(view == NULL))
		return abd_view_alloc_slow(call, sabd, off, size);
	return abd_view_init(view, sabd, off, size);
}

abd_t *abd_get_offset_size(abd_t *sabd, size_t off, size_t size)
{
	return abd_view_alloc(__func__, sabd, off, size);
}

const abd_t *abd_get_offset_const(const abd_t *sabd, size_t off, size_t size)
{
	return abd_view_alloc(__func__, abd_books(sabd), off, size);
}

void abd_free_const(const abd_t *view)
{
	ABD_REQUIRE(view == NULL || view->abd_parent != NULL || abd_is_gang(view),
		"a buffer of %zu bytes is no view", view->abd_size);
	abd_free_as(__func__, abd_books(view));
}

abd_t *abd_get_offset(abd_t *sabd, size_t off)
{
	abd_check_range(__func__, sabd, off, 0);
	return abd_view_alloc(__func__, sabd, off, sabd->abd_size - off);
}
