/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contiguous, or a copy. The copy is memory of abd_buf_alloc()'s kind.
 */
#include "abd_lease.h"
#include "abd_allocator.h"
#include "abd_iter.h"

#include <abd/operate.h>

static char abd_lease_nothing[1];

bool abd_lease_take(struct abd_lease *lease, char *in_place, size_t size, bool is_metadata)
{
	lease->size = size;
	lease->is_metadata = is_metadata;
	lease->copied = in_place == NULL;
	lease->buf = lease->copied ? abd_allocator_get(size, is_metadata) : in_place;
	return lease->buf != NULL;
}

void abd_lease_count(const struct abd_lease *lease)
{
	abd_counter_add(ABD_COUNTER(borrow_cnt), 1);
	if (lease->copied)
		abd_counter_add(ABD_COUNTER(borrow_copy_cnt), 1);
}

void abd_lease_get(const struct abd_lease *lease, const abd_t *abd, size_t off)
{
	if (!lease->copied)
		return;
	abd_copy_to_buf_off(lease->buf, abd, off, lease->size);
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), lease->size);
}

void abd_lease_put(const struct abd_lease *lease, abd_t *abd, size_t off, size_t written)
{
	if (!lease->copied)
		return;
	abd_copy_from_buf_as(lease->call, abd, lease->buf, off, written);
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), written);
}

void abd_lease_end(const struct abd_lease *lease)
{
	if (lease->copied)
		abd_allocator_put(lease->buf, lease->size, lease->is_metadata);
}

static bool abd_lease_begin(
	struct abd_lease *lease, const char *writer, const abd_t *abd, size_t off, size_t size)
{
	char *in_place = abd_lease_nothing;
	struct abd_iter iter;

	if (size > 0) {
		abd_iter_start(&iter, abd, off, size, writer);
		in_place = iter.len == size ? iter.addr : NULL;
	}
	lease->call = writer;
	if (!abd_lease_take(lease, in_place, size, false))
		return false;
	abd_lease_count(lease);
	return true;
}

bool abd_lease_read(struct abd_lease *lease, const abd_t *abd, size_t off, size_t size)
{
	if (!abd_lease_begin(lease, NULL, abd, off, size))
		return false;
	abd_lease_get(lease, abd, off);
	return true;
}

bool abd_lease_write(struct abd_lease *lease, const char *call, abd_t *abd, size_t off, size_t size)
{
	return abd_lease_begin(lease, call, abd, off, size);
}
