/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Borrowing a buffer as one piece of memory. Linear buffers, single-run ones included, lend their
 * own memory: nothing is copied. Other kinds lend a copy, which costs an allocation and a pass over
 * the bytes in each direction. The rule that a single-run buffer is linear saves that.
 * OpenZFS: abd_borrow_buf() ... abd_return_buf_copy() in
 * module/os/linux/zfs/abd_os.c (PR 8580).
 */
#include "abd_allocator.h"
#include "abd_check.h"
#include "abd_impl.h"

#include <abd/operate.h>

static void abd_borrow_check(const char *call, const abd_t *abd, size_t n)
{
	abd_check(call, abd);
	ABD_REQUIRE_IN(call, n > 0 && n <= abd->abd_size,
		"%zu bytes are borrowed from, or returned to, a buffer of %zu", n, abd->abd_size);
}

static void *abd_borrow(abd_t *abd, size_t n)
{
	bool linear = abd_is_linear(abd);
	void *buf = linear ? ABD_BUF(abd) : abd_allocator_get(n, true);

	if (ABD_UNLIKELY(buf == NULL)) {
		errno = ENOMEM;
		return NULL;
	}
	if (!abd_checked_borrow(abd, buf, n)) {
		if (!linear)
			abd_allocator_put(buf, n, true);
		errno = ENOMEM;
		return NULL;
	}
	abd_counter_add(ABD_COUNTER(borrow_cnt), 1);
	if (!linear)
		abd_counter_add(ABD_COUNTER(borrow_copy_cnt), 1);
	return buf;
}

void *abd_borrow_buf(abd_t *abd, size_t n)
{
	abd_borrow_check(__func__, abd, n);
	return abd_borrow(abd, n);
}

static void *abd_borrow_copy(abd_t *abd, size_t n)
{
	void *buf = abd_borrow(abd, n);

	if (buf != NULL && !abd_is_linear(abd)) {
		abd_counter_add(ABD_COUNTER(borrow_copy_bytes), n);
		abd_copy_to_buf_off(buf, abd, 0, n);
	}
	return buf;
}

void *abd_borrow_buf_copy(abd_t *abd, size_t n)
{
	abd_borrow_check(__func__, abd, n);
	return abd_borrow_copy(abd, n);
}

const void *abd_borrow_buf_const(const abd_t *abd, size_t n)
{
	abd_borrow_check(__func__, abd, n);
	return abd_borrow_copy(abd_books(abd), n);
}

/* Check a return. True: buf is a copy, which the caller must free. */
static bool abd_return_begin(const char *call, abd_t *abd, void *buf, size_t n, bool written)
{
	abd_borrow_check(call, abd, n);
	ABD_REQUIRE_IN(call, buf != NULL, "memory is NULL");
	ABD_REQUIRE_IN(call, !abd_is_linear(abd) || buf == ABD_BUF(abd),
		"%p is returned to a linear buffer of %zu bytes whose memory is %p", buf,
		abd->abd_size, ABD_BUF(abd));
	abd_checked_return(call, abd, buf, n, written);
	return !abd_is_linear(abd);
}

void abd_return_buf(abd_t *abd, void *buf, size_t n)
{
	if (abd_return_begin(__func__, abd, buf, n, false))
		abd_allocator_put(buf, n, true);
}

void abd_return_buf_const(const abd_t *abd, const void *buf, size_t n)
{
	void *copy = (void *)(uintptr_t)buf; /* not const if it is a copy: we allocated it */

	if (abd_return_begin(__func__, abd_books(abd), copy, n, false))
		abd_allocator_put(copy, n, true);
}

void abd_return_buf_copy(abd_t *abd, void *buf, size_t n)
{
	if (!abd_return_begin(__func__, abd, buf, n, true))
		return;
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), n);
	abd_copy_from_buf_as(__func__, abd, buf, 0, n);
	abd_allocator_put(buf, n, true);
}
