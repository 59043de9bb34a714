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
#include "abd_impl.h"

/*
 * The memory of bytes [off, off + size) of a scatter buffer if they lie within one run, or NULL.
 * Sizes above the first run's, which is the largest, are not looked up.
 */
static void *abd_view_within_run(const abd_t *sabd, size_t off, size_t size)
{
	size_t run, within;

	if (size > ABD_CHUNK_SIZE << sabd->abd_order || !ABD_TUNE(linear_page) ||
		abd_is_zeros(sabd))
		return NULL;
	run = abd_scatter_seek(sabd, ABD_SCATTER(sabd).abd_offset + off, &within);
	if (size > ABD_SCATTER(sabd).abd_runs[run].iov_len - within)
		return NULL;
	return (char *)ABD_SCATTER(sabd).abd_runs[run].iov_base + within;
}

static void abd_view_init_scatter(abd_t *view, const abd_t *sabd, size_t off, size_t size)
{
	void *buf = abd_view_within_run(sabd, off, size);

	if (buf != NULL) {
		view->abd_flags |= ABD_FLAG_LINEAR;
		ABD_BUF(view) = buf;
		return;
	}
	view->abd_u.abd_scatter = sabd->abd_u.abd_scatter;
	view->abd_order = sabd->abd_order;
	view->abd_class_count = sabd->abd_class_count;
	view->abd_zeros = sabd->abd_zeros;
	ABD_SCATTER(view).abd_offset += off;
}

static void abd_view_init(abd_t *view, abd_t *sabd, size_t off, size_t size)
{
	view->abd_size = size;
	view->abd_parent = sabd;
	if (abd_is_linear(sabd)) {
		view->abd_flags |= ABD_FLAG_LINEAR;
		ABD_BUF(view) = (char *)ABD_BUF(sabd) + off;
	} else if (abd_is_gang(sabd)) {
		view->abd_flags |= ABD_FLAG_GANG;
		ABD_GANG(view).abd_table = NULL;
		ABD_GANG(view).abd_root =
			ABD_GANG(sabd).abd_root != NULL ? ABD_GANG(sabd).abd_root : sabd;
		ABD_GANG(view).abd_offset = ABD_GANG(sabd).abd_offset + off;
	} else {
		abd_view_init_scatter(view, sabd, off, size);
	}
	abd_checked_view_begin(sabd);
}

static void abd_view_check(const char *call, const abd_t *sabd, size_t off, size_t size)
{
	abd_check_range(call, sabd, off, size);
	ABD_REQUIRE_IN(call, size > 0, "a view of 0 bytes at %zu of %zu", off, sabd->abd_size);
}

abd_t *abd_get_offset_struct(abd_t *abd, abd_t *sabd, size_t off, size_t size)
{
	ABD_REQUIRE(abd != NULL, "struct is NULL");
	ABD_REQUIRE(abd != sabd, "a view can't take the place of its parent");
	abd_view_check(__func__, sabd, off, size);
	abd_struct_init(abd, (abd_flags_t)0, size);
	abd_view_init(abd, sabd, off, size);
	return abd;
}

static abd_t *abd_view_alloc(abd_t *sabd, size_t off, size_t size)
{
	abd_t *view = abd_struct_alloc();

	if (view != NULL)
		abd_view_init(view, sabd, off, size);
	return view;
}

abd_t *abd_get_offset_size(abd_t *sabd, size_t off, size_t size)
{
	abd_view_check(__func__, sabd, off, size);
	return abd_view_alloc(sabd, off, size);
}

const abd_t *abd_get_offset_const(const abd_t *sabd, size_t off, size_t size)
{
	abd_view_check(__func__, sabd, off, size);
	return abd_view_alloc(abd_books(sabd), off, size);
}

void abd_free_const(const abd_t *view)
{
	ABD_REQUIRE(view == NULL || view->abd_parent != NULL, "a buffer of %zu bytes is no view",
		view->abd_size);
	abd_free_as(__func__, abd_books(view));
}

abd_t *abd_get_offset(abd_t *sabd, size_t off)
{
	abd_check_range(__func__, sabd, off, 0);
	abd_view_check(__func__, sabd, off, sabd->abd_size - off);
	return abd_view_alloc(sabd, off, sabd->abd_size - off);
}
