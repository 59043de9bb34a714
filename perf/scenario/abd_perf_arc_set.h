/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sets of buffers that arc-read reads: the same payloads, held in four ways.
 *
 * Two neighbouring paths differ in one thing only:
 *   linear            abd_alloc_linear(): what there was before buffers were scattered
 *   single, rule on   abd_alloc() of one run, linear_page=1: borrowed as it is    | same runs and
 *   single, rule off  abd_alloc() of one run, linear_page=0: borrowed by a copy   | sizes: only the
 *                                                                                 | copy differs
 *   multi             abd_alloc() at max_order 0, 4 KiB runs at random addresses: borrowed by a
 *                     copy, gathered
 *   own decoder       the buffers of multi, decoded where they lie: abd_lz4_decompress_to_buf(); of
 *                     single, rule on, where payloads are of one page
 * The first four are decoded by liblz4 from borrowed memory. In all paths payloads begin on a 4 KiB
 * boundary, so that no path profits from denser packing or luckier cache sets. Sizes are those of
 * the ARC: the compressed size, rounded up to 512-byte sectors. When a buffer of that size would
 * not be one run (3 pages, say), the single-run paths take the next power of two of pages; the rest
 * of the buffer is never touched.
 */
#ifndef ABD_PERF_ARC_SET_H
#define ABD_PERF_ARC_SET_H

#include "abd_perf_place.h"
#include "abd_perf_scenario.h"
#include "abd_perf_data.h"

#include <lz4.h>

enum abd_perf_arc_kind {
	ABD_PERF_ARC_LINEAR,
	ABD_PERF_ARC_ON,
	ABD_PERF_ARC_OFF,
	ABD_PERF_ARC_MULTI,
	ABD_PERF_ARC_KINDS
};

/* A way to read records. */
struct abd_perf_arc_way {
	const char *name;
	/* the buffers that are read; the own decoder reads those of ON where there is no MULTI */
	enum abd_perf_arc_kind kind;
	bool own_decoder; /* else liblz4, from borrowed memory */
};

#define ABD_PERF_ARC_WAYS 5 /* at most */

/* One visit to a record, in the order of reading. */
struct abd_perf_arc_visit {
	abd_t *abd;
	uint32_t payload_size;
	uint32_t record;
};

struct abd_perf_arc_set {
	const struct abd_perf_records *records;
	const uint32_t *members; /* the records of this class */
	size_t member_count;
	size_t slots;   /* buffers of each kind */
	unsigned kinds; /* 4; 3 where there is no multi: payloads of one page */
	struct abd_perf_arc_visit *visit[ABD_PERF_ARC_KINDS];
	size_t payload_bytes;        /* of each kind */
	struct abd_perf_place place; /* of multi's runs */
};

/**
 * A hot set: distinct records of this many bytes. A set of few records is learnt branch by branch,
 * which no engine's records are (a Zen 4 decodes 4 of them at twice the speed of 4,096).
 */
#define ABD_PERF_ARC_HOT ((size_t)12 << 20)
/**
 * The bytes that a cold set takes in all its paths together: four times the last-level cache. The
 * paths take turns, so as much is read before a record is read again.
 */
size_t abd_perf_arc_cold(void);

/** Fill a set with slots records, in random order. Ends the program when there is no memory. */
void abd_perf_arc_set_make(struct abd_perf_arc_set *set, size_t slots, uint64_t seed);
void abd_perf_arc_set_free(struct abd_perf_arc_set *set);

/** Damage one payload, to show that abd_perf_arc_set_check() sees it. */
void abd_perf_arc_set_damage(struct abd_perf_arc_set *set);

/** Decode one visit's buffer into dst, as a path does. False: decoding failed. */
static inline bool abd_perf_arc_decode(
	const struct abd_perf_arc_visit *visit, bool own_decoder, char *dst, int record_size)
{
	void *buf;
	int n;

	if (own_decoder)
		return abd_lz4_decompress_to_buf(dst, visit->abd, (size_t)record_size, 0,
			       visit->payload_size) == record_size;
	buf = abd_borrow_buf_copy(visit->abd, visit->payload_size);
	if (buf == NULL)
		return false;
	n = LZ4_decompress_safe(buf, dst, (int)visit->payload_size, record_size);
	abd_return_buf(visit->abd, buf, visit->payload_size);
	return n == record_size;
}

/** The visits of a way. */
static inline const struct abd_perf_arc_visit *abd_perf_arc_visits(
	const struct abd_perf_arc_set *set, const struct abd_perf_arc_way *way)
{
	return set->visit[way->kind < set->kinds ? way->kind : ABD_PERF_ARC_ON];
}

/** Whether a way can be measured: payloads of one page are no runs, for liblz4. */
static inline bool abd_perf_arc_has(
	const struct abd_perf_arc_set *set, const struct abd_perf_arc_way *way)
{
	return way->own_decoder || way->kind < set->kinds;
}

/**
 * Decode every buffer in every way and compare the result with its source. Also check that borrows
 * copied exactly in the ways where they should.
 */
bool abd_perf_arc_set_check(
	const struct abd_perf_arc_set *set, const struct abd_perf_arc_way *way, unsigned count);

/** The share of records, in [0, 1], whose buffer is one run with the library's defaults. */
double abd_perf_arc_set_single_share(const struct abd_perf_arc_set *set);

/* ---- reading sets, in ways that take turns: arc-read and codec are two studies of it --------- */

struct abd_perf_arc_study {
	const char *scenario;
	const struct abd_perf_arc_way *ways;
	const struct abd_perf_claim *claims; /* numbers are those of ways */
	unsigned way_count, claim_count;
	/*
	 * Also of records whose payload is one page, and with a thread for each CPU; cold sets are
	 * left out by --quick alone, else taken with --full alone.
	 */
	bool pages;
};

/** Measure records of these sizes, cut from data. Returns an exit status. */
int abd_perf_arc_study_run(const struct abd_perf_arc_study *study, const struct abd_perf_data *data,
	const size_t *size, size_t count, const struct abd_perf_options *options);

#endif
