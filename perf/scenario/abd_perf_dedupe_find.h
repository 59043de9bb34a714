/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding duplicate extents, as duperemove does: hash, sort, and prove byte for byte what has the
 * same hash.
 *
 * Files are cut into extents at multiples of the extent size; the last may be shorter. An extent is
 * a duplicate when an earlier one has its bytes. Where a file has no such extents, every position
 * is tried: a window of a whole extent's size is a shifted duplicate when an earlier extent, which
 * it doesn't overlap, has its bytes. The search goes from left to right and on behind what it
 * found. So each byte is counted once, and always in favour of something earlier: what is counted
 * could be saved.
 *
 * Source: linux-fsdevel, "vfs: Optimize dedupe comparison", Jul 2021: the proof was the cost.
 */
#ifndef ABD_PERF_DEDUPE_FIND_H
#define ABD_PERF_DEDUPE_FIND_H

#include "abd_perf_dedupe_files.h"

enum { ABD_PERF_ALIGNED, ABD_PERF_SHIFTED, ABD_PERF_KINDS };

struct abd_perf_extent {
	uint64_t hash;
	/* 0 for the last of a file, which is never looked for elsewhere if it is short */
	uint64_t roll;
	size_t off;
	uint32_t file;
	uint32_t size;
	bool duplicate;
};

/* A duplicate whose bytes were compared: destination equals source. */
struct abd_perf_proof {
	size_t src_off, dst_off;
	uint32_t src_file, dst_file;
	uint32_t size;
	uint32_t kind;
};

struct abd_perf_find {
	struct abd_perf_fileset *set;
	size_t extent_size;
	uint64_t hash_mask; /* for tests: a poor hash, whose collisions the proofs must sort out */
	struct abd_perf_extent *extent;
	size_t count, room;
	struct abd_perf_proof *proof;
	size_t proofs, proof_room;

	size_t files; /* read whole */
	uint64_t bytes;
	size_t duplicates[ABD_PERF_KINDS];
	uint64_t duplicate_bytes[ABD_PERF_KINDS];
	size_t collisions; /* same hash, other bytes */
	size_t changed;    /* was something else when it was hashed */

	/* CPU time */
	double read_ns, hash_ns, roll_ns, scan_ns, proof_read_ns[ABD_PERF_KINDS], proof_ns;

	abd_t *buf[2]; /* scattered, of 4 KiB runs */
	abd_t *window; /* linear, for the search byte by byte */
};

/** Get ready to search set. Ends the program where there is no memory. */
void abd_perf_find_make(struct abd_perf_find *find, struct abd_perf_fileset *set,
	size_t extent_size, uint64_t seed);
void abd_perf_find_free(struct abd_perf_find *find);

/** The three steps. Each ends early when asked to stop; what was found until then is true. */
void abd_perf_find_hash(struct abd_perf_find *find);
void abd_perf_find_aligned(struct abd_perf_find *find);
void abd_perf_find_shifted(struct abd_perf_find *find);

#endif
