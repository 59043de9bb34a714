/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to fill a caller's record, laid out as statx()'s of 2017 was. The caller's memory is not to
 * be trusted, so each way into it is guarded by a check of the address.
 *
 * The guard in Linux was put_user(): check the address, let the kernel write to user memory, store,
 * forbid it again. A process has no such switch, so only the check and the call are here: the least
 * that a guard can cost.
 * Invariant: all ways leave the same 256 bytes, the reserved ones zero.
 */
#ifndef ABD_PERF_STATS_COPY_WORK_H
#define ABD_PERF_STATS_COPY_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct abd_perf_stats_time {
	int64_t seconds;
	uint32_t nanoseconds;
	int32_t reserved;
};

/* The caller's record. */
struct abd_perf_stats_record {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, reserved;
	uint64_t ino, size, blocks, attributes_mask;
	struct abd_perf_stats_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare[14];
};

/* What is known: another struct, with other widths; Linux: struct kstat. */
struct abd_perf_stats_known {
	uint64_t ino, size, blocks, attributes, attributes_mask;
	int64_t seconds[4];
	uint32_t nanoseconds[4];
	uint32_t mask, blksize, nlink, uid, gid, mode;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
};

struct abd_perf_stats_way {
	const char *name;
	/* False: the guard refused. */
	bool (*fill)(struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known);
};

enum { ABD_PERF_STATS_WAYS = 4 };
extern const struct abd_perf_stats_way abd_perf_stats_ways[ABD_PERF_STATS_WAYS];

#endif
