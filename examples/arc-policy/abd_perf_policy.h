/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Policies: which record goes when a cache is full. Each is simulated over keys and sizes, without
 * the records' bytes: a node for each key, and lists of these. A node in a list is a record in the
 * cache, or a ghost: the key of one that went. Keys are small numbers (abd_perf_trace_finish()).
 *
 * A policy is two functions, for a request that finds its record and for one that does not; what
 * they need to move nodes is below. The capacity counts bytes of records, not what a policy notes
 * about them: that is counted beside it. The exceptions are the library's own cache, which is not
 * simulated (abd_perf_policy_library.c), and bounds that know the future (abd_perf_policy_roof.c).
 */
#ifndef ABD_PERF_POLICY_H
#define ABD_PERF_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- traces ---------------------------------------------------------------------------------- */

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

/* ---- policies -------------------------------------------------------------------------------- */

struct abd_perf_link {
	struct abd_perf_link *next, *prev;
};

struct abd_perf_list {
	struct abd_perf_link head; /* next: the newest; prev: the oldest */
	size_t bytes, count;
};

struct abd_perf_node {
	struct abd_perf_link link;  /* first: a pointer to it points to the node */
	struct abd_perf_link other; /* of a second list, which is the policy's own */
	uint64_t key;
	uint32_t size;
	uint32_t next; /* when it is asked for again, for a bound that knows the future */
	uint8_t list;  /* ABD_PERF_NONE: neither in the cache nor a ghost */
	uint8_t uses;  /* what the policy notes of hits */
	bool is_other; /* it is in the policy's own list, too */
};

/* Lists from ABD_PERF_GHOSTS on are of ghosts. */
enum { ABD_PERF_GHOSTS = 3, ABD_PERF_LISTS = 5, ABD_PERF_NONE = ABD_PERF_LISTS };

struct abd_perf_cache {
	const struct abd_perf_policy *policy;
	size_t capacity, used; /* bytes of records */
	struct abd_perf_list list[ABD_PERF_LISTS];
	/* the policy's own */
	size_t target;
	struct abd_perf_node *hand;
	void *own;
	size_t own_bytes;            /* of own: what the policy would need for it */
	struct abd_perf_node **page; /* by key */
	size_t pages, nodes;         /* nodes: in lists */
	double held; /* of the library's: the mean share of capacity that records take once full */
};

struct abd_perf_policy {
	const char *name;
	unsigned record_bytes; /* what it notes in each record: links, marks */
	void (*hit)(struct abd_perf_cache *cache, struct abd_perf_node *node);
	/*
	 * Not in the cache, but maybe a ghost; it fits the capacity. It is in the cache after that,
	 * if the policy wants.
	 */
	void (*miss)(struct abd_perf_cache *cache, struct abd_perf_node *node);
	void (*begin)(struct abd_perf_cache *cache); /* NULL: nothing to do */
	void (*end)(struct abd_perf_cache *cache);
	/* Instead of hit and miss, where the cache is no simulated one. */
	bool (*access)(struct abd_perf_cache *cache, const struct abd_perf_request *request);
	/* Instead of what record_bytes and ghosts come to. */
	double (*memory)(struct abd_perf_cache *cache);
	uint32_t hit_batch, flags; /* of the library's: its configuration */
};

enum { ABD_PERF_POLICIES = 11 };
/** All of them, NULL after the last; the library's cache first, as it is by default. */
extern const struct abd_perf_policy *const abd_perf_policies[ABD_PERF_POLICIES + 1];
/** Belady's MIN, which knows the future. */
extern const struct abd_perf_policy abd_perf_policy_min;
extern const struct abd_perf_policy abd_perf_policy_lru;

void abd_perf_cache_begin(
	struct abd_perf_cache *cache, const struct abd_perf_policy *policy, size_t capacity);
void abd_perf_cache_end(struct abd_perf_cache *cache);
/** A request: returns whether its record was there. It is there after that, if the policy wants. */
bool abd_perf_cache_access(struct abd_perf_cache *cache, const struct abd_perf_request *request);
/** Bytes that the policy notes, ghosts included, for each record that is in the cache now. */
double abd_perf_cache_memory(struct abd_perf_cache *cache);

/**
 * PFOO-L of Berger, Beckmann and Harchol-Balter ("Practical Bounds on Optimal Caching with Variable
 * Object Sizes", 2018): no policy whatever has more hits, but none need have so many. A record that
 * stays from one use to the next costs its size times the requests between; the cheapest stay,
 * until the capacity times all requests is spent. In requests; by_bytes: in bytes of requests.
 */
double abd_perf_policy_pfoo(const struct abd_perf_trace *trace, size_t capacity, bool by_bytes);

/* ---- for policies ---------------------------------------------------------------------------- */

/** Put a node that is in no list to the front of one. */
void abd_perf_node_put(struct abd_perf_cache *cache, struct abd_perf_node *node, unsigned list);
/** Take a node out of its list, if it is in one. */
void abd_perf_node_pull(struct abd_perf_cache *cache, struct abd_perf_node *node);
void abd_perf_node_move(struct abd_perf_cache *cache, struct abd_perf_node *node, unsigned list);
/** The oldest of a list; NULL: it is empty. */
struct abd_perf_node *abd_perf_node_oldest(struct abd_perf_cache *cache, unsigned list);
/** The one that came before it to its list's front, after it; NULL: it is the newest. */
struct abd_perf_node *abd_perf_node_newer(
	struct abd_perf_cache *cache, const struct abd_perf_node *node);
/** Pull the oldest of a list until it has so many bytes at most. */
void abd_perf_list_trim(struct abd_perf_cache *cache, unsigned list, size_t bytes);

void abd_perf_link_push(struct abd_perf_link *head, struct abd_perf_link *link);
void abd_perf_link_pull(struct abd_perf_link *link);
uint64_t abd_perf_policy_hash(uint64_t key);
/** Memory that must be there. */
void *abd_perf_policy_alloc(size_t size);

static inline bool abd_perf_cache_is_full(const struct abd_perf_cache *cache, size_t incoming)
{
	return cache->used + incoming > cache->capacity;
}

#endif
