/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made traces draw ranks by Zipf's law: rank r is asked for in proportion to r to the power of
 * -skew. A draw inverts the sum of all weights, so no rank is left out, and none comes too often.
 */
#include "abd_perf_clock.h"
#include "abd_perf_policy.h"
#include "abd_perf_say.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 4096, ORACLE_GENERAL = 24, WORD = 255 };

void abd_perf_trace_add(struct abd_perf_trace *trace, uint64_t key, uint32_t size)
{
	if (trace->count == trace->room) {
		trace->room = trace->room > 0 ? 2 * trace->room : 4096;
		trace->request = realloc(trace->request, trace->room * sizeof(*trace->request));
	}
	if (trace->request == NULL || trace->count == ABD_PERF_NEVER - 1)
		abd_perf_say_die(1, "no memory for a trace of %zu requests", trace->count);
	trace->request[trace->count++] = (struct abd_perf_request){key, size, ABD_PERF_NEVER};
}

void abd_perf_trace_finish(struct abd_perf_trace *trace)
{
	size_t places = 64;
	uint32_t *place; /* by hash: the first request known of a key, plus 1 */

	while (places / 2 < trace->count)
		places *= 2;
	place = abd_perf_policy_alloc(places * sizeof(*place));
	trace->distinct = 0;
	trace->bytes = trace->distinct_bytes = 0;
	for (size_t i = trace->count; i-- > 0;) {
		struct abd_perf_request *request = &trace->request[i];
		size_t at = abd_perf_policy_hash(request->key) & (places - 1);

		while (place[at] != 0 && trace->request[place[at] - 1].key != request->key)
			at = (at + 1) & (places - 1);
		request->next = place[at] - 1; /* none: UINT32_MAX */
		if (place[at] != 0) {
			request->size = trace->request[request->next].size;
		} else {
			trace->distinct++;
			trace->distinct_bytes += request->size;
		}
		trace->bytes += request->size;
		place[at] = (uint32_t)i + 1;
	}
	free(place);
	for (size_t i = trace->count, keys = 0; i-- > 0;) {
		struct abd_perf_request *request = &trace->request[i];

		request->key = request->next != ABD_PERF_NEVER ? trace->request[request->next].key
							       : keys++;
	}
	trace->one_size = true;
	for (size_t i = 1; i < trace->count; i++)
		trace->one_size &= trace->request[i].size == trace->request[0].size;
}

void abd_perf_trace_free(struct abd_perf_trace *trace)
{
	free(trace->request);
	memset(trace, 0, sizeof(*trace));
}

/* ---- made ------------------------------------------------------------------------------------ */

enum { ZIPF, SCANS, LOOP, LOOP_AND_ZIPF, SHIFT, MIXED, BEHIND };

static const struct {
	unsigned way;
	double skew;
} abd_perf_trace_kinds[] = {{ZIPF, 0.7}, {ZIPF, 0.9}, {ZIPF, 1.0}, {ZIPF, 1.2}, {SCANS, 0.9},
	{LOOP, 0}, {LOOP_AND_ZIPF, 0.9}, {SHIFT, 0.9}, {MIXED, 0.9}, {BEHIND, 0.9}};

const char *const abd_perf_trace_names[] = {"zipf 0.7", "zipf 0.9", "zipf 1.0", "zipf 1.2", "scans",
	"loop", "loop + zipf", "shift", "sizes", "behind LRU", NULL};

struct abd_perf_zipf {
	double *sum;
	size_t keys;
	uint64_t random;
};

static void abd_perf_zipf_begin(struct abd_perf_zipf *zipf, size_t keys, double skew, uint64_t seed)
{
	*zipf = (struct abd_perf_zipf){abd_perf_policy_alloc(keys * sizeof(double)), keys, seed};
	for (size_t i = 0; i < keys; i++)
		zipf->sum[i] = (i > 0 ? zipf->sum[i - 1] : 0) + pow((double)(i + 1), -skew);
}

