/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log file: create it, open it, check it against the device, map it. Its blocks are allocated
 * when it is made: a store to the mapping can't meet a full disk later.
 */
#include "log.h"

#include "folder.h"
#include "nbdkit_api.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t log_line_checksum(const void *line, uint64_t place)
{
	unsigned char copy[LOG_LINE];
	abd_t view;
	uint64_t checksum;

	memcpy(copy, line, sizeof(copy));
	abd_get_from_buf_struct(&view, copy, sizeof(copy));
	checksum = abd_xxh3(&view, sizeof(uint64_t), sizeof(copy) - sizeof(uint64_t), place);
	abd_free(&view);
	return checksum;
}

bool log_line_is_whole(const struct log *log, uint64_t place)
{
	uint64_t checksum;

	memcpy(&checksum, log->map + place, sizeof(checksum));
	return checksum == log_line_checksum(log->map + place, place);
}

void log_line_put(const struct log *log, void *line, uint64_t place)
{
	uint64_t checksum = log_line_checksum(line, place);
	abd_t view;

	memcpy(line, &checksum, sizeof(checksum));
	abd_get_from_buf_struct(&view, line, LOG_LINE);
	abd_flush_copy_to_buf_off(log->map + place, &view, 0, LOG_LINE, ABD_FLUSH_EXCLUSIVE);
	abd_free(&view);
}

static int cannot(const struct log *log, const char *what)
{
	nbdkit_error("%s: %s: %s", log->path, what, strerror(errno));
	return -1;
}

#define LOG_ZEROES ((uint64_t)1 << 20) /* at once */

/* ---- making one ------------------------------------------------------------------------------ */

static uint64_t segment_size_for(const struct params *params)
{
	return (params->log_size - LOG_HEAD) / LOG_SEGMENTS & ~(LOG_HEAD - 1);
}

/*
 * Write zeroes over the whole file: the first sync of a block that is only allocated turns it into
 * data, and each time that takes a journal commit.
 */
static int write_zeroes(int fd, uint64_t size)
{
	uint64_t place = 0;
	int error = 0;

	while (place < size && error == 0) {
		size_t now = (size_t)(size - place < LOG_ZEROES ? size - place : LOG_ZEROES);
		ssize_t put;
		abd_t zeros;

		if (abd_get_zeros_struct(&zeros, now) == NULL)
			return -1;
		put = abd_pwrite(fd, &zeros, 0, now, (off_t)place);
		abd_free(&zeros);
		error = put < 0 ? (int)put : 0;
		place += now;
	}
	if (error == 0)
		return 0;
	errno = -error;
	return -1;
}

static int write_line(int fd, void *line, uint64_t place)
{
	uint64_t checksum = log_line_checksum(line, place);

	memcpy(line, &checksum, sizeof(checksum));
	return pwrite(fd, line, LOG_LINE, (off_t)place) == (ssize_t)LOG_LINE ? 0 : -1;
}

/*
 * Create the log under another name until it is complete, so that a crash leaves no half-made log.
 */
static int write_new(int fd, const struct params *params, const struct log_device *device)
{
	uint64_t segment_size = segment_size_for(params);
	off_t size = (off_t)(LOG_HEAD + LOG_SEGMENTS * segment_size);
	struct log_super super = {.magic = LOG_MAGIC,
		.device_size = device->backing->size,
		.segment_size = segment_size,
		.block_size = device->block_size};
	struct log_hint hint = {0};

	errno = posix_fallocate(fd, 0, size);
	if (errno != 0 || write_zeroes(fd, (uint64_t)size) != 0)
		return -1;
	if (getrandom(super.id, sizeof(super.id), 0) != sizeof(super.id) ||
		write_line(fd, &super, 0) != 0 || write_line(fd, &hint, LOG_LINE) != 0)
		return -1;
	for (uint64_t i = 0; i < LOG_SEGMENTS; i++) {
		uint64_t place = LOG_HEAD + i * segment_size;
		struct log_segment_header header = {0};

		if (write_line(fd, &header, place) != 0)
			return -1;
	}
	return fsync(fd);
}

static int make_new(struct log *log, const struct params *params, const struct log_device *device)
{
	char name[4096];
	int size = snprintf(name, sizeof(name), "%s.new", log->path);

	if (size < 0 || (size_t)size >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return cannot(log, "can't make the log");
	}
	log->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log->fd < 0)
		return cannot(log, "can't make the log");
	if (write_new(log->fd, params, device) != 0 || rename(name, log->path) != 0 ||
		folder_sync(log->path) != 0) {
		cannot(log, "can't make the log");
		unlink(name);
		return -1;
	}
	log->is_new = true;
	return 0;
}

/* ---- opening one ----------------------------------------------------------------------------- */

static bool is_log_of(const struct log_super *super, const struct backing *backing)
{
	return backing->has_id && memcmp(super->id, backing->id, sizeof(super->id)) == 0;
}

