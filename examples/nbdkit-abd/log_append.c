/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appending and syncing.
 *
 * Payloads are checksummed before the log's lock is taken, and copied under it (8 KiB in 0.7 us:
 * docs/flush.md): so records become complete in the order of their sequence numbers, and the log
 * has no holes. One fence per record, after header and payload.
 */
#include "log.h"

#include "nbdkit_api.h"

#include <string.h>
#include <sys/mman.h>

/* ---- room ------------------------------------------------------------------------------------ */

static struct log_segment *other(struct log *log, const struct log_segment *segment)
{
	return segment == &log->segment[0] ? &log->segment[1] : &log->segment[0];
}

/*
 * A segment's header also names the other segment: if the other header is lost, replay notices.
 * Under lock.
 */
static void put_header(
	struct log *log, const struct log_segment *segment, struct log_segment_header *header)
{
	const struct log_segment *beside = other(log, segment);

	if (beside->live) {
		header->other_epoch = beside->epoch;
		header->other_sequence = beside->sequence;
	}
	log_line_put(log, header, segment->start);
}

/* Begin to fill a free segment. Under lock. */
static void begin_segment(struct log *log, struct log_segment *segment)
{
	struct log_segment_header header = {.sequence = log->sequence,
		.epoch = ++log->epoch,
		.incarnation = log->incarnation,
		.live = 1};
	put_header(log, segment, &header);
	segment->tail = segment->start + LOG_LINE;
	segment->synced = segment->start;
	segment->sequence = log->sequence;
	segment->epoch = log->epoch;
	segment->live = true;
	log->active = segment;
}

static bool has_room(const struct log *log)
{
	const struct log_segment *active = log->active;

	return active != NULL && active->end - active->tail >= log->reserved &&
	       active->end - active->tail - log->reserved >= log->record_max;
}

/* Wait until a checkpoint has ended. Under lock. */
static int wait_for_checkpoint(struct log *log)
{
	uint64_t before = log->checkpoints;

	log->wanted = true;
	pthread_cond_signal(&log->work);
	while (log->checkpoints == before && log->error == 0 && !log->stopping)
		pthread_cond_wait(&log->room, &log->lock);
	if (log->error != 0)
		return log->error;
	return log->stopping ? -ESHUTDOWN : log->checkpoint_error;
}

/* Put the other segment into the active one's place, once that is free. Under lock. */
static int change_segment(struct log *log)
{
	struct log_segment *next = log->active != NULL ? other(log, log->active) : &log->segment[0];

	if (next->live)
		return wait_for_checkpoint(log);
	begin_segment(log, next);
	if (other(log, next)->live) {
		log->wanted = true;
		pthread_cond_signal(&log->work);
	}
	return 0;
}

int log_reserve(struct log *log)
{
	int error;

	pthread_mutex_lock(&log->lock);
	error = log->error;
	while (error == 0 && !has_room(log))
		error = change_segment(log);
	if (error == 0)
		log->reserved += log->record_max;
	pthread_mutex_unlock(&log->lock);
	return error;
}

void log_unreserve(struct log *log)
{
	pthread_mutex_lock(&log->lock);
	log->reserved -= log->record_max;
	pthread_mutex_unlock(&log->lock);
}

/* ---- appending ------------------------------------------------------------------------------- */

/* Whether the content's bytes are in the active segment. Under lock. */
static bool in_active(const struct log *log, content_place_t place)
{
	return log->active != NULL && place >> 32 == log->active->epoch;
}

/* Fill the record for entry, except for the fields that depend on its place. Under lock. */
static int fill_record(const struct log *log, const struct log_entry *entry,
	uint64_t payload_checksum, struct log_record *record)
{
	*record = (struct log_record){.sequence = log->sequence,
		.durable = atomic_load(&log->durable),
		.block = entry->block,
		.incarnation = log->incarnation,
		.type = (uint32_t)entry->type};
	if (entry->type == LOG_ZERO) {
		record->argument = entry->count;
		return 0;
	}
	content_place_t place = atomic_load(&entry->content->place);

	record->content = entry->content->checksum;
	if (in_active(log, place)) {
		record->type = LOG_SAME;
		record->argument = (place & UINT32_MAX) * LOG_LINE;
		return 0;
	}
	if (entry->payload == NULL)
		return -EAGAIN;
	record->type = LOG_DATA;
	record->argument = payload_checksum;
	record->payload_size = (uint32_t)entry->payload_size;
	record->compressed = entry->compressed;
	return 0;
}

