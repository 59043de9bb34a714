/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and holding, for batches and the miss path: abd_arc_read.c.
 */
#ifndef ABD_ARC_READ_H
#define ABD_ARC_READ_H

#include "abd_arc_thread.h"

/** Fill *hold for the caller. */
void abd_arc_hold_fill(abd_arc_hold_t *hold, void *handle, struct abd_arc_entry *entry);
/** Leave *hold empty, as errors and a release do. */
static inline void abd_arc_hold_clear(abd_arc_hold_t *hold)
{
	*hold = (abd_arc_hold_t){NULL, 0, 0, false, NULL};
}

/** The entry of a hold that has not been released: else, that call has broken its contract. */
struct abd_arc_entry *abd_arc_hold_check(const char *call, const abd_arc_hold_t *hold);
/** abd_arc_hold() without checks, and whether the policy is to learn of it. */
int abd_arc_hold_touch(struct abd_arc *arc, struct abd_arc_thread *thread, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, bool touch);
/**
 * Whether the held entry and the key's present entry are one record: the same entry, or copies made
 * by compaction. Records in buffers of their own are not moved, so no large record is compared
 * under the lock. Under lock.
 */
bool abd_arc_is_same(
	const struct abd_arc *arc, struct abd_arc_entry *held, struct abd_arc_entry *there);
/** What follows when entry, which a read has found and holds, is read and let go. */
ssize_t abd_arc_read_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, void *dst, size_t off, size_t size, bool touch);
/** The same for a hold. Returns 0, or -EBADMSG, and then it is not held any more. */
int abd_arc_hold_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, abd_arc_hold_t *hold, bool touch);

#endif
