/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table by which an intent and a size become a policy.
 * Invariant: a cell is NULL before the first call of all, and then always points to a policy which
 * this CPU has. So choosing costs one load and no lock, also while rows are measured or set, or a
 * policy is forced for all.
 */
#ifndef ABD_FLUSH_TABLE_H
#define ABD_FLUSH_TABLE_H

#include "abd_flush_policy.h"

#include "abd_contract.h"

#include <stdatomic.h>

#define ABD_FLUSH_INTENTS 3

/*
 * Columns: sizes up to 64 bytes, up to 128, and so on by doubling; the last one up to 16 MiB and
 * everything above.
 */
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

extern _Atomic(const struct abd_flush_policy *)
	abd_flush_cells[ABD_FLUSH_INTENTS][ABD_FLUSH_CLASSES] __attribute__((visibility("hidden")));

/** Fill the table and read the environment, once. */
void abd_flush_start(void);

/**
 * What a copy of size bytes with these flags uses. Contract: flags are known ones; call is named if
 * they are not.
 */
static inline const struct abd_flush_policy *abd_flush_choose(
	const char *call, size_t size, unsigned flags)
{
	unsigned intent = flags & ~(unsigned)ABD_FLUSH_NODRAIN, class = abd_flush_class(size);
	const struct abd_flush_policy *policy;

	ABD_REQUIRE_IN(call, intent < ABD_FLUSH_INTENTS, "flags %#x are not known", flags);
	policy = atomic_load_explicit(&abd_flush_cells[intent][class], memory_order_acquire);
	if (ABD_LIKELY(policy != NULL))
		return policy;
	abd_flush_start();
	return atomic_load_explicit(&abd_flush_cells[intent][class], memory_order_acquire);
}

/** What abd_flush_drain() fences with. */
const struct abd_flush_fence *abd_flush_fence(void);

/**
 * Use this policy, of abd_flush_policies() or the caller's own, for every copy from now on; NULL:
 * by the table.
 */
void abd_flush_force(const struct abd_flush_policy *policy);

/** One intent's row: each cell the place of a policy in abd_flush_policies(). */
void abd_flush_row_get(unsigned intent, uint8_t row[ABD_FLUSH_CLASSES]);

/** Write one intent's row: each cell the place of a policy in abd_flush_policies(). */
void abd_flush_row_set(unsigned intent, const uint8_t row[ABD_FLUSH_CLASSES]);

struct abd_tunables;

/** The tunables "flush", "flush_auto", "flush_shared" and "flush_exclusive". */
extern const struct abd_tunables abd_flush_tunables;

#endif
