/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a buffer as one piece of memory, for functions that take plain memory. A range that
 * lies in one piece is used in place, whatever the buffer's kind; else the lease is a copy. Borrows
 * are leases whose end needs no struct (abd_borrow.c); both are counted as borrows.
 * Invariant: what a write lease changed reaches the buffer only up to the bytes its end names.
 */
#ifndef ABD_LEASE_H
#define ABD_LEASE_H

#include "abd_impl.h"

struct abd_lease {
	const char *call; /* of a write: what the user called */
	char *buf; /* never NULL; for a range of 0 bytes nothing may be read or written there */
	size_t size;
	bool copied; /* buf is memory of its own */
	bool is_metadata;
};

/* ---- leases ---- */

/** Lease [off, off + size), which the caller has checked to be there. False: no memory. */
bool abd_lease_read(struct abd_lease *lease, const abd_t *abd, size_t off, size_t size);
/** The same to write; the memory does not hold the range's content. */
bool abd_lease_write(
	struct abd_lease *lease, const char *call, abd_t *abd, size_t off, size_t size);
/** Write bytes [0, written) to the buffer at off. The rest keeps its content if this is a copy. */
void abd_lease_put(const struct abd_lease *lease, abd_t *abd, size_t off, size_t written);
void abd_lease_end(const struct abd_lease *lease);

/* ---- parts of them, for borrows ---- */

/** Lease in_place; if it is NULL, memory of abd_buf_alloc()'s kind. False: no memory. */
bool abd_lease_take(struct abd_lease *lease, char *in_place, size_t size, bool is_metadata);
/** Count the lease as a borrow. */
void abd_lease_count(const struct abd_lease *lease);
/** Copy the range from the buffer, if this is a copy. */
void abd_lease_get(const struct abd_lease *lease, const abd_t *abd, size_t off);

#endif
