/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: a full segment's blocks go to the backing file, then the segment is free.
 *
 *   1  sync the log: a block that is torn in the backing file must have its record
 *   2  write every block whose newest record lies in the segment
 *   3  sync the backing file
 *   4  sync the log: what superseded the segment's other records must not be lost when they
 *      are
 *   5  the blocks are clean; free the segment
 *
 * Invariant: whatever fails, the segment stays live, its blocks stay dirty, and the next checkpoint
 * begins with step 1.
 */
#include "device.h"

#include "nbdkit_api.h"

#include <string.h>

struct pass {
	struct device *device;
	abd_t *whole;
};

/*
 * Make one hole for all neighbouring zeroed blocks, from *block on, that are still to be written.
 */
static int write_zeroes(struct device *device, uint64_t block, uint64_t count, uint32_t epoch)
{
	uint64_t done = 0;
	int error = 0;

	while (done < count && error == 0) {
		struct map_entry *entry = &device->map.entry[block + done];
		uint64_t run = 0;

		while (done + run < count && entry[run].dirty == epoch && !entry[run].written &&
			entry[run].content == &device->contents.zero)
			run++;
		if (run > 0) {
			uint64_t offset = (block + done) * device->block_size;
			uint64_t size = run * device->block_size;

			if (size > device->size - offset)
				size = device->size - offset;
			error = backing_zero(&device->backing, offset, size);
		}
		for (uint64_t i = 0; i < run && error == 0; i++)
			entry[i].written = true;
		done += run > 0 ? run : 1;
	}
	return error;
}

static int write_block(struct pass *pass, uint64_t block, uint32_t epoch)
{
	struct device *device = pass->device;
	struct map_entry *entry = &device->map.entry[block];
	int error;

	/* The block was zeroed since: that record comes later, and makes a hole. */
	if (entry->dirty != epoch || entry->written || entry->content == &device->contents.zero)
		return 0;
	error = device_load(device, block, abd_to_buf(pass->whole), 0, device->block_size);
	if (error == 0)
		error = backing_write(&device->backing, pass->whole, block * device->block_size,
			device_block_bytes(device, block));
	if (error == 0) {
		entry->written = true;
		atomic_fetch_add_explicit(&device->checkpoint_blocks, 1, memory_order_relaxed);
	}
	return error;
}

static int visit_write(void *arg, const struct log *log, const struct log_record *record,
	uint64_t place, uint32_t epoch)
{
	struct pass *pass = arg;
	pthread_rwlock_t *lock = map_lock_of(&pass->device->map, record->block);
	int error;

	(void)log;
	(void)place;
	pthread_rwlock_wrlock(lock);
	if (record->type == LOG_ZERO)
		error = write_zeroes(pass->device, record->block, record->argument, epoch);
	else
		error = write_block(pass, record->block, epoch);
	pthread_rwlock_unlock(lock);
	return error;
}

/* Mark the blocks that were written as clean, if synced; else they will be written again. */
static void settle(struct pass *pass, const struct log_record *record, uint32_t epoch, bool synced)
{
	pthread_rwlock_t *lock = map_lock_of(&pass->device->map, record->block);
	uint64_t count = record->type == LOG_ZERO ? record->argument : 1;

	pthread_rwlock_wrlock(lock);
	for (uint64_t i = 0; i < count; i++) {
		struct map_entry *entry = &pass->device->map.entry[record->block + i];

		if (entry->dirty == epoch && entry->written) {
			entry->written = false;
			if (synced)
				entry->dirty = 0;
		}
	}
	pthread_rwlock_unlock(lock);
}

static int visit_clean(void *arg, const struct log *log, const struct log_record *record,
	uint64_t place, uint32_t epoch)
{
	(void)log;
	(void)place;
	settle(arg, record, epoch, true);
	return 0;
}

static int visit_again(void *arg, const struct log *log, const struct log_record *record,
	uint64_t place, uint32_t epoch)
{
	(void)log;
	(void)place;
	settle(arg, record, epoch, false);
	return 0;
}

int checkpoint_segment(struct device *device, struct log_segment *segment)
{
	struct pass pass = {device, abd_alloc_linear(device->block_size, false)};
	struct log *log = &device->log;
	int error = -ENOMEM;

	if (pass.whole == NULL)
		return error;
	error = log_sync(log);
	if (error == 0)
		error = log_walk(log, segment, visit_write, &pass);
	if (error == 0)
		error = backing_sync(&device->backing);
	if (error == 0)
		error = log_sync(log);
	log_walk(log, segment, error == 0 ? visit_clean : visit_again, &pass);
	abd_free(pass.whole);
	if (error == 0)
		error = log_free_segment(log, segment);
	return error;
}

void *checkpoint_main(void *arg)
{
	struct device *device = arg;

	while (log_wait_for_work(&device->log)) {
		struct log_segment *full = log_full_segment(&device->log);
		int error = full != NULL ? checkpoint_segment(device, full) : 0;

		if (error != 0)
			nbdkit_error("%s: writing the log back: %s", device->backing.path,
				strerror(-error));
		log_checkpoint_done(&device->log, error);
	}
	return NULL;
}
