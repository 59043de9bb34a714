/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table by which an intent and a size become a policy.
 * Invariant: a cell is one byte and always names a policy which this CPU has. So choosing costs a load or two and no lock,
 * also while the table is measured or set.
 */
#ifndef ABD_FLUSH_TABLE_H
#define ABD_FLUSH_TABLE_H

#include "abd_flush_policy.h"

#define ABD_FLUSH_INTENTS 3

/* Columns: sizes up to 64 bytes, up to 128, and so on by doubling; the last one up to 16 MiB and everything above. */
#define ABD_FLUSH_CLASSES 19

/** The column of a size. */
static inline unsigned abd_flush_class(size_t size)
{
	unsigned class = size <= ABD_LINE_SIZE ? 0 : abd_log2((size - 1) / ABD_LINE_SIZE) + 1;

	return class < ABD_FLUSH_CLASSES ? class : ABD_FLUSH_CLASSES - 1;
}

/** The largest size of a column. */
static inline size_t abd_flush_class_size(unsigned class)
{
	return ABD_LINE_SIZE << class;
}

/** What a copy of size bytes with these flags uses. Contract: flags are known ones; call is named if they are not. */
const struct abd_flush_policy *abd_flush_choose(const char *call, size_t size, unsigned flags);

/** What abd_flush_drain() fences with. */
const struct abd_flush_fence *abd_flush_fence(void);

/** Use this policy, of abd_flush_policies() or the caller's own, for every copy from now on; NULL: by the table. */
void abd_flush_force(const struct abd_flush_policy *policy);

/** Fill the table and read the environment, if that has not been done: calls do it on their own, before anything is set. */
void abd_flush_start(void);

/** Write one intent's row: each cell the place of a policy in abd_flush_policies(). */
void abd_flush_row_set(unsigned intent, const uint8_t row[ABD_FLUSH_CLASSES]);

struct abd_tunables;

/** The tunables "flush", "flush_auto", "flush_shared" and "flush_exclusive". */
extern const struct abd_tunables abd_flush_tunables;

#endif
