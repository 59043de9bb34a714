/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads, writes and zeroes, block by block.
 *
 * A write of a whole block finds its content before it takes any lock; a part of a block is put
 * together under its map lock. Room in the log is reserved before the map lock is taken: a thread
 * that waits for a checkpoint must not hold a lock that the checkpoint needs.
 */
#include "device.h"

#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

int device_read(struct device *device, void *dst, size_t size, uint64_t offset)
{
	char *to = dst;
	int error = 0;

	if (size > device->block_size)
		device_read_ahead(device, offset, size);
	while (size > 0 && error == 0) {
		size_t from = (size_t)(offset % device->block_size);
		size_t now = device->block_size - from < size ? device->block_size - from : size;

		error = device_read_block(device, offset / device->block_size, to, from, now);
		to += now;
		offset += now;
		size -= now;
	}
	return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Append entry with its content's bytes: as the cache has them, which compressed them; plain if it
 * does not.
 */
static int append_bytes(
	struct device *device, struct log_entry *entry, void *bytes, uint32_t *epoch)
{
	abd_arc_key_t key = cache_key(entry->content->id);
	abd_arc_hold_t hold;
	abd_t plain;
	int error;

	if (abd_arc_hold(device->arc, &key, &hold) == 0) {
		entry->payload = hold.abd;
		entry->payload_size = hold.stored_size;
		entry->compressed = hold.compressed;
		error = log_append(&device->log, entry, epoch);
		abd_arc_release(&hold);
	} else {
		abd_get_from_buf_struct(&plain, bytes, device->block_size);
		entry->payload = &plain;
		entry->payload_size = device->block_size;
		error = log_append(&device->log, entry, epoch);
		abd_free(&plain);
	}
	return error;
}

/*
 * Record that block holds content, whose bytes are given, in log and map. Under its map lock, with
 * a reservation that is used up.
 */
static int record_content(
	struct device *device, uint64_t block, struct content *content, void *bytes)
{
	struct log_entry entry = {.type = LOG_DATA, .block = block, .count = 1, .content = content};
	struct map_entry *mapped = &device->map.entry[block];
	struct content *old = mapped->content;
	uint32_t epoch = 0;
	int error;

	if (content == &device->contents.zero)
		entry.type = LOG_ZERO;
	error = log_append(&device->log, &entry, &epoch);
	if (error == -EAGAIN)
		error = append_bytes(device, &entry, bytes, &epoch);
	if (error != 0)
		return error;
	content_get(&device->contents, content);
	*mapped = (struct map_entry){.content = content, .dirty = epoch};
	device_put_content(device, old);
	return 0;
}

static int write_whole(struct device *device, uint64_t block, void *bytes)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	struct content *content = device_content(device, bytes);
	int error;

	if (content == NULL)
		return -ENOMEM;
	error = log_reserve(&device->log);
	if (error == 0) {
		pthread_rwlock_wrlock(lock);
		error = record_content(device, block, content, bytes);
		pthread_rwlock_unlock(lock);
	}
	device_put_content(device, content);
	return error;
}

/*
 * Write a part of a block: src at from, or zeroes if src is NULL. Under its map lock, with a
 * reservation that is used up.
 */
static int merge(struct device *device, uint64_t block, abd_t *whole, const void *src, size_t from,
	size_t size)
{
	int error = device_load(device, block, abd_to_buf(whole), 0, device->block_size);
	struct content *content;

	if (error == 0 && src != NULL)
		abd_copy_from_buf_off(whole, src, from, size);
	else if (error == 0)
		abd_zero_off(whole, from, size);
	content = error == 0 ? device_content(device, abd_to_buf(whole)) : NULL;
	if (content == NULL) {
		log_unreserve(&device->log);
		return error != 0 ? error : -ENOMEM;
	}
	error = record_content(device, block, content, abd_to_buf(whole));
	device_put_content(device, content);
	return error;
}

static int write_part(
	struct device *device, uint64_t block, const void *src, size_t from, size_t size)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	abd_t *whole = abd_alloc_linear(device->block_size, false);
	int error;

	if (whole == NULL)
		return -ENOMEM;
	error = log_reserve(&device->log);
	if (error == 0) {
		pthread_rwlock_wrlock(lock);
		error = merge(device, block, whole, src, from, size);
		pthread_rwlock_unlock(lock);
	}
	abd_free(whole);
	return error;
}

/* Buffers take no const memory. Those that are made from it here are only read. */
static void *unconst(const void *bytes)
{
	return (void *)(uintptr_t)bytes;
}

int device_write(struct device *device, const void *src, size_t size, uint64_t offset)
{
	const char *bytes = src;
	int error = 0;

	while (size > 0 && error == 0) {
		uint64_t block = offset / device->block_size;
		size_t from = (size_t)(offset % device->block_size);
		size_t now = device->block_size - from < size ? device->block_size - from : size;

		if (now == device->block_size)
			error = write_whole(device, block, unconst(bytes));
		else
			error = write_part(device, block, bytes, from, now);
		bytes += now;
		offset += now;
		size -= now;
	}
	return error;
}

/* ---- zeroes ---------------------------------------------------------------------------------- */

/* Blocks of one group. */
static int zero_group(struct device *device, uint64_t block, uint64_t count)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	struct log_entry entry = {.type = LOG_ZERO, .block = block, .count = count};
	uint32_t epoch = 0;
	int error = log_reserve(&device->log);

	if (error != 0)
		return error;
	pthread_rwlock_wrlock(lock);
	error = log_append(&device->log, &entry, &epoch);
	for (uint64_t i = 0; i < count && error == 0; i++) {
		struct map_entry *mapped = &device->map.entry[block + i];
		struct content *old = mapped->content;

		*mapped = (struct map_entry){.content = &device->contents.zero, .dirty = epoch};
		device_put_content(device, old);
	}
	pthread_rwlock_unlock(lock);
	return error;
}

/*
 * How much of a range the next step zeroes: a part of a block, or whole blocks up to the group's
 * end.
 */
static uint64_t zero_step(const struct device *device, uint64_t offset, uint64_t size)
{
	uint64_t block_size = device->block_size, group_size = MAP_GROUP * block_size;
	uint64_t to_block = block_size - offset % block_size;
	uint64_t to_group = group_size - offset % group_size;

	if (offset % block_size != 0 || size < block_size)
		return to_block < size ? to_block : size;
	return to_group < size ? to_group : size / block_size * block_size;
}

int device_zero(struct device *device, uint64_t size, uint64_t offset)
{
	int error = 0;

	while (size > 0 && error == 0) {
		uint64_t block = offset / device->block_size;
		uint64_t now = zero_step(device, offset, size);

		if (now % device->block_size == 0)
			error = zero_group(device, block, now / device->block_size);
		else
			error = write_part(device, block, NULL,
				(size_t)(offset % device->block_size), (size_t)now);
		offset += now;
		size -= now;
	}
	return error;
}

bool device_is_zero(struct device *device, uint64_t offset)
{
	uint64_t block = offset / device->block_size;
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	const struct content *content;

	pthread_rwlock_rdlock(lock);
	content = device->map.entry[block].content;
	pthread_rwlock_unlock(lock);
	if (content != NULL)
		return content == &device->contents.zero;
	return backing_is_hole(
		&device->backing, block * device->block_size, device_block_bytes(device, block));
}