static size_t abd_perf_zipf_draw(struct abd_perf_zipf *zipf)
{
	double at = (double)(abd_perf_random(&zipf->random) >> 11) / 9007199254740992.0 *
		    zipf->sum[zipf->keys - 1];
	size_t low = 0, high = zipf->keys - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (zipf->sum[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The key of request i. What is not drawn has keys from zipf->keys on. */
static uint64_t abd_perf_trace_key(
	struct abd_perf_zipf *zipf, unsigned way, size_t i, size_t requests)
{
	size_t keys = zipf->keys, turn = keys / 2;

	switch (way) {
	case SCANS: /* after each stretch, a third as much of a scan of twice as many others */
		if (i % turn >= turn * 2 / 3)
			return keys +
			       (i / turn * (turn / 3) + i % turn - turn * 2 / 3) % (2 * keys);
		break;
	case LOOP:
		return i % keys;
	case LOOP_AND_ZIPF:
		if (i % 2 == 0)
			return keys + i / 2 % turn;
		break;
	case SHIFT: /* ten times, what was asked for most is another part of the keys */
		return (abd_perf_zipf_draw(zipf) + i / (requests / 10 + 1) * (keys / 11)) % keys;
	default:
		break;
	}
	return abd_perf_zipf_draw(zipf);
}

/* 512 bytes to 128 KiB, as many of each power; it follows from the key. */
static uint32_t abd_perf_trace_size(uint64_t key)
{
	double part = (double)(abd_perf_policy_hash(key) >> 11) / 9007199254740992.0;

	return (uint32_t)(512 * exp2(8 * part)) & ~(uint32_t)63;
}

void abd_perf_trace_make(
	struct abd_perf_trace *trace, unsigned kind, size_t keys, size_t requests, uint64_t seed)
{
	unsigned way = abd_perf_trace_kinds[kind].way;
	struct abd_perf_cache before;
	struct abd_perf_zipf zipf;

	memset(trace, 0, sizeof(*trace));
	abd_perf_zipf_begin(&zipf, keys, abd_perf_trace_kinds[kind].skew, seed);
	abd_perf_cache_begin(&before, &abd_perf_policy_lru, keys / 16 * RECORD);
	for (size_t i = 0; trace->count < requests; i++) {
		uint64_t key = abd_perf_trace_key(&zipf, way, i, requests);
		struct abd_perf_request request = {
			key, way == MIXED ? abd_perf_trace_size(key) : RECORD, ABD_PERF_NEVER};

		/* A second level is only asked for what the first one does not have. */
		if (way != BEHIND || !abd_perf_cache_access(&before, &request))
			abd_perf_trace_add(trace, key, request.size);
	}
	abd_perf_cache_end(&before);
	free(zipf.sum);
	abd_perf_trace_finish(trace);
}

/* ---- read ------------------------------------------------------------------------------------ */

/* Read a number at *text, at most most, and move *text behind it and the blanks after it. */
static bool abd_perf_trace_number(const char **text, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	if (**text < '0' || **text > '9')
		return false;
	*number = strtoull(*text, &end, 10);
	if (errno != 0 || *number > most || (*end != '\0' && *end != ' ' && *end != '\t'))
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

/* A word's bytes as a key: by FNV-1a, and mixed. */
static uint64_t abd_perf_trace_word(const char *word, size_t length, uint64_t pool)
{
	uint64_t key = 0xcbf29ce484222325u ^ abd_perf_policy_hash(pool);

	for (size_t i = 0; i < length; i++)
		key = (key ^ (unsigned char)word[i]) * 0x100000001b3u;
	return abd_perf_policy_hash(key);
}

/* Returns what is wrong with the line; NULL: nothing. */
static const char *abd_perf_trace_line(struct abd_perf_trace *trace, const char *line)
{
	const char *word = line + strspn(line, " \t");
	size_t length = strcspn(word, " \t");
	const char *rest = word + length + strspn(word + length, " \t");
	uint64_t size = 0, pool = 0;

	if (*word == '\0' || *word == '#')
		return NULL;
	if (length > WORD)
		return "the key is longer than 255 bytes";
	if (!abd_perf_trace_number(&rest, ABD_PERF_TRACE_SIZE_MAX, &size) || size == 0)
		return "no size from 1 to 1073741824 after the key";
	if (*rest != '\0' && !abd_perf_trace_number(&rest, UINT64_MAX, &pool))
		return "the pool is no number";
	if (*rest != '\0')
		return "something after the pool";
	abd_perf_trace_add(trace, abd_perf_trace_word(word, length, pool), (uint32_t)size);
	return NULL;
}

static bool abd_perf_trace_read_text(
	struct abd_perf_trace *trace, FILE *file, char *error, size_t room)
{
	char *line = NULL;
	const char *wrong = NULL;
	size_t size = 0, number = 0;
	ssize_t length;

	while (wrong == NULL && (length = getline(&line, &size, file)) >= 0) {
		number++;
		if (length > 0 && line[length - 1] == '\n')
			line[--length] = '\0';
		if (length > 0 && line[length - 1] == '\r')
			line[--length] = '\0';
		wrong = strlen(line) == (size_t)length ? abd_perf_trace_line(trace, line)
						       : "a byte 0: this is no text";
	}
	free(line);
	if (wrong != NULL)
		snprintf(error, room, "line %zu: %s", number, wrong);
	return wrong == NULL;
}

static bool abd_perf_trace_read_oracle_general(
	struct abd_perf_trace *trace, FILE *file, char *error, size_t room)
{
	unsigned char record[ORACLE_GENERAL];
	uint64_t key;
	uint32_t size;
	size_t at = 0, got;

	for (; (got = fread(record, 1, sizeof(record), file)) == sizeof(record); at += got) {
		memcpy(&key, record + 4, sizeof(key));
		memcpy(&size, record + 12, sizeof(size));
		size = le32toh(size);
		if (size > ABD_PERF_TRACE_SIZE_MAX) {
			snprintf(error, room, "byte %zu: a record of %u bytes", at + 12, size);
			return false;
		}
		if (size > 0)
			abd_perf_trace_add(trace, le64toh(key), size);
	}
	if (got > 0)
		snprintf(error, room, "byte %zu: it ends within a request of 24 bytes", at + got);
	return got == 0;
}

bool abd_perf_trace_read(
	struct abd_perf_trace *trace, FILE *file, bool is_oracle_general, char *error, size_t room)
{
	bool right;

	memset(trace, 0, sizeof(*trace));
	right = is_oracle_general ? abd_perf_trace_read_oracle_general(trace, file, error, room)
				  : abd_perf_trace_read_text(trace, file, error, room);
	if (right && ferror(file)) {
		snprintf(error, room, "%s", strerror(errno));
		right = false;
	}
	if (right && trace->count == 0) {
		snprintf(error, room, "no request in it");
		right = false;
	}
	abd_perf_trace_finish(trace);
	return right;
}
