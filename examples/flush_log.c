/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log in a mapped file: each record is flush-copied behind the last, and acknowledged when that
 * call returns.
 *
 *   file:   | record 0 | record 1 | record 2 | what a crash left, or zeroes |
 *   record: | checksum  sequence  size  0 | payload | room to the next 64 bytes |
 *
 * Nothing in the file says where the log ends. A record counts if its checksum is right; the
 * checksum covers its place in the file, its sequence number and its size. The log ends before the
 * first record that does not count. So one copy and one fence append a record: payload and header
 * may reach the file in any order, and a record torn by a crash does not count.
 *
 * A flush-copy makes data durable where the file is persistent memory (a DAX file system, mapped
 * with MAP_SYNC). Elsewhere the mapping is the page cache: it survives the death of the process,
 * not of the machine. There the program calls msync() too.
 *
 * usage: flush_log FILE append [COUNT]   append until COUNT records are there, or the file is full;
 *                                        print each acknowledged one
 *        flush_log FILE check            print how many records there are
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_SYNC */
#endif
#include <abd/abd.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_SIZE ((size_t)16 << 20)
#define LINE_SIZE ((size_t)64)
#define PAYLOAD_SIZE_MAX ((size_t)128 << 10)

struct record_header {
	uint64_t checksum; /* of all that follows, seeded with the record's place */
	uint64_t sequence; /* 0, 1, 2, ... */
	uint64_t size;     /* of the payload */
	uint64_t zero;
};

struct flush_log {
	char *map;
	size_t tail;       /* where the next record goes */
	uint64_t sequence; /* and its number */
	bool needs_msync;
};

/* ---- the log --------------------------------------------------------------------------------- */

static size_t record_size(size_t payload_size)
{
	size_t size = sizeof(struct record_header) + payload_size;

	return (size + LINE_SIZE - 1) & ~(LINE_SIZE - 1);
}

static uint64_t record_checksum(const abd_t *record, size_t place)
{
	size_t from = sizeof(uint64_t);

	return abd_xxh3(record, from, abd_get_size(record) - from, place);
}

/* The payload size of the record at the tail, or -EBADMSG when there is none. */
static ssize_t log_look(const struct flush_log *log)
{
	struct record_header header;
	size_t left = LOG_SIZE - log->tail;
	abd_t record;

	if (left < sizeof(header))
		return -EBADMSG;
	memcpy(&header, log->map + log->tail, sizeof(header));
	if (header.sequence != log->sequence || header.size > left - sizeof(header))
		return -EBADMSG;
	abd_get_from_buf_struct(&record, log->map + log->tail, sizeof(header) + header.size);

	bool whole = record_checksum(&record, log->tail) == header.checksum;

	abd_free(&record);
	return whole ? (ssize_t)header.size : -EBADMSG;
}

static void log_step(struct flush_log *log, size_t payload_size)
{
	log->tail += record_size(payload_size);
	log->sequence++;
}

static int log_sync(const struct flush_log *log, size_t from, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = from & ~(page - 1);

	if (!log->needs_msync)
		return 0;
	return msync(log->map + start, from + size - start, MS_SYNC) == 0 ? 0 : -errno;
}

/* Append payload and make it durable. Returns 0, -ENOSPC, -ENOMEM, or msync()'s error. */
static int log_append(struct flush_log *log, abd_t *payload)
{
	size_t payload_size = abd_get_size(payload),
	       size = sizeof(struct record_header) + payload_size;
	struct record_header header = {.sequence = log->sequence, .size = payload_size};
	abd_t record, head;
	int error;

	if (log->tail > LOG_SIZE || record_size(payload_size) > LOG_SIZE - log->tail)
		return -ENOSPC;

	/*
	 * Header and payload as one buffer: nothing is copied to join them, and one fence serves
	 * both.
	 */
	abd_alloc_gang_struct(&record);
	abd_get_from_buf_struct(&head, &header, sizeof(header));
	error = abd_gang_add(&record, &head, false);
	if (error == 0)
		error = abd_gang_add(&record, payload, false);
	if (error == 0) {
		header.checksum = record_checksum(&record, log->tail);
		abd_flush_copy_to_buf_off(
			log->map + log->tail, &record, 0, size, ABD_FLUSH_EXCLUSIVE);
		error = log_sync(log, log->tail, size);
	}
	abd_free(&record);
	abd_free(&head);
	if (error == 0)
		log_step(log, payload_size);
	return error;
}

