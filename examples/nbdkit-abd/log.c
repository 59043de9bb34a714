/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log file: made, opened, appended to, synced. log.h has its format.
 */
#include "log.h"

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t checksum_of(const void *bytes, size_t off, size_t size, uint64_t seed)
{
	abd_t view;
	uint64_t checksum;

	/* Buffers take no const memory; this one is only read. */
	abd_get_from_buf_struct(&view, (void *)(uintptr_t)bytes, size);
	checksum = abd_xxh3(&view, off, size - off, seed);
	abd_free(&view);
	return checksum;
}

static uint64_t line_checksum(const void *line, uint64_t seed)
{
	return checksum_of(line, sizeof(uint64_t), LOG_LINE, seed);
}

/* If the log is in persistent memory, the line is durable, and all that was flush-copied before. */
static void put_line(struct log *log, uint64_t place, void *line, uint64_t seed)
{
	uint64_t checksum = line_checksum(line, seed);
	abd_t view;

	memcpy(line, &checksum, sizeof(checksum));
	abd_get_from_buf_struct(&view, line, LOG_LINE);
	abd_flush_copy_to_buf_off(log->map + place, &view, 0, LOG_LINE, ABD_FLUSH_EXCLUSIVE);
	abd_free(&view);
}

/* ---- making one ------------------------------------------------------------------------------ */

/*
 * Zeroes take the file's blocks from the disk now: a store to the mapping can't meet a full disk
 * later.
 */
static int write_new(int fd, uint64_t size, struct log_head *head)
{
	ssize_t put;
	abd_t view;

	if (abd_get_zeros_struct(&view, size) == NULL)
		return -errno;
	put = abd_pwrite(fd, &view, 0, size, 0);
	abd_free(&view);
	if (put < 0)
		return (int)put;
	head->checksum = line_checksum(head, 0);
	abd_get_from_buf_struct(&view, head, sizeof(*head));
	put = abd_pwrite(fd, &view, 0, sizeof(*head), 0);
	abd_free(&view);
	if (put < 0)
		return (int)put;
	return fsync(fd) == 0 ? 0 : -errno;
}

/* The name of a new file is durable when its folder is synced. */
static int sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, (size_t)(slash - path) + 1);
	int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = fd >= 0 && fsync(fd) == 0 ? 0 : -errno;

	if (fd >= 0)
		close(fd);
	free(folder);
	return error;
}

/* The file gets its name when it is complete: a crash leaves no half-made log. */
static int make_new(const struct log *log, uint64_t device_size, uint64_t size)
{
	struct log_head head = {.magic = LOG_MAGIC, .log_size = size, .device_size = device_size};
	char *name;
	int fd, error = -EIO;

	if (asprintf(&name, "%s.new", log->path) < 0)
		return -ENOMEM;
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		error = -errno;
	if (fd >= 0 && getrandom(&head.generation, sizeof(uint64_t), 0) == sizeof(uint64_t))
		error = write_new(fd, size, &head);
	if (error == 0 && rename(name, log->path) != 0)
		error = -errno;
	if (error == 0)
		error = sync_folder(log->path);
	else
		unlink(name);
	if (fd >= 0)
		close(fd);
	free(name);
	return error;
}

/* ---- opening one ----------------------------------------------------------------------------- */

