/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: the blocks that the log holds go to the file, and the log begins again.
 *
 *   1  sync the log: a block that a power failure tears in the file must have its record
 *   2  write the newest state of every block to the file
 *   3  sync the file
 *   4  the file has these blocks from now on
 *   5  begin the log's next generation, durably, before anything is appended
 *
 * Whatever fails, the log keeps its records, and the next checkpoint begins with step 1. After a
 * crash the same steps follow, whichever of them the crash interrupted.
 */
#include "device.h"

#include <fcntl.h>
#include <unistd.h>

/* Neighbouring blocks of zeroes that are still to be written. */
struct zeroes {
	uint64_t block, count;
};

static int write_bytes(const struct device *device, uint64_t block, char bytes[BLOCK])
{
	ssize_t put;
	abd_t view;

	abd_get_from_buf_struct(&view, bytes, BLOCK);
	put = abd_pwrite(device->fd, &view, 0, BLOCK, (off_t)(block * BLOCK));
	abd_free(&view);
	return put < 0 ? (int)put : 0;
}

/* A hole reads as zeroes, and gives the space back. */
static int write_zeroes(const struct device *device, struct zeroes *run)
{
	char bytes[BLOCK] = {0};
	int error = 0;

	if (run->count == 0 ||
		fallocate(device->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)(run->block * BLOCK), (off_t)(run->count * BLOCK)) == 0)
		run->count = 0;
	for (; run->count > 0 && error == 0; run->count--)
		error = write_bytes(device, run->block++, bytes);
	return error;
}

static int write_record(
	const struct device *device, const struct log_record *record, uint64_t place)
{
	char bytes[BLOCK];
	int error = log_read(&device->log, place, bytes);

	return error == 0 ? write_bytes(device, record->block, bytes) : error;
}

static int write_newest(const struct device *device)
{
	const struct log *log = &device->log;
	struct zeroes run = {0, 0};
	int error = 0;

	for (uint64_t place = LOG_FIRST; place < log->tail && error == 0;
		place = log_next(log, place)) {
		const struct log_record *record = log_record(log, place);

		if (device->place[record->block] != place)
			continue; /* a later record has a newer state */
		if (record->kind != LOG_ZERO) {
			error = write_record(device, record, place);
		} else if (record->block == run.block + run.count) {
			run.count++;
		} else {
			error = write_zeroes(device, &run);
			run = (struct zeroes){record->block, 1};
		}
	}
	return error == 0 ? write_zeroes(device, &run) : error;
}

/* Under each block's lock: who reads a record has the lock, so nobody reads the log after this. */
static void forget_places(struct device *device)
{
	const struct log *log = &device->log;

	for (uint64_t place = LOG_FIRST; place < log->tail; place = log_next(log, place)) {
		uint64_t block = log_record(log, place)->block;

		pthread_mutex_lock(device_lock_of(device, block));
		device->place[block] = 0;
		pthread_mutex_unlock(device_lock_of(device, block));
	}
}

static int empty_log(struct device *device)
{
	int error = log_sync(&device->log);

	if (error == 0)
		error = write_newest(device);
	if (error == 0 && fdatasync(device->fd) != 0)
		error = -errno;
	if (error != 0)
		return error;
	forget_places(device);
	return log_begin_again(&device->log);
}

int checkpoint(struct device *device, bool always)
{
	int error = 0;

	pthread_rwlock_wrlock(&device->gate);
	/* Of all writers that met a full log, the first one empties it. */
	if (always || log_is_full(&device->log))
		error = empty_log(device);
	pthread_rwlock_unlock(&device->gate);
	return error;
}

int checkpoint_replay(struct device *device)
{
	const struct log *log = &device->log;

	for (uint64_t place = LOG_FIRST; place < log->tail; place = log_next(log, place)) {
		if (log_record(log, place)->block >= device->blocks)
			return -EBADMSG;
		device->place[log_record(log, place)->block] = place;
	}
	/*
	 * Even if the log is empty: whole records may lie behind a torn one, and in the next
	 * generation they never count.
	 */
	return checkpoint(device, true);
}
