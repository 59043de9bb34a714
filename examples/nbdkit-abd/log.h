/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: two segments of a mapped file. Records go into the active one; when it is full the other
 * takes over, and the checkpoint empties the full one into the backing file. README.md has the
 * rules; log_format.h the bytes.
 *
 * Order of locks: map lock, sync_lock, life, lock. Nobody syncs under a map lock.
 * Invariant: [segment start, tail) is whole records in sequence; nothing after an incomplete record
 * counts.
 */
#ifndef LOG_H
#define LOG_H

#include "backing.h"
#include "content.h"
#include "log_format.h"
#include "params.h"

#include <abd/abd.h>

struct log_segment {
	uint64_t start; /* in the file; the header lies here */
	uint64_t end;
	uint64_t tail;   /* where the next record goes */
	uint64_t synced; /* durable up to here */
	uint64_t sequence;
	uint32_t epoch;
	uint64_t other_epoch; /* as in the header */
	uint64_t other_sequence;
	bool live;
};

struct log {
	const char *path;
	int fd;
	char *map;
	uint64_t size;
	uint64_t id[2];
	uint64_t record_max; /* the largest record */
	bool is_new;         /* made just now */
	bool readonly;
	bool needs_msync;

	pthread_mutex_t lock; /* for all down to wanted */
	struct log_segment segment[LOG_SEGMENTS];
	struct log_segment *active;
	uint64_t reserved; /* bytes promised to writers */
	uint64_t sequence; /* of the next record */
	uint32_t epoch;    /* the last one used */
	uint32_t incarnation;
	int error;            /* the log itself failed: nothing can be promised any more */
	int checkpoint_error; /* the last checkpoint's, for those who wait for room */
	uint64_t checkpoints; /* ended, well or not */
	bool wanted;          /* a checkpoint */
	bool stopping;        /* no more checkpoints */
	pthread_cond_t room;  /* a checkpoint ended */
	pthread_cond_t work;  /* wanted or stopping was set */

	pthread_mutex_t sync_lock;
	_Atomic uint64_t durable; /* records before this one are durable; grows under sync_lock */

	/*
	 * held for reading while the mapping's records are read, for writing while a segment is
	 * freed
	 */
	pthread_rwlock_t life;
	_Atomic uint32_t oldest; /* epochs below are gone */
	_Atomic uint64_t data_records, same_records, zero_records, payload_bytes, syncs;
};

/* What a record is to say. */
struct log_entry {
	enum log_type type;
	uint64_t block;
	uint64_t count;          /* ZERO: blocks */
	struct content *content; /* DATA or SAME, as the log finds best */
	const abd_t *payload;    /* NULL: SAME or nothing */
	size_t payload_size;
	bool compressed;
};

/** What the log must fit: the device that it is for. */
struct log_device {
	const struct backing *backing;
	size_t block_size;
};

/**
 * Open the log, or create it. Checks its headers, but not yet its records. Returns 0, or -1 after
 * nbdkit_error().
 */
int log_open(struct log *log, const struct params *params, const struct log_device *device);

void log_close(struct log *log);

/** Close the log, and remove it if log_open() created it: the device could not be opened. */
void log_discard(struct log *log);

/**
 * Called for each record of a replay or a walk, in order; place is the record's. Anything but 0
 * ends it.
 */
typedef int log_visit_t(void *arg, const struct log *log, const struct log_record *record,
	uint64_t place, uint32_t epoch);

/**
 * Find all whole records, and the end. Returns 0; -EBADMSG, after nbdkit_error(), when records are
 * missing that had been durable; or what visit returned.
 */
int log_replay(struct log *log, log_visit_t *visit, void *arg);

/** The records of one live segment that nobody appends to. */
int log_walk(
	const struct log *log, const struct log_segment *segment, log_visit_t *visit, void *arg);

/**
 * Reserve room for one record of any size; may wait for a checkpoint. Contract: no map lock is
 * held. Returns 0 or -errno.
 */
int log_reserve(struct log *log);

/** Give back a reservation that was not used. */
void log_unreserve(struct log *log);

/**
 * Append a record, using up a reservation. It comes after all records that were appended before. It
 * is durable only after log_sync(), unless the mapping is persistent memory.
 *
 * Returns: 0, and *epoch of its segment; -EAGAIN when entry needs a payload and has none, and the
 *          reservation is still there; or what made the log fail.
 * Contract: the block's map lock is held for writing.
 */
int log_append(struct log *log, const struct log_entry *entry, uint32_t *epoch);

/**
 * Make all records durable that were appended before this call. Returns 0, or -EIO; once the log
 * has failed, every later call returns -EIO.
 */
int log_sync(struct log *log);

/** A segment that is full, to be emptied; NULL when there is none. */
struct log_segment *log_full_segment(struct log *log);

/** Make the active segment a full one, if it holds anything. Contract: nobody appends. */
struct log_segment *log_seal(struct log *log);

/** Free a segment whose blocks are all in the backing file. Returns 0 or -EIO. */
int log_free_segment(struct log *log, struct log_segment *segment);

/** Wait until a checkpoint is wanted. Returns false when the thread must stop. */
bool log_wait_for_work(struct log *log);

/** Wake the threads that wait for room; error is the checkpoint's result. */
void log_checkpoint_done(struct log *log, int error);

/** Let log_wait_for_work() return false. */
void log_stop(struct log *log);

/**
 * The payload of content, by reference into the mapping, in *payload (the caller's struct). Returns
 * 0, and then the caller holds life for reading until log_unpin(); -ENOENT when the log does not
 * have it (any more).
 */
int log_pin(struct log *log, const struct content *content, abd_t *payload, bool *compressed);

void log_unpin(struct log *log, abd_t *payload);

/* ---- shared by the log's own files ----------------------------------------------------------- */

/** What to do about a damaged log. */
#define LOG_REMEDY "restore the log; or remove it, and adopt=true goes on without the writes in it"

/** A line's checksum. */
uint64_t log_line_checksum(const void *line, uint64_t place);

/** Whether a line of the mapping is whole. */
bool log_line_is_whole(const struct log *log, uint64_t place);

/** Whether the payload of a whole record is, too. */
bool log_payload_is_whole(const struct log *log, const struct log_record *record, uint64_t place);

/** Put a line into the mapping: its checksum first, then a flush-copy. */
void log_line_put(const struct log *log, void *line, uint64_t place);

static inline content_place_t log_place(uint32_t epoch, uint64_t place)
{
	return (content_place_t)epoch << 32 | place / LOG_LINE;
}

#endif