static int map_file(struct log *log, int fd)
{
	int protection = PROT_READ | PROT_WRITE;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	log->size = (uint64_t)st.st_size;
	/* MAP_SYNC is refused unless the file is persistent memory. */
	log->map = mmap(NULL, log->size, protection, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	log->needs_msync = log->map == MAP_FAILED ||
			   abd_flush_durability() != ABD_FLUSH_DURABILITY_PERSISTENCE;
	if (log->map == MAP_FAILED)
		log->map = mmap(NULL, log->size, protection, MAP_SHARED, fd, 0);
	if (log->map != MAP_FAILED)
		return 0;
	log->map = NULL;
	return -errno;
}

static int check_head(struct log *log, uint64_t device_size)
{
	struct log_head head = {0};

	if (log->size >= LOG_SIZE_MIN)
		memcpy(&head, log->map, sizeof(head));
	if (head.magic != LOG_MAGIC || head.checksum != line_checksum(&head, 0) ||
		head.log_size != log->size) {
		nbdkit_error("%s: not a log of this plugin, or it is damaged; remove it to go on "
			     "without what is in it",
			log->path);
		return -1;
	}
	if (head.device_size != device_size) {
		nbdkit_error("%s: the log of a device of %" PRIu64 " bytes, not %" PRIu64,
			log->path, head.device_size, device_size);
		return -1;
	}
	log->generation = head.generation;
	return 0;
}

static bool is_whole(const struct log *log, uint64_t place)
{
	struct log_record record;

	if (log->size - place < LOG_RECORD_MAX)
		return false;
	memcpy(&record, log->map + place, sizeof(record));
	if (record.checksum != line_checksum(&record, log->generation + place))
		return false;
	if (record.kind == LOG_ZERO || record.payload_size == 0 || record.payload_size > BLOCK)
		return record.kind == LOG_ZERO && record.payload_size == 0;
	return record.payload_checksum ==
	       checksum_of(log->map + place + LOG_LINE, 0, record.payload_size, 0);
}

static void find_end(struct log *log)
{
	log->tail = LOG_FIRST;
	while (is_whole(log, log->tail))
		log->tail = log_next(log, log->tail);
	log->synced = LOG_FIRST;
}

int log_open(struct log *log, char *path, uint64_t device_size, uint64_t log_size)
{
	int fd, error;

	*log = (struct log){.path = path,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.sync_lock = PTHREAD_MUTEX_INITIALIZER};
	error = access(path, F_OK) != 0 && errno == ENOENT ? make_new(log, device_size, log_size)
							   : 0;
	fd = error == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (error == 0)
		error = fd >= 0 ? map_file(log, fd) : -errno;
	if (fd >= 0)
		close(fd);
	if (error != 0)
		nbdkit_error("%s: can't open or make the log: %s", path, strerror(-error));
	if (error != 0 || check_head(log, device_size) != 0) {
		log_close(log);
		return -1;
	}
	find_end(log);
	return 0;
}

void log_close(struct log *log)
{
	if (log->map != NULL)
		munmap(log->map, log->size);
	free(log->path);
	*log = (struct log){0};
}

/* ---- appending and syncing ------------------------------------------------------------------- */

static bool has_no_room(const struct log *log)
{
	return log->size - log->tail < LOG_RECORD_MAX;
}

bool log_is_full(struct log *log)
{
	bool is_full;

	pthread_mutex_lock(&log->lock);
	is_full = has_no_room(log);
	pthread_mutex_unlock(&log->lock);
	return is_full;
}

/*
 * The payload's checksum is made outside the lock, its copy inside: so records become whole in
 * their order, and the log has no holes. One fence for both parts.
 */
int log_append(
	struct log *log, enum log_kind kind, uint64_t block, const abd_t *payload, uint64_t *place)
{
	size_t size = payload != NULL ? abd_get_size(payload) : 0;
	struct log_record record = {
		.block = block, .payload_size = (uint32_t)size, .kind = (uint32_t)kind};
	int error = 0;

	if (size > 0)
		record.payload_checksum = abd_xxh3(payload, 0, size, 0);
	pthread_mutex_lock(&log->lock);
	if (atomic_load(&log->failed)) {
		error = -EIO;
	} else if (has_no_room(log)) {
		error = -EAGAIN;
	} else {
		*place = log->tail;
		if (size > 0)
			abd_flush_copy_to_buf_off(log->map + *place + LOG_LINE, payload, 0, size,
				ABD_FLUSH_EXCLUSIVE | ABD_FLUSH_NODRAIN);
		put_line(log, *place, &record, log->generation + *place);
		log->tail = log_behind(*place, size);
	}
	pthread_mutex_unlock(&log->lock);
	return error;
}

/* Under sync_lock. */
static int sync_range(struct log *log, uint64_t from, uint64_t to)
{
	uint64_t start = from / 4096 * 4096;

	if (log->needs_msync && msync(log->map + start, to - start, MS_SYNC) != 0) {
		nbdkit_error("%s: the log failed (%s): no more writes until it is opened again",
			log->path, strerror(errno));
		atomic_store(&log->failed, true);
	}
	return atomic_load(&log->failed) ? -EIO : 0;
}

static uint64_t tail_of(struct log *log)
{
	uint64_t tail;

	pthread_mutex_lock(&log->lock);
	tail = log->tail;
	pthread_mutex_unlock(&log->lock);
	return tail;
}

int log_sync(struct log *log)
{
	uint64_t tail;
	int error = 0;

	pthread_mutex_lock(&log->sync_lock);
	/* One msync() serves all threads that wait for the lock meanwhile. */
	tail = tail_of(log);
	if (atomic_load(&log->failed))
		error = -EIO;
	else if (tail > log->synced)
		error = sync_range(log, log->synced, tail);
	if (error == 0)
		log->synced = tail;
	pthread_mutex_unlock(&log->sync_lock);
	return error;
}

/*
 * The new head is durable before the first new record: an old head with some new records would
 * bring back the records that they have not overwritten.
 */
int log_begin_again(struct log *log)
{
	struct log_head head;
	int error;

	pthread_mutex_lock(&log->sync_lock);
	pthread_mutex_lock(&log->lock);
	memcpy(&head, log->map, sizeof(head));
	head.generation = ++log->generation;
	put_line(log, 0, &head, 0);
	error = sync_range(log, 0, LOG_LINE);
	log->tail = log->synced = LOG_FIRST;
	pthread_mutex_unlock(&log->lock);
	pthread_mutex_unlock(&log->sync_lock);
	return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

void log_payload(const struct log *log, uint64_t place, abd_t *payload)
{
	abd_get_from_buf_struct(
		payload, log->map + place + LOG_LINE, log_record(log, place)->payload_size);
}

int log_read(const struct log *log, uint64_t place, char dst[BLOCK])
{
	const struct log_record *record = log_record(log, place);
	ssize_t got = BLOCK;
	abd_t payload;

	if (record->kind == LOG_ZERO) {
		memset(dst, 0, BLOCK);
		return 0;
	}
	log_payload(log, place, &payload);
	if (record->kind == LOG_PLAIN)
		abd_copy_to_buf_off(dst, &payload, 0, BLOCK);
	else
		got = abd_lz4_decompress_exact_to_buf(
			dst, &payload, BLOCK, 0, record->payload_size);
	abd_free(&payload);
	return got == BLOCK ? 0 : -EIO;
}
