/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deep checks of checked builds (ABD_CHECKED): every call verifies its buffers, views
 * are counted, borrows are tracked.
 * Invariant: other builds contain nothing of this, not even a branch.
 */
#ifndef ABD_CHECKED_H
#define ABD_CHECKED_H

#include "abd_contract.h"

/** Check every invariant of a buffer, in every build; reports name call. */
void abd_verify_as(const char *call, const abd_t *abd);

#if ABD_CHECKED

void abd_checked_view_begin(abd_t *parent);
void abd_checked_view_end(abd_t *view);
/** The buffer is about to end: no view or borrow of it may live. */
void abd_checked_end(const char *call, const abd_t *abd);
/** Record a borrow; false: no memory for the record. */
bool abd_checked_borrow(abd_t *abd, void *buf, size_t n);
/** The buffer's borrow of buf ends. written: it may have been changed. */
void abd_checked_return(const char *call, abd_t *abd, void *buf, size_t n, bool written);

static inline void abd_checked_verify(const char *call, const abd_t *abd)
{
	abd_verify_as(call, abd);
}

#else

static inline void abd_checked_view_begin(abd_t *parent)
{
	(void)parent;
}

static inline void abd_checked_view_end(abd_t *view)
{
	(void)view;
}

static inline void abd_checked_end(const char *call, const abd_t *abd)
{
	(void)call, (void)abd;
}

static inline bool abd_checked_borrow(abd_t *abd, void *buf, size_t n)
{
	(void)abd, (void)buf, (void)n;
	return true;
}

static inline void abd_checked_return(
	const char *call, abd_t *abd, void *buf, size_t n, bool written)
{
	(void)call, (void)abd, (void)buf, (void)n, (void)written;
}

static inline void abd_checked_verify(const char *call, const abd_t *abd)
{
	(void)call, (void)abd;
}

#endif

#endif
