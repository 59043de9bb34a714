/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checked builds count views and list borrows. So the call is reported that frees a buffer with a
 * live view or borrow, returns memory that was not borrowed, or returns changed memory as
 * unchanged. One lock for all lists: any number of threads may borrow from one buffer.
 */
#include "abd_checked.h"
#include "abd_impl.h"

#include <abd/compare.h>

#include <pthread.h>

struct abd_borrowed {
	void *buf;
	size_t n;
	struct abd_borrowed *next;
};

static pthread_mutex_t abd_checked_lock = PTHREAD_MUTEX_INITIALIZER;

void abd_checked_view_begin(abd_t *parent)
{
	__atomic_fetch_add(&parent->abd_children, 1, __ATOMIC_RELAXED);
}

void abd_checked_view_end(abd_t *view)
{
	abd_t *parent = view->abd_parent;

	abd_verify_as("abd_free", parent);
	__atomic_fetch_sub(&parent->abd_children, 1, __ATOMIC_RELAXED);
}

void abd_checked_end(const char *call, const abd_t *abd)
{
	uint32_t views = __atomic_load_n(&abd->abd_children, __ATOMIC_RELAXED);

	ABD_REQUIRE_IN(call, views == 0, "a buffer of %zu bytes has %u views that live",
		abd->abd_size, views);
	ABD_REQUIRE_IN(call, abd->abd_borrows == NULL, "a buffer of %zu bytes is borrowed from",
		abd->abd_size);
}

bool abd_checked_borrow(abd_t *abd, void *buf, size_t n)
{
	struct abd_borrowed *borrowed = abd_mem_alloc(sizeof(*borrowed), 16);

	if (borrowed == NULL)
		return false;
	pthread_mutex_lock(&abd_checked_lock);
	*borrowed = (struct abd_borrowed){buf, n, abd->abd_borrows};
	abd->abd_borrows = borrowed;
	pthread_mutex_unlock(&abd_checked_lock);
	return true;
}

static struct abd_borrowed *abd_checked_take(abd_t *abd, const void *buf, size_t n)
{
	struct abd_borrowed *borrowed = abd->abd_borrows, *before = NULL;

	while (borrowed != NULL && (borrowed->buf != buf || borrowed->n != n)) {
		before = borrowed;
		borrowed = borrowed->next;
	}
	if (borrowed != NULL && before != NULL)
		before->next = borrowed->next;
	else if (borrowed != NULL)
		abd->abd_borrows = borrowed->next;
	return borrowed;
}

void abd_checked_return(const char *call, abd_t *abd, void *buf, size_t n, bool written)
{
	struct abd_borrowed *borrowed;

	pthread_mutex_lock(&abd_checked_lock);
	borrowed = abd_checked_take(abd, buf, n);
	pthread_mutex_unlock(&abd_checked_lock);
	ABD_REQUIRE_IN(call, borrowed != NULL,
		"%zu bytes at %p were not borrowed from this buffer of %zu, or returned before", n,
		buf, abd->abd_size);
	abd_mem_free(borrowed, sizeof(*borrowed), 16);
	ABD_REQUIRE_IN(call, written || abd_equal_buf_off(abd, buf, 0, n),
		"%zu bytes borrowed from a buffer of %zu were changed; abd_return_buf_copy() writes them back",
		n, abd->abd_size);
}
