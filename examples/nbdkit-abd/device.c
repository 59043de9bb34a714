/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing a device, and replaying its log into the map.
 */
#include "device.h"

#include "nbdkit_api.h"

#include <inttypes.h>
#include <string.h>

size_t device_block_bytes(const struct device *device, uint64_t block)
{
	uint64_t left = device->size - block * device->block_size;

	return left < device->block_size ? (size_t)left : device->block_size;
}

void device_put_content(struct device *device, struct content *content)
{
	abd_arc_key_t key = cache_key(content_put(&device->contents, content));

	if (key.dva[0] != 0)
		(void)abd_arc_remove(device->arc, &key);
}

/* ---- replay ---------------------------------------------------------------------------------- */

static void replay_set(
	struct device *device, uint64_t block, struct content *content, uint32_t epoch)
{
	struct map_entry *entry = &device->map.entry[block];

	content_put(&device->contents, entry->content);
	entry->content = content;
	entry->dirty = epoch;
}

/* The content that a record introduces (DATA) or refers to (SAME). */
static struct content *replay_content(
	struct device *device, const struct log_record *record, content_place_t place)
{
	struct content *content = NULL;

	if (record->type == LOG_SAME) {
		content = content_find(&device->contents, record->content);
		if (content != NULL && atomic_load(&content->place) == place)
			return content;
		content_put(&device->contents, content);
	}
	content = content_new(
		&device->contents, record->content, contents_next_id(&device->contents));
	if (content != NULL) {
		atomic_store(&content->place, place);
		content_list(&device->contents, content);
	}
	return content;
}

static int replay_record(void *arg, const struct log *log, const struct log_record *record,
	uint64_t place, uint32_t epoch)
{
	struct device *device = arg;
	uint64_t count = record->type == LOG_ZERO ? record->argument : 1;
	struct content *content;

	if (record->block >= device->map.blocks || count > device->map.blocks - record->block) {
		nbdkit_error("%s: record %" PRIu64 " is of a block that the device does not have",
			log->path, record->sequence);
		return -EBADMSG;
	}
	if (record->type == LOG_ZERO) {
		for (uint64_t i = 0; i < count; i++)
			replay_set(device, record->block + i, &device->contents.zero, epoch);
		return 0;
	}
	content = replay_content(device, record,
		log_place(epoch, record->type == LOG_SAME ? record->argument : place));
	if (content == NULL)
		return -ENOMEM;
	replay_set(device, record->block, content, epoch);
	return 0;
}

/* ---- open, start, close ---------------------------------------------------------------------- */

static int open_memory(struct device *device)
{
	uint64_t blocks = (device->size + device->block_size - 1) / device->block_size;

	if (map_init(&device->map, blocks) == 0 && contents_init(&device->contents, blocks) == 0)
		return 0;
	nbdkit_error("no address space for the map of %" PRIu64 " blocks", blocks);
	return -1;
}

static int replay(struct device *device)
{
	int error = log_replay(&device->log, replay_record, device);

	if (error == -ENOMEM)
		nbdkit_error("%s: no memory to replay the log", device->log.path);
	return error == 0 ? 0 : -1;
}

int device_open(struct device *device, const struct params *params)
{
	struct log_device fits;

	*device = (struct device){.params = params, .block_size = params->block_size};
	if (backing_open(&device->backing, params) != 0)
		return -1;
	device->size = device->backing.size;
	fits = (struct log_device){&device->backing, device->block_size};
	if (log_open(&device->log, params, &fits) != 0)
		goto no_log;
	if (open_memory(device) != 0 || replay(device) != 0)
		goto no_replay;
	if (!params->readonly && backing_set_id(&device->backing, device->log.id) != 0)
		goto no_replay;
	return 0;

no_replay:
	contents_fini(&device->contents);
	map_fini(&device->map);
	log_discard(&device->log);
no_log:
	backing_discard(&device->backing);
	return -1;
}

int device_start(struct device *device)
{
	int error = 0;

	device->arc = cache_open(device->params->cache_size, device->block_size);
	if (device->arc == NULL)
		error = -errno;
	if (error == 0 && !device->params->readonly) {
		error = -pthread_create(&device->checkpointer, NULL, checkpoint_main, device);
		device->has_checkpointer = error == 0;
	}
	if (error != 0)
		nbdkit_error("can't start: %s", strerror(-error));
	return error == 0 ? 0 : -1;
}

/* Both segments, the older one first. */
static int write_back(struct device *device)
{
	struct log_segment *segment = log_full_segment(&device->log);
	int error = 0;

	if (segment != NULL)
		error = checkpoint_segment(device, segment);
	if (error == 0) {
		segment = log_seal(&device->log);
		if (segment != NULL)
			error = checkpoint_segment(device, segment);
	}
	return error;
}

static void say_counters(struct device *device)
{
	struct abd_arc_stats stats;

	if (device->arc == NULL || abd_arc_stats_get(device->arc, &stats, sizeof(stats)) != 0)
		return;
	nbdkit_debug("abd: cache hits %" PRIu64 " misses %" PRIu64 " evictions %" PRIu64
		     " stored %" PRIu64 " logical %" PRIu64,
		stats.hits, stats.misses, stats.evictions, stats.stored_bytes, stats.logical_bytes);
	nbdkit_debug("abd: records data %" PRIu64 " same %" PRIu64 " zero %" PRIu64
		     " payload %" PRIu64 " syncs %" PRIu64,
		device->log.data_records, device->log.same_records, device->log.zero_records,
		device->log.payload_bytes, device->log.syncs);
	nbdkit_debug("abd: fetches file %" PRIu64 " log %" PRIu64, device->fetches_file,
		device->fetches_log);
	nbdkit_debug("abd: dedupe hits %" PRIu64 " refuted %" PRIu64 ", checkpoint blocks %" PRIu64,
		device->dedupe_hits, device->dedupe_refuted, device->checkpoint_blocks);
}

void device_close(struct device *device)
{
	if (device->has_checkpointer) {
		log_stop(&device->log);
		pthread_join(device->checkpointer, NULL);
		int error = write_back(device);

		if (error != 0)
			nbdkit_error("%s: not everything could be written back (%s); the rest is "
				     "in the log, %s, and is replayed at the next start",
				device->backing.path, strerror(-error), device->log.path);
	}
	say_counters(device);
	abd_arc_destroy(device->arc);
	contents_fini(&device->contents);
	map_fini(&device->map);
	log_close(&device->log);
	backing_close(&device->backing);
}

int device_flush(struct device *device)
{
	return log_sync(&device->log);
}
