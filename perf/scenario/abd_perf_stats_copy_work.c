/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All ways use one list of fields, so that they store the same.
 */
#include "abd_perf_stats_copy_work.h"

#include <assert.h>
#include <string.h>

/*
 * The review of the source's patch asked for this: without padding, no stray bytes can leak to the
 * caller.
 */
static_assert(sizeof(struct abd_perf_stats_time) == 8 + 4 + 4, "a time has no padding");
static_assert(sizeof(struct abd_perf_stats_record) ==
		      2 * 4 + 8 + 3 * 4 + 2 * 2 + 4 * 8 + 4 * 16 + 4 * 4 + 14 * 8,
	"the record has no padding");
static_assert(sizeof(struct abd_perf_stats_record) == 256, "the record is as large as statx's");

/* X(field, its value): all fields but the times and the reserved ones */
#define ABD_PERF_STATS_FIELDS(X)                    \
	X(mask, known->mask)                        \
	X(blksize, known->blksize)                  \
	X(attributes, known->attributes)            \
	X(nlink, known->nlink)                      \
	X(uid, known->uid)                          \
	X(gid, known->gid)                          \
	X(mode, (uint16_t)known->mode)              \
	X(ino, known->ino)                          \
	X(size, known->size)                        \
	X(blocks, known->blocks)                    \
	X(attributes_mask, known->attributes_mask)  \
	X(atime.seconds, known->seconds[0])         \
	X(atime.nanoseconds, known->nanoseconds[0]) \
	X(btime.seconds, known->seconds[1])         \
	X(btime.nanoseconds, known->nanoseconds[1]) \
	X(ctime.seconds, known->seconds[2])         \
	X(ctime.nanoseconds, known->nanoseconds[2]) \
	X(mtime.seconds, known->seconds[3])         \
	X(mtime.nanoseconds, known->nanoseconds[3]) \
	X(rdev_major, known->rdev_major)            \
	X(rdev_minor, known->rdev_minor)            \
	X(dev_major, known->dev_major)              \
	X(dev_minor, known->dev_minor)

/* Reserved fields; a way that does not zero the whole struct must zero each. */
#define ABD_PERF_STATS_RESERVED(X) \
	X(reserved)                \
	X(atime.reserved)          \
	X(btime.reserved)          \
	X(ctime.reserved)          \
	X(mtime.reserved)          \
	X(spare)

/* ---- the guard ------------------------------------------------------------------------------- */

/* The end of the caller's addresses; as in a kernel, not known to the compiler. */
static volatile uintptr_t abd_perf_stats_limit = UINTPTR_MAX / 2;

static inline bool abd_perf_stats_allowed(const void *to, size_t size)
{
	uintptr_t limit = abd_perf_stats_limit;

	return (uintptr_t)to < limit && size <= limit - (uintptr_t)to;
}

/*
 * Not inlined, as in a kernel, where it has thousands of callers. The size is constant, so the copy
 * becomes one store.
 */
#define ABD_PERF_STATS_PUT(bytes)                                         \
	static __attribute__((noinline)) bool abd_perf_stats_put_##bytes( \
		void *to, const void *from)                               \
	{                                                                 \
		if (!abd_perf_stats_allowed(to, bytes))                   \
			return false;                                     \
		memcpy(to, from, bytes);                                  \
		return true;                                              \
	}

ABD_PERF_STATS_PUT(2)
ABD_PERF_STATS_PUT(4)
ABD_PERF_STATS_PUT(8)
ABD_PERF_STATS_PUT(256)

static inline bool abd_perf_stats_put(void *to, const void *from, size_t size)
{
	return size == 2   ? abd_perf_stats_put_2(to, from)
	       : size == 4 ? abd_perf_stats_put_4(to, from)
			   : abd_perf_stats_put_8(to, from);
}

static __attribute__((noinline)) bool abd_perf_stats_clear(void *to, size_t size)
{
	if (!abd_perf_stats_allowed(to, size))
		return false;
	memset(to, 0, size);
	return true;
}

/* ---- the ways -------------------------------------------------------------------------------- */

static bool abd_perf_stats_guarded(
	struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known)
{
#define X(field, value)                                                          \
	{                                                                        \
		__typeof__(to->field) stored = value;                            \
		if (!abd_perf_stats_put(&to->field, &stored, sizeof(to->field))) \
			return false;                                            \
	}
	ABD_PERF_STATS_FIELDS(X)
#undef X
#define X(field)                                                  \
	if (!abd_perf_stats_clear(&to->field, sizeof(to->field))) \
		return false;
	ABD_PERF_STATS_RESERVED(X)
#undef X
	return true;
}

static bool abd_perf_stats_memset(
	struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known)
{
	struct abd_perf_stats_record record;

	memset(&record, 0, sizeof(record));
#define X(field, value) record.field = value;
	ABD_PERF_STATS_FIELDS(X)
#undef X
	return abd_perf_stats_put_256(to, &record);
}

static bool abd_perf_stats_initialiser(
	struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known)
{
#define X(field, value) .field = value,
	const struct abd_perf_stats_record record = {ABD_PERF_STATS_FIELDS(X)};
#undef X

	return abd_perf_stats_put_256(to, &record);
}

/* If the caller's memory could be trusted: no guard, no copy. */
static bool abd_perf_stats_trusting(
	struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known)
{
	memset(to, 0, sizeof(*to));
#define X(field, value) to->field = value;
	ABD_PERF_STATS_FIELDS(X)
#undef X
	return true;
}

const struct abd_perf_stats_way abd_perf_stats_ways[ABD_PERF_STATS_WAYS] = {
	{"guarded stores", abd_perf_stats_guarded},
	{"memset, one copy", abd_perf_stats_memset},
	{"initialiser, one copy", abd_perf_stats_initialiser},
	{"in place, no guard", abd_perf_stats_trusting},
};
