/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replay: find the records that count, and tell a torn end from a damaged middle.
 *
 * The log ends before the first record that is not whole or not the next in sequence. That is a
 * torn end, and no client was promised the writes lost there. But if the hint, or a whole record
 * further on, says that the missing record had been durable, going on would lose acknowledged
 * writes: the log is refused.
 */
#include "log.h"

#include "nbdkit_api.h"

#include <inttypes.h>
#include <string.h>

struct replay {
	struct log *log;
	log_visit_t *visit;
	void *arg;
	uint64_t sequence; /* of the record looked for */
	uint32_t incarnation;
};

/* The record at place, if it is one and fits the segment. */
static bool look(const struct log *log, const struct log_segment *segment, uint64_t place,
	struct log_record *record)
{
	if (segment->end - place < LOG_LINE || !log_line_is_whole(log, place))
		return false;
	memcpy(record, log->map + place, sizeof(*record));
	return record->type >= LOG_DATA && record->type <= LOG_ZERO &&
	       segment->end - place >= log_record_size(record->payload_size);
}

bool log_payload_is_whole(const struct log *log, const struct log_record *record, uint64_t place)
{
	uint64_t checksum;
	abd_t payload;

	if (record->type != LOG_DATA)
		return record->payload_size == 0;
	if (record->payload_size == 0)
		return false;
	abd_get_from_buf_struct(&payload, log->map + place + LOG_LINE, record->payload_size);
	checksum = abd_xxh3(&payload, 0, record->payload_size, 0);
	abd_free(&payload);
	return checksum == record->argument;
}

/* Visit all whole records in sequence, and set the segment's tail after the last one. */
static int replay_segment(struct replay *replay, struct log_segment *segment)
{
	const struct log *log = replay->log;
	struct log_record record;
	int error = 0;

	segment->tail = segment->start + LOG_LINE;
	while (error == 0 && look(log, segment, segment->tail, &record) &&
		record.sequence == replay->sequence && record.incarnation >= replay->incarnation &&
		log_payload_is_whole(log, &record, segment->tail)) {
		error = replay->visit(replay->arg, log, &record, segment->tail, segment->epoch);
		segment->tail += log_record_size(record.payload_size);
		replay->sequence++;
		replay->incarnation = record.incarnation;
	}
	return error;
}

/*
 * The highest durable sequence number in whole records from place on, after the end of the log.
 * They may lie anywhere, so every line is checked. The sequence number is checked before the
 * checksum: a checksum for each line of 256 MiB would add a tenth of a second to the start.
 */
static uint64_t durable_behind(
	const struct log *log, const struct log_segment *segment, uint64_t place)
{
	uint64_t durable = 0;

	for (; place < segment->end; place += LOG_LINE) {
		struct log_record record;

		memcpy(&record, log->map + place, sizeof(record));
		if (record.sequence > log->sequence && record.sequence >= record.durable &&
			record.durable > durable && look(log, segment, place, &record))
			durable = record.durable;
	}
	return durable;
}

/* Segments that are whole and free, as a clean end leaves them, have nothing to lose. */
static bool all_are_free(const struct log *log)
{
	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].live)
			return false;
	return true;
}

/* Everything before the number returned was durable once. */
static uint64_t known_durable(const struct log *log)
{
	uint64_t durable;
	struct log_hint hint;

	memcpy(&hint, log->map + LOG_LINE, sizeof(hint));
	durable = hint.durable;
	for (unsigned i = 0; i < LOG_SEGMENTS && !all_are_free(log); i++) {
		const struct log_segment *segment = &log->segment[i];
		uint64_t behind = durable_behind(
			log, segment, segment->live ? segment->tail : segment->start + LOG_LINE);

		if (behind > durable)
			durable = behind;
	}
	return durable;
}

/* Live segments by age. */
static unsigned live_segments(struct log *log, struct log_segment *live[LOG_SEGMENTS])
{
	unsigned count = 0;

	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].live)
			live[count++] = &log->segment[i];
	if (count == 2 && live[0]->epoch > live[1]->epoch) {
		struct log_segment *swap = live[0];

		live[0] = live[1];
		live[1] = swap;
	}
	return count;
}

static uint32_t header_incarnation(const struct log *log, const struct log_segment *segment)
{
	struct log_segment_header header;

	memcpy(&header, log->map + segment->start, sizeof(header));
	return header.incarnation;
}

/*
 * The younger segment counts if it begins where the older one ended; its header may be left from
 * before a torn end.
 */
static int replay_live(struct replay *replay)
{
	struct log_segment *live[LOG_SEGMENTS];
	unsigned count = live_segments(replay->log, live);
	int error = 0;

	for (unsigned i = 0; i < count && error == 0; i++) {
		uint32_t incarnation = header_incarnation(replay->log, live[i]);

		if (i > 0 && (live[i]->sequence != replay->sequence ||
				     incarnation < replay->incarnation)) {
			live[i]->live = false;
			break;
		}
		replay->sequence = live[i]->sequence;
		replay->incarnation = incarnation;
		replay->log->active = live[i];
		error = replay_segment(replay, live[i]);
	}
	return error;
}

/* If no segment is live, the header of the last one freed has the next sequence number. */
static uint64_t sequence_when_free(const struct log *log)
{
	uint64_t sequence = 0;

	for (unsigned i = 0; i < LOG_SEGMENTS; i++)
		if (log->segment[i].sequence > sequence)
			sequence = log->segment[i].sequence;
	return sequence;
}

static int lost(const struct log *log, uint64_t place, uint64_t sequence, uint64_t durable)
{
	nbdkit_error("%s: the log is damaged at byte %" PRIu64 ": record %" PRIu64
		     " (perhaps others too) is not whole, though all before record %" PRIu64
		     " were flushed. Nothing was changed; " LOG_REMEDY,
		log->path, place, sequence, durable);
	return -EBADMSG;
}

/*
 * Fails if a record after the end was durable, or one in a segment whose header was never written.
 */
static int check_end(const struct log *log)
{
	uint64_t durable = known_durable(log);

	for (unsigned i = 0; i < LOG_SEGMENTS; i++) {
		const struct log_segment *segment = &log->segment[i];
		const struct log_segment *other = &log->segment[LOG_SEGMENTS - 1 - i];

		if (other->epoch < segment->other_epoch && durable > segment->other_sequence)
			return lost(log, other->start, segment->other_sequence, durable);
	}
	if (durable > log->sequence)
		return lost(log, log->active != NULL ? log->active->tail : LOG_HEAD, log->sequence,
			durable);
	return 0;
}

int log_replay(struct log *log, log_visit_t *visit, void *arg)
{
	struct replay replay = {.log = log, .visit = visit, .arg = arg};
	int error;

	if (log->map == NULL)
		return 0;
	replay.sequence = sequence_when_free(log);
	atomic_store(&log->oldest, 1);
	error = replay_live(&replay);
	log->sequence = replay.sequence;
	if (error == 0)
		error = check_end(log);
	if (replay.incarnation > log->incarnation)
		log->incarnation = replay.incarnation;
	/* so records that are left after a torn end never count as successors of new ones */
	log->incarnation++;
	return error;
}

int log_walk(
	const struct log *log, const struct log_segment *segment, log_visit_t *visit, void *arg)
{
	uint64_t place = segment->start + LOG_LINE;
	int error = 0;

	while (place < segment->tail && error == 0) {
		struct log_record record;

		memcpy(&record, log->map + place, sizeof(record));
		error = visit(arg, log, &record, place, segment->epoch);
		place += log_record_size(record.payload_size);
	}
	return error;
}