static int log_map(struct flush_log *log, int fd)
{
	int protection = PROT_READ | PROT_WRITE;

	/* MAP_SYNC is refused unless the file is persistent memory mapped directly. */
	log->map = mmap(NULL, LOG_SIZE, protection, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	log->needs_msync = log->map == MAP_FAILED ||
			   abd_flush_durability() != ABD_FLUSH_DURABILITY_PERSISTENCE;
	if (log->map == MAP_FAILED)
		log->map = mmap(NULL, LOG_SIZE, protection, MAP_SHARED, fd, 0);
	return log->map == MAP_FAILED ? -errno : 0;
}

/* Open the file, create it if there is none, and find the log's end. Returns 0 or -errno. */
static int log_open(struct flush_log *log, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), error;

	if (fd < 0)
		return -errno;
	error = ftruncate(fd, (off_t)LOG_SIZE) == 0 ? log_map(log, fd) : -errno;
	close(fd);
	return error;
}

static void log_close(struct flush_log *log)
{
	munmap(log->map, LOG_SIZE);
}

/* ---- what this program writes: payloads that follow from their sequence number --------------- */

static size_t demo_size(uint64_t sequence)
{
	return (size_t)(sequence * 0x9e3779b97f4a7c15u >> 40) % PAYLOAD_SIZE_MAX + 1;
}

static int demo_fill(void *buf, size_t len, void *priv)
{
	uint64_t *state = priv;
	unsigned char *to = buf;

	for (size_t i = 0; i < len; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		to[i] = (unsigned char)(*state >> 56);
	}
	return 0;
}

static abd_t *demo_payload(uint64_t sequence)
{
	abd_t *payload = abd_alloc(demo_size(sequence), false);
	uint64_t state = sequence + 1;

	if (payload != NULL)
		abd_iterate_func(payload, 0, abd_get_size(payload), demo_fill, &state);
	return payload;
}

/* Whether the record at the tail, which is whole, holds what this program writes. */
static bool demo_matches(const struct flush_log *log, size_t size)
{
	abd_t *payload = demo_payload(log->sequence);
	const char *found = log->map + log->tail + sizeof(struct record_header);
	bool same = payload != NULL && abd_get_size(payload) == size &&
		    abd_equal_buf_off(payload, found, 0, size);

	abd_free(payload);
	return same;
}

static int log_recover(struct flush_log *log)
{
	ssize_t size;

	log->tail = 0;
	log->sequence = 0;
	while ((size = log_look(log)) >= 0) {
		if (!demo_matches(log, (size_t)size)) {
			fprintf(stderr, "record %llu was accepted and is torn\n",
				(unsigned long long)log->sequence);
			return -EBADMSG;
		}
		log_step(log, (size_t)size);
	}
	return 0;
}

static int command_append(struct flush_log *log, uint64_t count)
{
	int error = 0;

	fprintf(stderr, log->needs_msync
				? "not persistent memory: msync() is called beside flush-copy\n"
				: "persistent memory: flush-copy alone\n");
	while (log->sequence < count && error == 0) {
		abd_t *payload = demo_payload(log->sequence);

		error = payload != NULL ? log_append(log, payload) : -ENOMEM;
		abd_free(payload);
		if (error == 0) {
			printf("%llu\n", (unsigned long long)log->sequence);
			fflush(stdout);
		}
	}
	return error == -ENOSPC ? 0 : error;
}

/* Whether a record was begun after the last one: its sequence number is there, or a part of it. */
static bool log_torn(const struct flush_log *log)
{
	static const char nothing[LINE_SIZE];

	return log->tail <= LOG_SIZE - LINE_SIZE &&
	       memcmp(log->map + log->tail, nothing, LINE_SIZE) != 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: flush_log FILE append [COUNT]\n       flush_log FILE check\n");
	return 2;
}

int main(int argc, char **argv)
{
	bool append = argc >= 3 && strcmp(argv[2], "append") == 0;
	bool check = argc == 3 && strcmp(argv[2], "check") == 0;
	struct flush_log log;
	int error;

	if ((!append && !check) || argc > 4)
		return usage();
	error = log_open(&log, argv[1]);
	if (error == 0) {
		error = log_recover(&log);
		if (error == 0 && append)
			error = command_append(
				&log, argc == 4 ? strtoull(argv[3], NULL, 10) : UINT64_MAX);
		if (error == 0 && check)
			printf("%llu records%s\n", (unsigned long long)log.sequence,
				log_torn(&log) ? ", then a torn one" : "");
		log_close(&log);
	}
	if (error != 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-error));
	return error == 0 ? 0 : 1;
}
