/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening, reading and writing. A reader looks in the cache. If the block is not there, one reader
 * fetches it from the log or the file into the cache's own memory, and all others wait for that. A
 * write goes to the log, and drops the block from the cache.
 *
 * Why no read returns what was there before a write that was answered: the write drops the block
 * when its record is in place, and that also overtakes a fill of the block that has begun. Its
 * commit then stores nothing and answers -ESTALE, and all who waited look again. So a reader needs
 * no lock while it reads the file, and no write waits for it.
 */
#include "device.h"

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static abd_arc_key_t key_of(uint64_t block)
{
	return (abd_arc_key_t){.dva = {block, 0}};
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_file(struct device *device)
{
	struct stat st;

	device->fd = open(device->path, O_RDWR | O_CLOEXEC);
	if (device->fd < 0 || fstat(device->fd, &st) != 0 ||
		flock(device->fd, LOCK_EX | LOCK_NB) != 0) {
		nbdkit_error("%s: %s", device->path,
			errno == EWOULDBLOCK ? "in use by another server" : strerror(errno));
		return -1;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0 || st.st_size % (off_t)BLOCK != 0) {
		nbdkit_error(
			"%s: not a regular file of a multiple of %zu bytes", device->path, BLOCK);
		return -1;
	}
	device->blocks = (uint64_t)st.st_size / BLOCK;
	return 0;
}

static void close_files(struct device *device)
{
	if (device->fd >= 0)
		close(device->fd);
	log_close(&device->log);
	free(device->place);
	device->place = NULL;
}

int device_open(struct device *device, const char *path, uint64_t log_size)
{
	char *log_path;
	int error;

	*device = (struct device){.path = path, .gate = PTHREAD_RWLOCK_INITIALIZER};
	for (unsigned i = 0; i < DEVICE_LOCKS; i++)
		pthread_mutex_init(&device->lock[i], NULL);
	if (open_file(device) != 0)
		goto fail;
	device->place = calloc(device->blocks, sizeof(uint64_t));
	if (device->place == NULL || asprintf(&log_path, "%s.log", path) < 0) {
		nbdkit_error("no memory for %llu blocks", (unsigned long long)device->blocks);
		goto fail;
	}
	if (log_open(&device->log, log_path, device->blocks * BLOCK, log_size) != 0)
		goto fail;
	error = checkpoint_replay(device);
	if (error == 0)
		return 0;
	nbdkit_error("%s: can't be brought to the file: %s", device->log.path, strerror(-error));

fail:
	close_files(device);
	return -1;
}

int device_start(struct device *device, size_t cache_size)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = cache_size,
		.expected_entries = cache_size / BLOCK};

	device->arc = abd_arc_create(&config);
	return device->arc != NULL ? 0 : -errno;
}

static void say_counters(const struct device *device)
{
	struct abd_arc_stats stats = {0};

	(void)abd_arc_stats_get(device->arc, &stats, sizeof(stats));
	nbdkit_debug("abd: %llu hits, %llu misses; %llu bytes are cached in %llu",
		(unsigned long long)stats.hits, (unsigned long long)stats.misses,
		(unsigned long long)stats.logical_bytes, (unsigned long long)stats.stored_bytes);
}

void device_close(struct device *device)
{
	int error = checkpoint(device, true);

	if (error != 0)
		nbdkit_error("%s: not everything could be written (%s); the rest is in the log, "
			     "and comes to the file at the next start",
			device->path, strerror(-error));
	if (device->arc != NULL)
		say_counters(device);
	abd_arc_destroy(device->arc);
	close_files(device);
}

