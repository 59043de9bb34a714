/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces: requests to a cache, made or read from a file. A made one follows from its kind and the
 * seed.
 *
 * A file has requests in one of two forms.
 *   text           a line a request: KEY SIZE [POOL]. KEY is any word without blanks, at most 255
 *                  bytes; SIZE is in bytes, POOL a number: the same key in two pools is two
 *                  records. Empty lines, and lines that begin with #, are left out.
 *   oracleGeneral  libCacheSim's binary, 24 bytes a request, little-endian: time (uint32), key
 *                  (uint64), size (uint32), when the key is asked for next (int64; not used: it is
 *                  found out). Requests of size 0 are left out, as there. The file's name says that
 *                  it is one: oracleGeneral is in it.
 * A key has one size, that of its last request.
 */
#ifndef ABD_PERF_TRACE_H
#define ABD_PERF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ABD_PERF_NEVER UINT32_MAX
/** The largest record in a trace. */
#define ABD_PERF_TRACE_SIZE_MAX ((uint32_t)1 << 30)

struct abd_perf_request {
	uint64_t key;
	uint32_t size;
	uint32_t next; /* the number of the next request of this key; ABD_PERF_NEVER: none */
};

struct abd_perf_trace {
	struct abd_perf_request *request;
	size_t count, room;
	size_t distinct;         /* keys */
	uint64_t bytes;          /* of all requests */
	uint64_t distinct_bytes; /* of all keys, each once */
	bool one_size;           /* all records have the same */
};

/** The names of those that are made, NULL after the last. */
extern const char *const abd_perf_trace_names[];

/** Make the trace of a number in abd_perf_trace_names, of so many requests over so many keys. */
void abd_perf_trace_make(
	struct abd_perf_trace *trace, unsigned kind, size_t keys, size_t requests, uint64_t seed);
/**
 * Read a trace. False: it is damaged, and error says where and how: "line 3: ...", "byte 24: ...".
 */
bool abd_perf_trace_read(
	struct abd_perf_trace *trace, FILE *file, bool is_oracle_general, char *error, size_t room);
void abd_perf_trace_free(struct abd_perf_trace *trace);

/** Add a request; its next is set by abd_perf_trace_finish(). */
void abd_perf_trace_add(struct abd_perf_trace *trace, uint64_t key, uint32_t size);
/** Find out what follows from the requests; keys are numbers from 0 on after that. */
void abd_perf_trace_finish(struct abd_perf_trace *trace);

#endif
