/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beginning to fill, for batches: abd_arc_fill.c.
 */
#ifndef ABD_ARC_FILL_H
#define ABD_ARC_FILL_H

#include "abd_arc_thread.h"

/** The flags of who asks for a record to hold or fill. */
#define ABD_ARC_FILL_FLAGS ((unsigned)(ABD_ARC_METADATA | ABD_ARC_NOWAIT | ABD_ARC_NO_TOUCH))

/** A key that is asked for, and how. */
struct abd_arc_wish {
	const abd_arc_key_t *key;
	uint64_t hash;
	size_t size;
	unsigned flags;
	/* the fill belongs to no thread, and none sleeps: if another fills, ready(arg) is called */
	bool is_async;
	void (*ready)(void *arg);
	void *arg;
	uint64_t until_ns; /* when a thread stops to wait, by CLOCK_MONOTONIC; UINT64_MAX: never */
};

/**
 * Nobody has the record, or it was damaged: begin to fill it in, or wait. thread may be NULL.
 * Returns what abd_arc_hold_or_fill() returns. Outside of sections and locks.
 */
int abd_arc_fill_missing(struct abd_arc *arc, struct abd_arc_thread *thread,
	struct abd_arc_wish *wish, abd_arc_hold_t *hold, abd_arc_fill_t *fill);

#endif