int device_flush(struct device *device)
{
	return log_sync(&device->log);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_file(const struct device *device, uint64_t block, abd_t *dst)
{
	ssize_t got = abd_pread(device->fd, dst, 0, BLOCK, (off_t)(block * BLOCK));

	if (got >= 0 && got < (ssize_t)BLOCK)
		nbdkit_error("%s: the file was cut", device->path);
	return got < 0 ? (int)got : got < (ssize_t)BLOCK ? -EIO : 0;
}

/* Copy the payload as it is: the cache keeps it so, compressed or not. Under the block's lock. */
static size_t copy_from_log(
	const struct device *device, uint64_t place, abd_t *dst, unsigned *flags)
{
	const struct log_record *record = log_record(&device->log, place);
	size_t size = record->payload_size;
	abd_t payload;

	*flags = record->kind == LOG_LZ4 ? ABD_ARC_STORED : ABD_ARC_PLAIN;
	if (record->kind == LOG_ZERO) {
		*flags = 0;
		abd_zero(dst, BLOCK);
		return BLOCK;
	}
	log_payload(&device->log, place, &payload);
	abd_copy(dst, &payload, size);
	abd_free(&payload);
	return size;
}

static int fill_in(
	struct device *device, uint64_t block, abd_arc_fill_t *fill, abd_arc_hold_t *hold)
{
	pthread_mutex_t *lock = device_lock_of(device, block);
	size_t size = BLOCK;
	unsigned flags = 0;
	uint64_t place;
	int error = 0;

	pthread_mutex_lock(lock);
	place = device->place[block];
	if (place != 0)
		size = copy_from_log(device, place, fill->abd, &flags);
	pthread_mutex_unlock(lock);
	if (place == 0)
		error = read_file(device, block, fill->abd);
	if (error == 0)
		return abd_arc_fill_commit(fill, size, BLOCK, flags, hold);
	abd_arc_fill_abandon(fill);
	return error;
}

/* Read the whole block, and leave the cache as it is. Under the block's lock. */
static int load(struct device *device, uint64_t block, char dst[BLOCK])
{
	abd_arc_key_t key = key_of(block);
	uint64_t place = device->place[block];
	abd_t view;
	int error;

	if (abd_arc_read_flags(device->arc, &key, dst, 0, BLOCK, ABD_ARC_NO_TOUCH) >= 0)
		return 0;
	if (place != 0)
		return log_read(&device->log, place, dst);
	abd_get_from_buf_struct(&view, dst, BLOCK);
	error = read_file(device, block, &view);
	abd_free(&view);
	return error;
}

/* Read a block that the cache has no room for. */
static int read_beside(struct device *device, uint64_t block, void *dst, size_t from, size_t size)
{
	char bytes[BLOCK];
	int error;

	pthread_mutex_lock(device_lock_of(device, block));
	error = load(device, block, bytes);
	pthread_mutex_unlock(device_lock_of(device, block));
	if (error == 0)
		memcpy(dst, bytes + from, size);
	return error;
}

static int read_block(struct device *device, uint64_t block, void *dst, size_t from, size_t size)
{
	abd_arc_key_t key = key_of(block);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	ssize_t got;
	int error;

	do {
		error = abd_arc_hold_or_fill(device->arc, &key, BLOCK, 0, &hold, &fill);
		if (error == 1)
			error = fill_in(device, block, &fill, &hold);
	} while (error == -ESTALE);
	if (error == -ENOSPC || error == -ENOMEM)
		return read_beside(device, block, dst, from, size);
	if (error != 0)
		return error;
	got = abd_arc_hold_read(&hold, dst, from, size);
	abd_arc_release(&hold);
	return got >= 0 ? 0 : got == -EBADMSG ? -EIO : (int)got;
}

/* The blocks of a request are read one after the other: let the system begin with all of them. */
static void read_ahead(struct device *device, size_t size, uint64_t offset)
{
	abd_arc_key_t key = key_of(offset / BLOCK);

	if (size > BLOCK && !abd_arc_contains(device->arc, &key))
		(void)posix_fadvise(device->fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

int device_read(struct device *device, void *dst, size_t size, uint64_t offset)
{
	char *to = dst;
	int error = 0;

	read_ahead(device, size, offset);
	while (size > 0 && error == 0) {
		size_t from = (size_t)(offset % BLOCK);
		size_t now = BLOCK - from < size ? BLOCK - from : size;

		error = read_block(device, offset / BLOCK, to, from, now);
		to += now;
		offset += now;
		size -= now;
	}
	return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Append a record with the block as lz4, if that saves an eighth. */
static int append(struct device *device, uint64_t block, const abd_t *plain, uint64_t *place)
{
	char bytes[BLOCK - BLOCK / 8];
	abd_t packed;
	ssize_t size;
	int error;

	if (abd_cmp_zero(plain, BLOCK) == 0)
		return log_append(&device->log, LOG_ZERO, block, NULL, place);
	abd_get_from_buf_struct(&packed, bytes, sizeof(bytes));
	size = abd_lz4_compress(&packed, plain, 0, 0, BLOCK);
	abd_free(&packed);
	if (size < 0)
		return log_append(&device->log, LOG_PLAIN, block, plain, place);
	abd_get_from_buf_struct(&packed, bytes, (size_t)size);
	error = log_append(&device->log, LOG_LZ4, block, &packed, place);
	abd_free(&packed);
	return error;
}

/* Write a part of a block, or all of it. Under the block's lock. */
static int write_locked(
	struct device *device, uint64_t block, const char *src, size_t from, size_t size)
{
	char bytes[BLOCK];
	int error = size < BLOCK ? load(device, block, bytes) : 0;
	abd_arc_key_t key = key_of(block);
	uint64_t place;
	abd_t plain;

	if (error != 0)
		return error;
	memcpy(bytes + from, src, size);
	abd_get_from_buf_struct(&plain, bytes, BLOCK);
	error = append(device, block, &plain, &place);
	abd_free(&plain);
	if (error != 0)
		return error;
	device->place[block] = place;
	(void)abd_arc_remove(device->arc, &key); /* -ENOENT: it overtakes a fill all the same */
	return 0;
}

static int write_block(
	struct device *device, uint64_t block, const char *src, size_t from, size_t size)
{
	int error;

	do {
		pthread_rwlock_rdlock(&device->gate);
		pthread_mutex_lock(device_lock_of(device, block));
		error = write_locked(device, block, src, from, size);
		pthread_mutex_unlock(device_lock_of(device, block));
		pthread_rwlock_unlock(&device->gate);
		if (error != -EAGAIN)
			return error;
		error = checkpoint(device, false);
	} while (error == 0);
	return error;
}

int device_write(struct device *device, const void *src, size_t size, uint64_t offset)
{
	static const char zeroes[BLOCK];
	const char *bytes = src;
	int error = 0;

	while (size > 0 && error == 0) {
		size_t from = (size_t)(offset % BLOCK);
		size_t now = BLOCK - from < size ? BLOCK - from : size;

		error = write_block(
			device, offset / BLOCK, src != NULL ? bytes : zeroes, from, now);
		bytes += src != NULL ? now : 0;
		offset += now;
		size -= now;
	}
	return error;
}
