/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choosing the kind of a new buffer, and freeing a buffer of any kind.
 * OpenZFS: abd_alloc(), abd_alloc_sametype(), abd_free() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_impl.h"

bool abd_size_alloc_linear(size_t size)
{
	abd_start();
	return !ABD_TUNE(scatter_enabled) || size < ABD_TUNE(scatter_min_size);
}

abd_t *abd_alloc(size_t size, bool is_metadata)
{
	if (abd_size_alloc_linear(size) || size == 0)
		return abd_alloc_linear(size, is_metadata);
	return abd_scatter_alloc(size, is_metadata);
}

/* Runs are aligned to 4 KiB whatever the size; linear buffers only from 4 KiB up. */
abd_t *abd_alloc_for_io(size_t size, bool is_metadata)
{
	abd_start();
	if (size == 0 || (size >= ABD_CHUNK_SIZE && abd_size_alloc_linear(size)))
		return abd_alloc_linear(size, is_metadata);
	return abd_scatter_alloc(size, is_metadata);
}

abd_t *abd_alloc_sametype(abd_t *sabd, size_t size)
{
	abd_check(__func__, sabd);

	bool is_metadata = (sabd->abd_flags & ABD_FLAG_META) != 0;

	if (abd_is_linear(sabd) && !abd_is_linear_page(sabd))
		return abd_alloc_linear(size, is_metadata);
	return abd_alloc(size, is_metadata);
}

static inline void abd_end(abd_t *abd)
{
	abd_flags_t flags = abd->abd_flags;

	if ((flags & (ABD_FLAG_OWNER | ABD_FLAG_LINEAR | ABD_FLAG_LINEAR_PAGE)) ==
		(ABD_FLAG_OWNER | ABD_FLAG_LINEAR)) {
		abd_linear_free(abd); /* no gang is linear */
	} else if ((flags & ABD_FLAG_OWNER) == 0 && (flags & ABD_FLAG_LINEAR) == 0) {
		if (ABD_UNLIKELY(!abd_struct_give(abd)))
			abd_struct_free(abd);
	} else if ((flags & ABD_FLAG_OWNER) == 0) {
		abd_linear_end(abd);
	} else if ((flags & ABD_FLAG_GANG) == 0) {
		abd_scatter_free(abd);
	} else {
		abd_gang_free(abd, abd_free);
	}
}

/* Makes each check alone, to name what is wrong. */
static ABD_NOINLINE void abd_free_slow(const char *call, abd_t *abd)
{
	abd_check_end(call, abd);
	if (abd->abd_parent != NULL)
		abd_checked_view_end(abd);
	abd_end(abd);
}

static inline void abd_free_inline(const char *call, abd_t *abd)
{
	if (abd == NULL)
		return;
	if (ABD_UNLIKELY(ABD_CHECKED || abd->abd_size == 0 ||
			 __atomic_load_n(&abd->abd_gang_refs, __ATOMIC_RELAXED) != 0))
		abd_free_slow(call, abd);
	else
		abd_end(abd);
}

void abd_free_as(const char *call, abd_t *abd)
{
	abd_free_inline(call, abd);
}

void abd_free(abd_t *abd)
{
	abd_free_inline(__func__, abd);
}

void abd_cache_reap_now(void)
{
	abd_start();
	abd_chunk_reap();
}

void abd_init(void)
{
	abd_start();
	abd_thread_self();
}

void abd_fini(void)
{
	abd_cache_reap_now();
}
