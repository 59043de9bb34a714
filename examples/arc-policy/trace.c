/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads traces; docs/notes/arc-policy.md describes their two forms. */
#include "policy.h"

#include <endian.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ORACLE_GENERAL = 24, WORD = 255 };
#define BLANKS " \t\r\n"

void trace_add(struct trace *trace, uint64_t key, uint32_t size)
{
	if (trace->count == trace->room) {
		trace->room = trace->room > 0 ? 2 * trace->room : 4096;
		trace->request = realloc(trace->request, trace->room * sizeof(*trace->request));
	}
	if (trace->request == NULL || trace->count == NEVER - 1)
		errx(1, "no memory for a trace of %zu requests", trace->count);
	trace->request[trace->count++] = (struct request){key, size, NEVER};
}

void trace_finish(struct trace *trace)
{
	struct place { /* of a key, by its hash; next: the first request known, plus 1 */
		uint64_t key, number;
		uint32_t next, size;
	} * place;
	size_t places = 64;

	while (places / 2 < trace->count)
		places *= 2;
	place = must_alloc(places, sizeof(*place));
	for (size_t i = trace->count; i-- > 0;) {
		struct request *request = &trace->request[i];
		size_t at = hash_of(request->key) & (places - 1);

		while (place[at].next != 0 && place[at].key != request->key)
			at = (at + 1) & (places - 1);
		if (place[at].next == 0) {
			place[at] =
				(struct place){request->key, trace->distinct++, 0, request->size};
			trace->distinct_bytes += request->size;
		}
		*request = (struct request){place[at].number, place[at].size, place[at].next - 1};
		place[at].next = (uint32_t)i + 1;
	}
	free(place);
}

static bool number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value <= most;
}

/* Returns what is wrong with the line; NULL: nothing. */
static const char *read_line(struct trace *trace, char *line)
{
	char *rest, *word = strtok_r(line, BLANKS, &rest);
	char *size_text = strtok_r(NULL, BLANKS, &rest), *pool_text = strtok_r(NULL, BLANKS, &rest);
	uint64_t size, pool = 0, key = 0xcbf29ce484222325u;

	if (word == NULL || *word == '#')
		return NULL;
	if (strlen(word) > WORD)
		return "the key is longer than 255 bytes";
	if (size_text == NULL || !number(size_text, SIZE_MOST, &size) || size == 0)
		return "no size from 1 to 1073741824 after the key";
	if (pool_text != NULL && !number(pool_text, UINT64_MAX, &pool))
		return "the pool is no number";
	if (strtok_r(NULL, BLANKS, &rest) != NULL)
		return "something after the pool";
	key ^= hash_of(pool);
	for (; *word != '\0'; word++) /* FNV-1a */
		key = (key ^ (unsigned char)*word) * 0x100000001b3u;
	trace_add(trace, hash_of(key), (uint32_t)size);
	return NULL;
}

static void read_text(struct trace *trace, FILE *file, char *error, size_t room)
{
	const char *wrong = NULL;
	size_t size = 0;
	char *line = NULL;
	ssize_t length;

	for (size_t i = 1; wrong == NULL && (length = getline(&line, &size, file)) >= 0; i++) {
		wrong = strlen(line) == (size_t)length ? read_line(trace, line)
						       : "a byte 0: this is no text";
		if (wrong != NULL)
			snprintf(error, room, "line %zu: %s", i, wrong);
	}
	free(line);
}

static void read_oracle_general(struct trace *trace, FILE *file, char *error, size_t room)
{
	unsigned char record[ORACLE_GENERAL];
	uint64_t key;
	uint32_t size;
	size_t at = 0, got;

	for (; (got = fread(record, 1, sizeof(record), file)) == sizeof(record); at += got) {
		memcpy(&key, record + 4, sizeof(key));
		memcpy(&size, record + 12, sizeof(size));
		size = le32toh(size);
		if (size > SIZE_MOST) {
			snprintf(error, room, "byte %zu: a record of %u bytes", at + 12, size);
			return;
		}
		if (size > 0)
			trace_add(trace, le64toh(key), size);
	}
	if (got > 0)
		snprintf(error, room, "byte %zu: it ends within a request of 24 bytes", at + got);
}

bool trace_read(struct trace *trace, FILE *file, bool is_oracle_general, char *error, size_t room)
{
	memset(trace, 0, sizeof(*trace));
	error[0] = '\0';
	(is_oracle_general ? read_oracle_general : read_text)(trace, file, error, room);
	if (error[0] == '\0' && ferror(file))
		snprintf(error, room, "%s", strerror(errno));
	if (error[0] == '\0' && trace->count == 0)
		snprintf(error, room, "no request in it");
	trace_finish(trace);
	return error[0] == '\0';
}
