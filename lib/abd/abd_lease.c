/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range that is one span is used in place. Otherwise the lease is memory of abd_buf_alloc()'s
 * kind, and the bytes are copied in or out.
 */
#include "abd_lease.h"
#include "abd_allocator.h"
#include "abd_iter.h"

#include <abd/operate.h>

static char abd_lease_nothing[1];

static bool abd_lease_begin(struct abd_lease *lease, const struct abd_iter *iter, size_t size)
{
	lease->size = size;
	lease->copied = iter->len != size;
	if (size == 0)
		lease->buf = abd_lease_nothing;
	else
		lease->buf = lease->copied ? abd_allocator_get(size, false) : iter->addr;
	if (lease->buf == NULL)
		return false;
	abd_counter_add(ABD_COUNTER(borrow_cnt), 1);
	if (lease->copied)
		abd_counter_add(ABD_COUNTER(borrow_copy_cnt), 1);
	return true;
}

bool abd_lease_read(struct abd_lease *lease, const abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;

	abd_iter_begin(&iter, abd, off, size);
	if (!abd_lease_begin(lease, &iter, size))
		return false;
	if (lease->copied) {
		abd_copy_to_buf_off(lease->buf, abd, off, size);
		abd_counter_add(ABD_COUNTER(borrow_copy_bytes), size);
	}
	return true;
}

void abd_lease_read_end(struct abd_lease *lease)
{
	if (lease->copied)
		abd_allocator_put(lease->buf, lease->size, false);
}

bool abd_lease_write(struct abd_lease *lease, const char *call, abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;

	lease->call = call;
	abd_iter_begin_write(&iter, call, abd, off, size);
	return abd_lease_begin(lease, &iter, size);
}

void abd_lease_write_end(struct abd_lease *lease, abd_t *abd, size_t off, size_t written)
{
	if (!lease->copied)
		return;
	abd_copy_from_buf_as(lease->call, abd, lease->buf, off, written);
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), written);
	abd_allocator_put(lease->buf, lease->size, false);
}