/* Another device's log would be replayed into this one. */
static int check_super(struct log *log, const struct params *params,
	const struct log_device *device, struct log_super *super)
{
	uint64_t least = LOG_HEAD + LOG_SEGMENTS * LOG_HEAD;

	if (log->size >= least)
		memcpy(super, log->map, sizeof(*super));
	if (log->size < least || !log_line_is_whole(log, 0) || super->magic != LOG_MAGIC) {
		nbdkit_error("%s: not a log of this plugin, or its head is damaged", log->path);
		return -1;
	}
	if (super->segment_size > log->size || super->segment_size % LOG_HEAD != 0 ||
		log->size < LOG_HEAD + LOG_SEGMENTS * super->segment_size) {
		nbdkit_error(
			"%s: the log was cut: %" PRIu64 " bytes are left", log->path, log->size);
		return -1;
	}
	if (super->device_size != device->backing->size) {
		nbdkit_error("%s: the log is of a device of %" PRIu64 " bytes, but the backing "
			     "file has %" PRIu64,
			log->path, super->device_size, device->backing->size);
		return -1;
	}
	if (super->block_size != device->block_size) {
		nbdkit_error("%s: the log has blocks of %" PRIu64 " bytes; give block=%" PRIu64,
			log->path, super->block_size, super->block_size);
		return -1;
	}
	if (!log->is_new && !params->adopt && !is_log_of(super, device->backing)) {
		nbdkit_error("%s: the log belongs to another backing file than %s; if both were "
			     "copied or moved together, adopt=true lets them go together",
			log->path, device->backing->path);
		return -1;
	}
	memcpy(log->id, super->id, sizeof(log->id));
	return 0;
}

static int damaged(const struct log *log, uint64_t place)
{
	nbdkit_error("%s: the log is damaged at byte %" PRIu64 ", where it would say what had been "
		     "flushed. Nothing was changed; " LOG_REMEDY,
		log->path, place);
	return -1;
}

/*
 * Take the segments from their headers. A line lies within one sector, so no power failure tears
 * it. A header that is not whole was damaged: it may have said that flushed records follow.
 */
static int take_headers(struct log *log, uint64_t segment_size)
{
	if (!log_line_is_whole(log, LOG_LINE))
		return damaged(log, LOG_LINE);
	for (uint64_t i = 0; i < LOG_SEGMENTS; i++) {
		struct log_segment *segment = &log->segment[i];
		struct log_segment_header header;

		*segment = (struct log_segment){.start = LOG_HEAD + i * segment_size};
		segment->end = segment->start + segment_size;
		segment->tail = segment->synced = segment->start;
		if (!log_line_is_whole(log, segment->start))
			return damaged(log, segment->start);
		memcpy(&header, log->map + segment->start, sizeof(header));
		segment->sequence = header.sequence;
		segment->epoch = header.epoch;
		segment->live = header.live != 0;
		segment->other_epoch = header.other_epoch;
		segment->other_sequence = header.other_sequence;
		if (header.epoch > log->epoch)
			log->epoch = header.epoch;
		if (header.incarnation > log->incarnation)
			log->incarnation = header.incarnation;
	}
	return 0;
}

static int map_file(struct log *log)
{
	int protection = log->readonly ? PROT_READ : PROT_READ | PROT_WRITE;
	struct stat st;

	if (fstat(log->fd, &st) != 0)
		return cannot(log, "fstat");
	log->size = (uint64_t)st.st_size;
	if (log->size == 0) {
		nbdkit_error("%s: not a log of this plugin: it is empty", log->path);
		return -1;
	}
	/* MAP_SYNC is refused unless the file is persistent memory mapped directly. */
	log->map = mmap(NULL, log->size, protection, MAP_SHARED_VALIDATE | MAP_SYNC, log->fd, 0);
	log->needs_msync = log->map == MAP_FAILED ||
			   abd_flush_durability() != ABD_FLUSH_DURABILITY_PERSISTENCE;
	if (log->map == MAP_FAILED)
		log->map = mmap(NULL, log->size, protection, MAP_SHARED, log->fd, 0);
	if (log->map == MAP_FAILED) {
		log->map = NULL;
		return cannot(log, "can't map the log");
	}
	return 0;
}

/* Returns 1 if there is no log and none is needed. */
static int open_file(struct log *log, const struct params *params, const struct log_device *device)
{
	log->fd = open(log->path, (log->readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (log->fd < 0 && errno == ENOENT) {
		if (device->backing->has_id && !params->adopt) {
			nbdkit_error(
				"%s: the log of %s is missing, and writes that were flushed may "
				"be in it; adopt=true goes on without",
				log->path, device->backing->path);
			return -1;
		}
		if (log->readonly)
			return 1;
		if (make_new(log, params, device) != 0)
			return -1;
	}
	if (log->fd < 0)
		return cannot(log, "can't open the log");
	if (flock(log->fd, (log->readonly ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0)
		return cannot(log, "the log is in use by another server");
	return 0;
}

static void init_locks(struct log *log)
{
	pthread_mutex_init(&log->lock, NULL);
	pthread_cond_init(&log->room, NULL);
	pthread_cond_init(&log->work, NULL);
	pthread_mutex_init(&log->sync_lock, NULL);
	pthread_rwlock_init(&log->life, NULL);
}

int log_open(struct log *log, const struct params *params, const struct log_device *device)
{
	struct log_super super;
	int error;

	*log = (struct log){.path = params->log,
		.fd = -1,
		.readonly = params->readonly,
		.record_max = log_record_size(device->block_size)};
	init_locks(log);
	error = open_file(log, params, device);
	if (error == 0)
		error = map_file(log);
	else if (error == 1)
		return 0;
	if (error != 0 || check_super(log, params, device, &super) != 0 ||
		take_headers(log, super.segment_size) != 0) {
		log_discard(log);
		return -1;
	}
	return 0;
}

void log_close(struct log *log)
{
	if (log->map != NULL)
		munmap(log->map, log->size);
	if (log->fd >= 0)
		close(log->fd);
	log->map = NULL;
	log->fd = -1;
	pthread_rwlock_destroy(&log->life);
	pthread_mutex_destroy(&log->sync_lock);
	pthread_cond_destroy(&log->work);
	pthread_cond_destroy(&log->room);
	pthread_mutex_destroy(&log->lock);
}

void log_discard(struct log *log)
{
	if (log->is_new)
		unlink(log->path);
	log_close(log);
}
