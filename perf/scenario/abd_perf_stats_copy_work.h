/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to fill a caller's struct, laid out as struct statx was in 2017. The caller's address can't
 * be trusted, so every way but one, which shows what the guard costs, checks it.
 *
 * The guard in Linux was put_user(): check the address, allow the kernel to write to user memory,
 * store, forbid it again. A process has no such switch, so the guard here is only the check and the
 * call: the least that a guard can cost.
 * Invariant: all ways write the same 256 bytes; the reserved ones are zero.
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

/* The caller's struct. */
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

/* The values to store, in another struct with other widths, as struct kstat in Linux. */
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
