/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is in the log file. Numbers are in this machine's byte order; LOG_MAGIC refuses a file in
 * the opposite order.
 *
 *   file:     | super, durable hint, nothing | segment 0 | segment 1 |
 *           (LOG_HEAD bytes, then two segments, page-aligned)
 *   segment:  | header | record | record | ... | what was there before |
 *   record:   | struct log_record | payload, to a multiple of 64 |
 *           (type DATA has a payload, no other has)
 *
 * Every struct is one line of 64 bytes whose checksum covers the rest of it and is seeded with its
 * place in the file, so a line that was copied elsewhere, or torn, does not count.
 */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define LOG_MAGIC 0x3267676f6c646261u
#define LOG_LINE ((uint64_t)64)
#define LOG_HEAD ((uint64_t)4096)
#define LOG_SEGMENTS 2

/* Written once, when the log is made. */
struct log_super {
	uint64_t checksum;
	uint64_t magic;
	uint64_t device_size;
	uint64_t segment_size;
	uint64_t block_size;
	uint64_t id[2]; /* random; the backing file has it as an attribute */
	uint64_t zero;
};

/*
 * At LOG_LINE. Every record before this sequence number was durable once; written without waiting,
 * so it may be late.
 */
struct log_hint {
	uint64_t checksum;
	uint64_t durable;
	uint64_t zero[6];
};

struct log_segment_header {
	uint64_t checksum;
	uint64_t sequence; /* live: of its first record; free: the next one when it was freed */
	uint32_t epoch;    /* 1, 2, ...: one more for each segment that is begun */
	uint32_t incarnation;
	uint64_t live;
	/* Of the other segment, if that was live when this header was written; else 0. */
	uint64_t other_epoch;
	uint64_t other_sequence;
	uint64_t zero[2];
};

enum log_type {
	LOG_DATA = 1, /* block holds the payload; argument: the payload's XXH3 */
	LOG_SAME = 2, /* block holds what the DATA record at place argument (same segment) holds */
	LOG_ZERO = 3, /* argument blocks from block on hold zeroes */
};

struct log_record {
	uint64_t checksum;
	uint64_t sequence; /* 0, 1, 2, ..., over all segments */
	uint64_t durable;  /* every record before this one was durable when this was written */
	uint64_t block;
	uint64_t content; /* XXH3 of the block's bytes */
	uint64_t argument;
	uint32_t incarnation; /* how often the log was opened; never less than its predecessor's */
	uint32_t payload_size;
	uint32_t type;
	uint32_t compressed; /* the payload is an lz4 block */
};

static_assert(sizeof(struct log_super) == LOG_LINE, "a line");
static_assert(sizeof(struct log_hint) == LOG_LINE, "a line");
static_assert(sizeof(struct log_segment_header) == LOG_LINE, "a line");
static_assert(sizeof(struct log_record) == LOG_LINE, "a line");

/* Bytes of a record with its payload. */
static inline uint64_t log_record_size(uint64_t payload_size)
{
	return (LOG_LINE + payload_size + LOG_LINE - 1) & ~(LOG_LINE - 1);
}

#endif
