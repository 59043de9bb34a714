/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device: blocks that lie in a raw file, unless the log has a newer state; and the cache, which
 * has what was read lately. README.md has the rules that hold between the three.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "log.h"

#define DEVICE_LOCKS 256

struct device {
	const char *path; /* the caller's */
	int fd;
	uint64_t blocks;
	struct log log;
	abd_arc_t *arc;

	/*
	 * A block's lock: held while its newest record is appended or read. place is the record of
	 * each block, 0: the file has its newest state.
	 */
	pthread_mutex_t lock[DEVICE_LOCKS];
	uint64_t *place;

	/*
	 * Taken before the locks of blocks. Writers share it; a checkpoint, which writes the file
	 * and empties the log, is alone with readers.
	 */
	pthread_rwlock_t gate;
};

/**
 * Open file and log, and bring what the log has to the file. Starts no thread and no cache, so that
 * the process may fork. path must last until device_close(). Returns 0, or -1 after nbdkit_error().
 */
int device_open(struct device *device, const char *path, uint64_t log_size);

/** Start the cache. Returns 0 or -errno. */
int device_start(struct device *device, size_t cache_size);

/** Bring the log to the file and close. What can't be written stays in the log, and is reported. */
void device_close(struct device *device);

/** Returns 0 or -errno. Ranges lie within the device, here and below. */
int device_read(struct device *device, void *dst, size_t size, uint64_t offset);

/**
 * Write src, or zeroes if that is NULL. Returns 0 or -errno; after an error the range may hold old
 * and new blocks.
 */
int device_write(struct device *device, const void *src, size_t size, uint64_t offset);

/** Make durable what was written before. Returns 0 or -errno. */
int device_flush(struct device *device);

/* ---- between device.c and checkpoint.c ------------------------------------------------------- */

static inline pthread_mutex_t *device_lock_of(struct device *device, uint64_t block)
{
	return &device->lock[block % DEVICE_LOCKS];
}

/** Take in all records of a log that was just opened, and make a checkpoint. Returns 0 or -errno.
 */
int checkpoint_replay(struct device *device);

/** If the log is full, or if always, empty it. Returns 0 or -errno: then nothing is lost. */
int checkpoint(struct device *device, bool always);

#endif
