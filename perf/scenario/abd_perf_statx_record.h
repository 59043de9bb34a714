/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to fill a caller's record: 23 fields and what is spare, as struct statx in 2017. All of them
 * check the caller's address, which can't be trusted, and store the same 256 bytes.
 */
#ifndef ABD_PERF_STATX_RECORD_H
#define ABD_PERF_STATX_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t spare;
};

struct statx_record {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	struct statx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare[14];
};

/* What the review asked to be stated: without padding, no stray bytes can leak to the caller. */
static_assert(sizeof(struct statx_record) ==
		      2 * 4 + 8 + 3 * 4 + 2 * 2 + 4 * 8 + 4 * (8 + 4 + 4) + 4 * 4 + 14 * 8,
	"the record has no padding");
static_assert(sizeof(struct statx_record) == 256, "the record is as large as statx's");

/* Where the values come from: another struct with other widths, as struct kstat in Linux. */
struct statx_known {
	uint64_t ino, size, blocks, attributes, attributes_mask;
	int64_t sec[4];
	uint32_t nsec[4], mask, blksize, nlink, uid, gid, mode, rdev[2], dev[2];
};

/* X(field, its value); the ways use one list, so that they store the same. */
#define STATX_FIELDS(X)                            \
	X(mask, known->mask)                       \
	X(blksize, known->blksize)                 \
	X(attributes, known->attributes)           \
	X(nlink, known->nlink)                     \
	X(uid, known->uid)                         \
	X(gid, known->gid)                         \
	X(mode, (uint16_t)known->mode)             \
	X(ino, known->ino)                         \
	X(size, known->size)                       \
	X(blocks, known->blocks)                   \
	X(attributes_mask, known->attributes_mask) \
	X(atime.sec, known->sec[0])                \
	X(atime.nsec, known->nsec[0])              \
	X(btime.sec, known->sec[1])                \
	X(btime.nsec, known->nsec[1])              \
	X(ctime.sec, known->sec[2])                \
	X(ctime.nsec, known->nsec[2])              \
	X(mtime.sec, known->sec[3])                \
	X(mtime.nsec, known->nsec[3])              \
	X(rdev_major, known->rdev[0])              \
	X(rdev_minor, known->rdev[1])              \
	X(dev_major, known->dev[0])                \
	X(dev_minor, known->dev[1])
#define STATX_SPARE(X) \
	X(spare0)      \
	X(atime.spare) \
	X(btime.spare) \
	X(ctime.spare) \
	X(mtime.spare) \
	X(spare)

/* The end of the caller's addresses; as in a kernel, not known to the compiler. */
static volatile uintptr_t statx_limit = UINTPTR_MAX / 2;

/* Not inlined, as in a kernel, where it has thousands of callers. The size is constant there. */
#define STATX_GUARDED(name, size, store)                                                  \
	static __attribute__((noinline)) bool name(void *to, const void *from)            \
	{                                                                                 \
		if ((uintptr_t)to >= statx_limit || statx_limit - (uintptr_t)to < (size)) \
			return false;                                                     \
		store;                                                                    \
		return true;                                                              \
	}

STATX_GUARDED(statx_put_2, 2, memcpy(to, from, 2))
STATX_GUARDED(statx_put_4, 4, memcpy(to, from, 4))
STATX_GUARDED(statx_put_8, 8, memcpy(to, from, 8))
STATX_GUARDED(statx_put_112, 112, memcpy(to, from, 112))
STATX_GUARDED(statx_put_all, 256, memcpy(to, from, 256))

static inline bool statx_put(void *to, const void *from, size_t size)
{
	return size == 2   ? statx_put_2(to, from)
	       : size == 4 ? statx_put_4(to, from)
	       : size == 8 ? statx_put_8(to, from)
			   : statx_put_112(to, from);
}

static bool statx_stores(struct statx_record *to, const struct statx_known *known)
{
	static const uint64_t zero[14];

#define X(field, value)                                                 \
	{                                                               \
		__typeof__(to->field) stored = value;                   \
		if (!statx_put(&to->field, &stored, sizeof(to->field))) \
			return false;                                   \
	}
	STATX_FIELDS(X)
#undef X
#define X(field)                                             \
	if (!statx_put(&to->field, zero, sizeof(to->field))) \
		return false;
	STATX_SPARE(X)
#undef X
	return true;
}

static bool statx_memset(struct statx_record *to, const struct statx_known *known)
{
	struct statx_record record;

	memset(&record, 0, sizeof(record));
#define X(field, value) record.field = value;
	STATX_FIELDS(X)
#undef X
	return statx_put_all(to, &record);
}

static bool statx_initialiser(struct statx_record *to, const struct statx_known *known)
{
#define X(field, value) .field = value,
	const struct statx_record record = {STATX_FIELDS(X)};
#undef X

	return statx_put_all(to, &record);
}

#endif