/* Payload, header, fence. Under lock. */
static void put_record(struct log *log, const struct log_entry *entry, struct log_record *record)
{
	struct log_segment *segment = log->active;
	uint64_t place = segment->tail;

	if (record->type == LOG_DATA)
		abd_flush_copy_to_buf_off(log->map + place + LOG_LINE, entry->payload, 0,
			entry->payload_size, ABD_FLUSH_EXCLUSIVE | ABD_FLUSH_NODRAIN);
	log_line_put(log, record, place); /* drains both */
	if (record->type == LOG_DATA)     /* from now on log_pin() may read it */
		atomic_store(&entry->content->place, log_place(segment->epoch, place));
	segment->tail += log_record_size(record->payload_size);
	log->sequence++;
	log->reserved -= log->record_max;
}

static void count_record(struct log *log, const struct log_record *record)
{
	_Atomic uint64_t *count = record->type == LOG_DATA   ? &log->data_records
				  : record->type == LOG_SAME ? &log->same_records
							     : &log->zero_records;

	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&log->payload_bytes, record->payload_size, memory_order_relaxed);
}

int log_append(struct log *log, const struct log_entry *entry, uint32_t *epoch)
{
	uint64_t payload_checksum = 0;
	struct log_record record;
	int error;

	if (entry->payload != NULL)
		payload_checksum = abd_xxh3(entry->payload, 0, entry->payload_size, 0);
	pthread_mutex_lock(&log->lock);
	error = log->error;
	if (error == 0)
		error = fill_record(log, entry, payload_checksum, &record);
	if (error == 0) {
		put_record(log, entry, &record);
		*epoch = log->active->epoch;
	} else if (error != -EAGAIN) {
		log->reserved -= log->record_max;
	}
	pthread_mutex_unlock(&log->lock);
	if (error == 0)
		count_record(log, &record);
	return error;
}

/* ---- syncing --------------------------------------------------------------------------------- */

static int sync_range(const struct log *log, uint64_t from, uint64_t to)
{
	uint64_t start = from & ~(LOG_HEAD - 1);

	if (!log->needs_msync || from == to)
		return 0;
	return msync(log->map + start, to - start, MS_SYNC) == 0 ? 0 : -errno;
}

/*
 * After this nobody can say what the file holds: the operating system may have dropped pages that
 * it could not write.
 */
static void fail(struct log *log, int error)
{
	nbdkit_error("%s: the log failed (%s): no more writes until it is opened again", log->path,
		strerror(-error));
	pthread_mutex_lock(&log->lock);
	log->error = -EIO;
	pthread_cond_broadcast(&log->room);
	pthread_mutex_unlock(&log->lock);
}

/* Copies of the live segments, the older one first, and the sequence number that they reach. */
static unsigned take_segments(
	struct log *log, struct log_segment copy[LOG_SEGMENTS], uint64_t *sequence, int *error)
{
	unsigned count = 0;

	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].live)
			copy[count++] = log->segment[i];
	*sequence = log->sequence;
	*error = log->error;
	pthread_mutex_unlock(&log->lock);
	if (count == 2 && copy[0].epoch > copy[1].epoch) {
		struct log_segment swap = copy[0];

		copy[0] = copy[1];
		copy[1] = swap;
	}
	return count;
}

static void mark_synced(struct log *log, const struct log_segment *copy)
{
	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].live && log->segment[i].epoch == copy->epoch)
			log->segment[i].synced = copy->tail;
	pthread_mutex_unlock(&log->lock);
}

/* Under sync_lock. */
static int sync_all(struct log *log)
{
	struct log_segment copy[LOG_SEGMENTS];
	struct log_hint hint = {0};
	uint64_t sequence;
	int error;
	unsigned count = take_segments(log, copy, &sequence, &error);

	for (unsigned i = 0; i < count && error == 0; i++) {
		error = sync_range(log, copy[i].synced, copy[i].tail);
		if (error != 0)
			fail(log, error);
		else
			mark_synced(log, &copy[i]);
	}
	if (error != 0)
		return -EIO;
	atomic_store(&log->durable, sequence);
	atomic_fetch_add_explicit(&log->syncs, 1, memory_order_relaxed);
	hint.durable = sequence;
	log_line_put(log, &hint, LOG_LINE);
	return 0;
}

