/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Borrowing a buffer as one piece of memory. Linear buffers, single-run ones included, lend their
 * own memory: nothing is copied. Other kinds lend a copy, which costs an allocation and a pass over
 * the bytes in each direction. The rule that a single-run buffer is linear saves that.
 *
 * Each call first looks whether the buffer is linear and all is as it should be: then it is done.
 * Whatever else goes to a function that checks one by one, and says what is wrong.
 * OpenZFS: abd_borrow_buf() ... abd_return_buf_copy() in
 * module/os/linux/zfs/abd_os.c (PR 8580).
 */
#include "abd_check.h"
#include "abd_lease.h"

#include <abd/operate.h>

/* Whether a borrow of n bytes lends the buffer's own memory, and no build tracks it. */
static inline bool abd_borrow_is_plain(const abd_t *abd, size_t n)
{
	return !ABD_CHECKED && abd != NULL && n > 0 && n <= abd->abd_size && abd_is_linear(abd);
}

static void abd_borrow_check(const char *call, const abd_t *abd, size_t n)
{
	abd_check(call, abd);
	ABD_REQUIRE_IN(call, n > 0 && n <= abd->abd_size,
		"%zu bytes are borrowed from, or returned to, a buffer of %zu", n, abd->abd_size);
}

/* fill: copy the buffer's content into the memory. */
static ABD_NOINLINE void *abd_borrow_slow(const char *call, abd_t *abd, size_t n, bool fill)
{
	struct abd_lease lease;

	abd_borrow_check(call, abd, n);
	if (!abd_lease_take(&lease, abd_is_linear(abd) ? ABD_BUF(abd) : NULL, n, true)) {
		errno = ENOMEM;
		return NULL;
	}
	if (!abd_checked_borrow(abd, lease.buf, n)) {
		abd_lease_end(&lease);
		errno = ENOMEM;
		return NULL;
	}
	abd_lease_count(&lease);
	if (fill)
		abd_lease_get(&lease, abd, 0);
	return lease.buf;
}

static inline void *abd_borrow(const char *call, abd_t *abd, size_t n, bool fill)
{
	struct abd_thread *thread = abd_thread_mine();

	if (ABD_UNLIKELY(!abd_borrow_is_plain(abd, n) || thread == NULL))
		return abd_borrow_slow(call, abd, n, fill);
	abd_counter_add_to(thread, ABD_COUNTER(borrow_cnt), 1);
	return ABD_BUF(abd);
}

void *abd_borrow_buf(abd_t *abd, size_t n)
{
	return abd_borrow(__func__, abd, n, false);
}

void *abd_borrow_buf_copy(abd_t *abd, size_t n)
{
	return abd_borrow(__func__, abd, n, true);
}

const void *abd_borrow_buf_const(const abd_t *abd, size_t n)
{
	return abd_borrow(__func__, abd_books(abd), n, true);
}

/* written: copy the memory back to the buffer. */
static ABD_NOINLINE void abd_return_slow(
	const char *call, abd_t *abd, void *buf, size_t n, bool written)
{
	struct abd_lease lease = {.call = call, .buf = buf, .size = n, .is_metadata = true};

	abd_borrow_check(call, abd, n);
	ABD_REQUIRE_IN(call, buf != NULL, "buf is NULL");
	ABD_REQUIRE_IN(call, !abd_is_linear(abd) || buf == ABD_BUF(abd),
		"%p is returned to a linear buffer of %zu bytes whose memory is %p", buf,
		abd->abd_size, ABD_BUF(abd));
	abd_checked_return(call, abd, buf, n, written);
	lease.copied = !abd_is_linear(abd);
	if (written)
		abd_lease_put(&lease, abd, 0, n);
	abd_lease_end(&lease);
}

static inline void abd_return(const char *call, abd_t *abd, void *buf, size_t n, bool written)
{
	if (ABD_UNLIKELY(!abd_borrow_is_plain(abd, n) || buf != ABD_BUF(abd)))
		abd_return_slow(call, abd, buf, n, written);
}

void abd_return_buf(abd_t *abd, void *buf, size_t n)
{
	abd_return(__func__, abd, buf, n, false);
}

void abd_return_buf_const(const abd_t *abd, const void *buf, size_t n)
{
	/* not const if it is a copy: we allocated it */
	abd_return(__func__, abd_books(abd), (void *)(uintptr_t)buf, n, false);
}

void abd_return_buf_copy(abd_t *abd, void *buf, size_t n)
{
	abd_return(__func__, abd, buf, n, true);
}
