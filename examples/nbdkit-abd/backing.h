/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backing file: a raw image, the device's blocks one after another, which any tool can read
 * once the log is empty.
 * Invariant: the file is at least size bytes long while it is open; if somebody truncates it, reads
 * return -EIO.
 */
#ifndef BACKING_H
#define BACKING_H

#include "params.h"

#include <abd/abd.h>

struct backing {
	int fd;
	const char *path; /* params' */
	uint64_t size;    /* of the device */
	uint64_t id[2];   /* of the log that belongs to it */
	bool has_id;
	bool is_new; /* made just now */
};

/**
 * Open the file, or create it when params has a size for it. Returns 0, or -1 after nbdkit_error().
 */
int backing_open(struct backing *backing, const struct params *params);

/**
 * Record that this file and this log belong together. Returns 0, or -1 after nbdkit_error(): a file
 * system without attributes can't tell which log belongs to a file.
 */
int backing_set_id(struct backing *backing, const uint64_t id[2]);

void backing_close(struct backing *backing);

/** Close the file, and remove it if backing_open() created it: the device could not be opened. */
void backing_discard(struct backing *backing);

/**
 * Read size bytes at offset into dst [0, size). Returns 0 or -errno; -EIO, after nbdkit_error(), if
 * the file ends early.
 */
int backing_read(const struct backing *backing, abd_t *dst, uint64_t offset, size_t size);

/** Let the system begin to read a range of which the parts will be read one after another. */
void backing_read_ahead(const struct backing *backing, uint64_t offset, uint64_t size);

/** Write src [0, size) at offset. Returns 0 or -errno. Not durable before backing_sync(). */
int backing_write(const struct backing *backing, const abd_t *src, uint64_t offset, size_t size);

/**
 * Make a range read as zero, giving its space back where the file system can. Returns 0 or -errno.
 */
int backing_zero(const struct backing *backing, uint64_t offset, uint64_t size);

/** Make all that was written durable. Returns 0 or -errno. */
int backing_sync(const struct backing *backing);

/** Whether a range is known to be a hole of the file. */
bool backing_is_hole(const struct backing *backing, uint64_t offset, uint64_t size);

#endif
