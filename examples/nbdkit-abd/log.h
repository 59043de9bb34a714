/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: a mapped file that takes the new state of each block that is written, one record behind
 * the other, by flush-copy. When it is full, a checkpoint (checkpoint.c) brings the blocks to the
 * device's file, and the log begins again with the next generation.
 *
 *   file:    | head, and room to LOG_FIRST | record | record | ... | what was there before |
 *   record:  | struct log_record | payload, and room to the next 64 bytes |
 *
 * Nothing says where the log ends. A record's checksum is seeded with the generation and its place
 * in the file; the payload has a checksum of its own. The log ends before the first record that is
 * not whole: torn by a crash, left from an earlier generation, or copied from elsewhere.
 *
 * Invariant: [LOG_FIRST, tail) is whole records; [LOG_FIRST, synced) survives a power failure.
 * Locks: sync_lock before lock.
 */
#ifndef LOG_H
#define LOG_H

#include <abd/abd.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define BLOCK ((size_t)8192) /* the device's unit; a payload is no larger */

#define LOG_MAGIC 0x3367676f6c646261u /* also says the byte order and the version */
#define LOG_LINE ((size_t)64)
#define LOG_FIRST ((uint64_t)4096) /* the place of the first record */
#define LOG_RECORD_MAX (LOG_LINE + BLOCK)
#define LOG_SIZE_MIN ((uint64_t)128 << 10)

/*
 * Both structs fill one line, which lies within one sector of a disk: a power failure leaves the
 * old one or the new one. On persistent memory, which promises less, a torn head would be refused.
 */
struct log_head {
	uint64_t checksum; /* of what follows */
	uint64_t magic;
	uint64_t log_size;
	uint64_t device_size;
	uint64_t generation; /* a random number when the log is made, then one more each time */
	uint64_t zero[3];
};

enum log_kind {
	LOG_LZ4 = 1,   /* the payload is the block as lz4 */
	LOG_PLAIN = 2, /* the payload is the block */
	LOG_ZERO = 3,  /* no payload: the block holds zeroes */
};

struct log_record {
	uint64_t checksum; /* of what follows */
	uint64_t payload_checksum;
	uint64_t block;
	uint32_t payload_size;
	uint32_t kind;
	uint64_t zero[4];
};

static_assert(sizeof(struct log_head) == LOG_LINE, "a line");
static_assert(sizeof(struct log_record) == LOG_LINE, "a line");

struct log {
	char *path;
	char *map;
	uint64_t size;
	bool needs_msync;    /* the file is not persistent memory */
	_Atomic bool failed; /* what the file holds is not known any more */

	pthread_mutex_t lock; /* for generation and tail */
	uint64_t generation;
	uint64_t tail; /* the place of the next record */

	pthread_mutex_t sync_lock; /* one msync() at a time */
	uint64_t synced;
};

/**
 * Open the log of a device, or make one of log_size bytes, and find its end. path is malloc'ed and
 * becomes the log's. Returns 0, or -1 after nbdkit_error().
 */
int log_open(struct log *log, char *path, uint64_t device_size, uint64_t log_size);

void log_close(struct log *log);

/**
 * Append a record of a block; payload is NULL for LOG_ZERO. The record survives a kill of the
 * process at once, and a power failure after log_sync().
 *
 * Returns: 0, and the record's *place; -EAGAIN: the log is full; -EIO: it failed.
 */
int log_append(
	struct log *log, enum log_kind kind, uint64_t block, const abd_t *payload, uint64_t *place);

/** Whether there may be no room for another record. */
bool log_is_full(struct log *log);

/**
 * Make all records durable that were appended before this call. Returns 0, or -EIO. After an error
 * the log takes no more records until it is opened again: the system may have dropped pages that it
 * could not write.
 */
int log_sync(struct log *log);

/**
 * Forget all records, durably. Contract: the blocks are in the device's file, and that is synced;
 * nobody appends or reads records. Returns 0 or -EIO.
 */
int log_begin_again(struct log *log);

/**
 * The record at a place: LOG_FIRST, what log_append() or log_next() returned. There is one at each
 * place before tail.
 */
static inline const struct log_record *log_record(const struct log *log, uint64_t place)
{
	const void *record = log->map + place;

	return record;
}

/** The place behind a record of that payload. */
static inline uint64_t log_behind(uint64_t place, uint64_t payload_size)
{
	return place + ((LOG_LINE + payload_size + LOG_LINE - 1) & ~(LOG_LINE - 1));
}

static inline uint64_t log_next(const struct log *log, uint64_t place)
{
	return log_behind(place, log_record(log, place)->payload_size);
}

/** The block that a record holds, decoded into dst. Returns 0 or -EIO. */
int log_read(const struct log *log, uint64_t place, char dst[BLOCK]);

/** The payload as it lies in the mapping, in the caller's struct. */
void log_payload(const struct log *log, uint64_t place, abd_t *payload);

#endif
