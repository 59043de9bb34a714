/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting, for the miss path and for what was saved: abd_arc_put.c.
 */
#ifndef ABD_ARC_PUT_H
#define ABD_ARC_PUT_H

#include "abd_arc_record.h"

struct abd_arc_filling;

/**
 * Make a source of an engine's record, which lies in abd: check its parts and, if its flags want
 * that, its bytes. Returns 0, -EINVAL, -EBADMSG or -ENOMEM.
 */
int abd_arc_put_prepare(struct abd_arc *arc, struct abd_arc_source *source, abd_t *abd,
	const abd_arc_record_t *record, bool is_fill);
/**
 * Put a record, where flags are those of abd_arc_put_flags(). If filling is not NULL, it ends
 * there: then -ESTALE when it was overtaken. If handle is not NULL, it holds the record afterwards.
 */
int abd_arc_put_source(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key, unsigned flags,
	struct abd_arc_source *source, struct abd_arc_filling *filling, void **handle);
/**
 * Put a record that comes from a save, with its uses, at the back of its list, if nothing need make
 * way for it. Returns 0; -EEXIST: the key has a record, or is being filled in; -EAGAIN: there is no
 * room; -ENOSPC: it can never fit; -ENOMEM.
 */
int abd_arc_put_restored(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	unsigned flags, struct abd_arc_source *source, enum abd_arc_list_id list, unsigned uses);

#endif
