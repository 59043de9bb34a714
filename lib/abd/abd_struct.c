/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making and freeing the struct. A struct that the library allocated has ABD_FLAG_ALLOCD, and is
 * freed with its tables. A struct of the caller's is left with size 0, so that any later use
 * reaches past its end, and is reported in every build.
 * OpenZFS: abd_alloc_struct(), abd_init_struct(), abd_fini_struct(), abd_free_struct() in
 * module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_impl.h"

abd_t *abd_head_alloc(size_t head_size)
{
	abd_t *abd = abd_mem_cache_alloc(head_size);

	if (ABD_UNLIKELY(abd == NULL)) {
		errno = ENOMEM;
		return NULL;
	}
	abd_counter_add(ABD_COUNTER(struct_size), head_size);
	abd_struct_init(abd, ABD_FLAG_ALLOCD, 0);
	return abd;
}

void abd_head_free(abd_t *abd, size_t head_size)
{
	if ((abd->abd_flags & ABD_FLAG_ALLOCD) == 0) {
		abd_struct_init(abd, (abd_flags_t)0, 0);
		return;
	}
	abd_struct_clear(abd);
	abd_counter_add(ABD_COUNTER(struct_size), -(uint64_t)head_size);
	abd_mem_cache_free(abd, head_size);
}

abd_t *abd_struct_alloc(void)
{
	abd_t *abd = abd_struct_take();

	return ABD_LIKELY(abd != NULL) ? abd : abd_head_alloc(sizeof(abd_t));
}

void abd_struct_free(abd_t *abd)
{
	if (ABD_UNLIKELY(!abd_struct_give(abd)))
		abd_head_free(abd, sizeof(abd_t));
}

void abd_struct_move(abd_t *to, abd_t *from)
{
	assert((from->abd_flags & ABD_FLAG_ALLOCD) != 0 && abd_is_linear(from));
	*to = *from;
	to->abd_flags &= ~(unsigned)ABD_FLAG_ALLOCD;
	if (!abd_is_linear_page(to))
		to->abd_order = 0; /* no magazine takes the caller's struct: abd_linear_magazine()
				    */
	abd_struct_free(from);
}

abd_t *abd_struct_move_out(const abd_t *from)
{
	abd_t *to = abd_struct_alloc();

	if (to == NULL)
		return NULL;
	*to = *from;
	to->abd_flags |= ABD_FLAG_ALLOCD;
	return to;
}
