/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * THE iterator: one cursor over linear, scatter and gang buffers, behind every operation.
 *
 *   for (abd_iter_begin(&iter, abd, off, size); iter.len > 0; abd_iter_advance(&iter, n))
 *           use n <= iter.len bytes at iter.addr
 *
 * Invariants: [addr, addr + len) is one piece of memory; left counts the bytes from addr to the end
 * of the iteration; len is 0 only when left is. Runs that happen to be neighbours in memory are
 * handed out as one span.
 * There are only three kinds, so telling them apart costs one branch per leaf (a linear or scatter
 * buffer), and none per run.
 * OpenZFS: abd_iter_init(), abd_iter_map(), abd_iter_advance() in lib/libzpool/abd_os.c; theirs
 * stop at gangs, ours walks them.
 */
#ifndef ABD_ITER_H
#define ABD_ITER_H

#include "abd_gang.h"

struct abd_iter {
	char *addr; /* the span */
	size_t len;
	size_t left;             /* bytes to the end, the span's included */
	size_t leaf_left;        /* bytes of this leaf behind the span */
	const struct iovec *run; /* the run behind the span, if leaf_left > 0 */
	size_t run_step;         /* 1; 0 over zeros, whose one run repeats */
	/* the child behind this leaf, if left > len + leaf_left */
	const struct abd_gang_entry *entry;
	const char *writer; /* the call that writes; NULL: it reads */
};

/* Extend the span by runs that start where it ends. */
static inline void abd_iter_merge(struct abd_iter *iter)
{
	while (iter->leaf_left > 0 && iter->run->iov_base == iter->addr + iter->len) {
		size_t more = abd_min(iter->run->iov_len, iter->leaf_left);

		iter->len += more;
		iter->leaf_left -= more;
		iter->run += iter->run_step;
	}
}

/* Map the run at iter->run from byte within on. leaf_left counts from there, and is not 0. */
static inline void abd_iter_map(struct abd_iter *iter, size_t within)
{
	iter->addr = (char *)iter->run->iov_base + within;
	iter->len = abd_min(iter->run->iov_len - within, iter->leaf_left);
	iter->leaf_left -= iter->len;
	iter->run += iter->run_step;
	abd_iter_merge(iter);
}

/*
 * The rare cases return the cursor by value: its address is never given away, so the compiler may
 * keep it in registers across the calls of a loop's body.
 */
struct abd_iter abd_iter_zeros(struct abd_iter iter, const abd_t *zeros);

/* Start on size > 0 bytes of a linear or scatter buffer. */
static inline void abd_iter_leaf(struct abd_iter *iter, const abd_t *leaf, size_t off, size_t size)
{
	if (abd_is_linear(leaf)) {
		iter->addr = (char *)ABD_BUF(leaf) + off;
		iter->len = size;
		iter->leaf_left = 0;
		return;
	}
	iter->leaf_left = size;
	if (ABD_UNLIKELY(abd_is_zeros(leaf))) {
		*iter = abd_iter_zeros(*iter, leaf);
		return;
	}

	size_t within;
	size_t run = abd_scatter_seek(leaf, ABD_SCATTER(leaf).abd_offset + off, &within);

	iter->run = &ABD_SCATTER(leaf).abd_runs[run];
	iter->run_step = 1;
	abd_iter_map(iter, within);
}

static inline void abd_iter_child(struct abd_iter *iter, size_t within)
{
	assert(iter->entry != NULL);

	const struct abd_gang_entry *entry = iter->entry++;
	size_t size = abd_min(entry->size - within, iter->left);

	abd_iter_leaf(iter, entry->child, entry->child_off + within, size);
}

/* The entry that holds position at of a gang's table. Out of line: inlined, it slows other kinds.
 */
const struct abd_gang_entry *abd_iter_entry(const abd_t *gang, size_t at);

static inline void abd_iter_gang(struct abd_iter *iter, const abd_t *gang, size_t off)
{
	size_t at = ABD_GANG(gang).abd_offset + off;

	iter->entry = abd_iter_entry(gang, at);
	abd_iter_child(iter, at - iter->entry->start);
}

static inline void abd_iter_start(
	struct abd_iter *iter, const abd_t *abd, size_t off, size_t size, const char *writer)
{
	iter->left = size;
	iter->writer = writer;
	if (ABD_UNLIKELY(size == 0)) {
		iter->len = 0;
		iter->leaf_left = 0;
	} else if (ABD_UNLIKELY(abd_is_gang(abd))) {
		abd_iter_gang(iter, abd, off);
	} else {
		iter->entry = NULL;
		abd_iter_leaf(iter, abd, off, size);
	}
}

/**
 * Begin over bytes [off, off + size) of abd, which the caller has checked to be there, to read
 * them.
 */
static inline void abd_iter_begin(struct abd_iter *iter, const abd_t *abd, size_t off, size_t size)
{
	abd_iter_start(iter, abd, off, size, NULL);
}

/** The same, to write them. A buffer of zeros in the range breaks the contract of call. */
static inline void abd_iter_begin_write(
	struct abd_iter *iter, const char *call, abd_t *abd, size_t off, size_t size)
{
	abd_iter_start(iter, abd, off, size, call);
}

/** Begin over memory. */
static inline void abd_iter_flat(struct abd_iter *iter, char *flat, size_t size)
{
	iter->addr = flat;
	iter->len = iter->left = size;
	iter->leaf_left = 0;
}

/** Pass over n <= iter->len bytes. */
static inline void abd_iter_advance(struct abd_iter *iter, size_t n)
{
	assert(n <= iter->len);
	iter->left -= n;
	iter->addr += n;
	iter->len -= n;
	if (iter->len > 0)
		return;
	if (iter->leaf_left > 0)
		abd_iter_map(iter, 0);
	else if (iter->left > 0)
		abd_iter_child(iter, 0);
}

/**
 * A hint for fetching ahead: the run that follows the next n bytes; NULL if the span continues
 * behind them, or if the leaf ends. The next child of a gang is not looked up.
 */
static inline void *abd_iter_next(const struct abd_iter *iter, size_t n)
{
	return n == iter->len && iter->leaf_left > 0 ? iter->run->iov_base : NULL;
}

#endif
