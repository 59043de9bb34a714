/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device: reads, writes and zeroes of any range, block by block, over map, contents, cache, log
 * and backing file. README.md has the rules that hold between those.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "backing.h"
#include "cache.h"
#include "content.h"
#include "log.h"
#include "map.h"
#include "params.h"

struct device {
	const struct params *params;
	size_t block_size;
	uint64_t size;
	struct backing backing;
	struct log log;
	struct contents contents;
	struct map map;
	abd_arc_t *arc;
	pthread_t checkpointer;
	bool has_checkpointer;
	_Atomic uint64_t dedupe_hits, dedupe_refuted, checkpoint_blocks;
	_Atomic uint64_t fetches_file, fetches_log; /* blocks that the cache did not have */
};

/**
 * Open the files and replay the log. Starts no thread and nothing else that fork() would break.
 * Returns 0, or -1 after nbdkit_error().
 */
int device_open(struct device *device, const struct params *params);

/**
 * After fork(): start the cache and the checkpoint's thread. Returns 0, or -1 after nbdkit_error().
 */
int device_start(struct device *device);

/**
 * Write everything back and close. What can't be written back stays in the log, and is reported.
 */
void device_close(struct device *device);

/** Returns 0 or -errno. Ranges lie within the device. */
int device_read(struct device *device, void *dst, size_t size, uint64_t offset);

/** Returns 0 or -errno; after an error the range may hold old and new blocks. */
int device_write(struct device *device, const void *src, size_t size, uint64_t offset);

/** Returns 0 or -errno. */
int device_zero(struct device *device, uint64_t size, uint64_t offset);

/** Make all that was written before durable. Returns 0 or -errno. */
int device_flush(struct device *device);

/** Whether the block at offset reads as zeroes, as far as that is known without reading it. */
bool device_is_zero(struct device *device, uint64_t offset);

/* ---- between the device's files -------------------------------------------------------------- */

/** Bytes of a block that lie in the device: the whole block, except perhaps for the last one. */
size_t device_block_bytes(const struct device *device, uint64_t block);

/** If the cache does not have the block at offset, let the system begin to read the range. */
void device_read_ahead(struct device *device, uint64_t offset, uint64_t size);

/**
 * Read bytes [from, from + size) of a block into dst, through the cache: if it does not have them,
 * one of all who read the block fetches it. If the map did not know the block's content, it learns
 * it, unless memory is short.
 * Contract: no map lock is held. Returns 0 or -errno.
 */
int device_read_block(struct device *device, uint64_t block, void *dst, size_t from, size_t size);

/**
 * The same for this call alone: what the cache does not have is not put into it.
 * Contract: the block's map lock is held. Returns 0 or -errno.
 */
int device_load(struct device *device, uint64_t block, void *dst, size_t from, size_t size);

/**
 * The content of a block's bytes, with a reference for the caller; cached, not logged. NULL: no
 * memory.
 */
struct content *device_content(struct device *device, void *bytes);

/** Give up a reference. */
void device_put_content(struct device *device, struct content *content);

/** Empty a segment into the backing file. Returns 0 or -errno. */
int checkpoint_segment(struct device *device, struct log_segment *segment);

/** The thread that does that. */
void *checkpoint_main(void *device);

#endif
