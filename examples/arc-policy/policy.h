/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which record goes when a cache is full? Traces, policies that answer their requests, and bounds
 * that know the future. The capacity counts bytes of records, not what a policy notes about them.
 */
#ifndef ARC_POLICY_H
#define ARC_POLICY_H

#include <abd/arc.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NEVER UINT32_MAX
#define SIZE_MOST ((uint32_t)1 << 30) /* of a record */

struct request {
	uint64_t key; /* a number below distinct */
	uint32_t size;
	uint32_t next; /* the number of the next request of this key, or NEVER */
};

struct trace {
	struct request *request;
	size_t count, room, distinct; /* distinct: keys */
	uint64_t distinct_bytes;      /* of all keys, each once */
};

/** Read a trace in a form of docs/notes/arc-policy.md; free its requests. False if error says what
 * is wrong. */
bool trace_read(struct trace *trace, FILE *file, bool is_oracle_general, char *error, size_t room);
/** Add a request of any key. After the last, trace_finish() numbers the keys. */
void trace_add(struct trace *trace, uint64_t key, uint32_t size);
void trace_finish(struct trace *trace);

/* A key: a record in one of the cache's lists, or a ghost in the last list, or in no list. */
struct node {
	struct node *newer, *older;
	uint64_t key;
	uint32_t size;
	uint8_t list, uses;
};

enum { GHOSTS = 3, LISTS, NOWHERE = LISTS };

struct cache {
	const struct policy *policy;
	size_t capacity, used;      /* bytes of records */
	struct node *node;          /* by key */
	struct node head[LISTS];    /* older: the newest of the list */
	size_t bytes[LISTS], nodes; /* nodes: in lists */
	/* W-TinyLFU's sketch: rows of so many counters as its width */
	uint8_t *count;
	size_t width, added;
	/* The library's cache; held: the mean share of capacity that records take once it is full.
	 */
	abd_arc_t *arc;
	size_t arc_capacity;
	uint64_t requests, evictions, looks;
	double held;
};

struct policy {
	const char *name;
	/* Either these two, of a simulated cache. A miss may find a ghost; it fits the capacity. */
	void (*hit)(struct cache *cache, struct node *node);
	void (*miss)(struct cache *cache, struct node *node);
	/* Or the configuration of the library's cache. */
	bool is_library;
	uint32_t hit_batch, flags;
};

enum { POLICIES = 6 };
extern const struct policy policies[POLICIES];

void cache_begin(struct cache *cache, const struct policy *policy, size_t capacity, size_t keys);
void cache_end(struct cache *cache);
/** Returns whether the record was there. It is there after that, if the policy wants. */
bool cache_access(struct cache *cache, const struct request *request);
/** The hits of a policy over a trace. */
double cache_run(const struct policy *policy, const struct trace *trace, size_t capacity);

void library_begin(struct cache *cache);
bool library_access(struct cache *cache, const struct request *request);

/** Hits of Belady's MIN. If all records have one size, no policy has more. */
double roof_min(const struct trace *trace, size_t capacity);
/** PFOO-L, for records of several sizes: no policy has more hits, but none need have so many. */
double roof_pfoo(const struct trace *trace, size_t capacity);

uint64_t hash_of(uint64_t key);
/** Zeroed memory that must be there. */
void *must_alloc(size_t count, size_t size);

#endif