int log_sync(struct log *log)
{
	uint64_t target;
	int error;

	pthread_mutex_lock(&log->lock);
	target = log->sequence;
	error = log->error;
	pthread_mutex_unlock(&log->lock);
	if (error != 0)
		return error;

	pthread_mutex_lock(&log->sync_lock);
	if (atomic_load(&log->durable) < target)
		error = sync_all(log); /* for all who wait behind us, too */
	pthread_mutex_unlock(&log->sync_lock);
	return error;
}

/* ---- segments come and go -------------------------------------------------------------------- */

struct log_segment *log_full_segment(struct log *log)
{
	struct log_segment *full = NULL;

	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].live && &log->segment[i] != log->active)
			full = &log->segment[i];
	pthread_mutex_unlock(&log->lock);
	return full;
}

struct log_segment *log_seal(struct log *log)
{
	struct log_segment *sealed;

	pthread_mutex_lock(&log->lock);
	sealed = log->active;
	log->active = NULL;
	pthread_mutex_unlock(&log->lock);
	return sealed;
}

/* Nobody reads the segment's records any more, or will. */
static void write_free_header(struct log *log, const struct log_segment *segment)
{
	struct log_segment_header header = {.epoch = segment->epoch, .live = 0};

	pthread_rwlock_wrlock(&log->life);
	pthread_mutex_lock(&log->lock);
	header.sequence = log->sequence;
	header.incarnation = log->incarnation;
	put_header(log, segment, &header);
	atomic_store(&log->oldest, segment->epoch + 1);
	pthread_mutex_unlock(&log->lock);
	pthread_rwlock_unlock(&log->life);
}

int log_free_segment(struct log *log, struct log_segment *segment)
{
	int error;

	pthread_mutex_lock(&log->sync_lock);
	write_free_header(log, segment);
	error = sync_range(log, segment->start, segment->start + LOG_LINE);
	if (error != 0)
		fail(log, error);
	/*
	 * The segment is free only now: a crash must never leave the old header before new records.
	 */
	pthread_mutex_lock(&log->lock);
	segment->live = error != 0;
	pthread_mutex_unlock(&log->lock);
	pthread_mutex_unlock(&log->sync_lock);
	return error == 0 ? 0 : -EIO;
}

/* ---- the checkpoint's thread ----------------------------------------------------------------- */

bool log_wait_for_work(struct log *log)
{
	bool go_on;

	pthread_mutex_lock(&log->lock);
	while (!log->wanted && !log->stopping)
		pthread_cond_wait(&log->work, &log->lock);
	log->wanted = false;
	go_on = !log->stopping;
	pthread_mutex_unlock(&log->lock);
	return go_on;
}

void log_checkpoint_done(struct log *log, int error)
{
	pthread_mutex_lock(&log->lock);
	log->checkpoint_error = error;
	log->checkpoints++;
	pthread_cond_broadcast(&log->room);
	pthread_mutex_unlock(&log->lock);
}

void log_stop(struct log *log)
{
	pthread_mutex_lock(&log->lock);
	log->stopping = true;
	pthread_cond_broadcast(&log->work);
	pthread_cond_broadcast(&log->room);
	pthread_mutex_unlock(&log->lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

int log_pin(struct log *log, const struct content *content, abd_t *payload, bool *compressed)
{
	struct log_record record;
	content_place_t where;
	uint64_t place;
	int error = -ENOENT;

	pthread_rwlock_rdlock(&log->life);
	where = atomic_load(&content->place);
	if (where == 0 || where >> 32 < atomic_load(&log->oldest))
		goto fail;
	place = (where & UINT32_MAX) * LOG_LINE;
	memcpy(&record, log->map + place, sizeof(record));
	error = -EBADMSG; /* somebody else wrote to the file */
	if (!log_line_is_whole(log, place) || record.type != LOG_DATA ||
		record.content != content->checksum ||
		log_record_size(record.payload_size) > log->record_max ||
		!log_payload_is_whole(log, &record, place))
		goto fail;
	*compressed = record.compressed != 0;
	abd_get_from_buf_struct(payload, log->map + place + LOG_LINE, record.payload_size);
	return 0;

fail:
	pthread_rwlock_unlock(&log->life);
	return error;
}

void log_unpin(struct log *log, abd_t *payload)
{
	abd_free(payload);
	pthread_rwlock_unlock(&log->life);
}
