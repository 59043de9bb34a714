/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sets of buffers that arc-read reads: the same payloads, held in four ways.
 *
 * What differs between two paths is one thing only:
 *   linear            abd_alloc_linear(): what there was before buffers were scattered
 *   single, rule on   abd_alloc() of one run, linear_page=1: borrowed as it is      | the same runs, the same sizes;
 *   single, rule off  abd_alloc() of one run, linear_page=0: borrowed by a copy     | only the copy differs
 *   multi             abd_alloc() at max_order 0, 4 KiB runs at random addresses: borrowed by a copy, gathered
 * Payloads begin on a 4 KiB boundary in all four, so that no path profits from denser packing or luckier cache sets.
 * Sizes are those of the ARC: the compressed size in 512-byte sectors. Where that would not come out as one run (3 pages, say),
 * the single-run paths take a buffer of the next power of two of pages, of which the rest is never touched.
 */
#ifndef ABD_PERF_ARC_SET_H
#define ABD_PERF_ARC_SET_H

#include "abd_perf_place.h"
#include "abd_perf_records.h"

enum abd_perf_arc_kind { ABD_PERF_ARC_LINEAR, ABD_PERF_ARC_ON, ABD_PERF_ARC_OFF, ABD_PERF_ARC_MULTI, ABD_PERF_ARC_KINDS };

extern const char *const abd_perf_arc_kind_name[ABD_PERF_ARC_KINDS];

/* One visit to a record, in the order of reading. */
struct abd_perf_arc_visit {
	abd_t *abd;
	uint32_t payload_size;
	uint32_t record;
};

struct abd_perf_arc_set {
	const struct abd_perf_records *records;
	const uint32_t *members;        /* the records of this class */
	size_t member_count;
	size_t slots;                   /* buffers of each kind */
	unsigned kinds;                 /* 4; 3 where there is no multi: payloads of one page */
	struct abd_perf_arc_visit *visit[ABD_PERF_ARC_KINDS];
	size_t payload_bytes;           /* of each kind */
	struct abd_perf_place place;    /* of multi's runs */
};

/** Fill a set with slots copies of records, in random order. Ends the program when memory does. */
void abd_perf_arc_set_make(struct abd_perf_arc_set *set, size_t slots, uint64_t seed);
void abd_perf_arc_set_free(struct abd_perf_arc_set *set);

/** Damage one payload, to show that abd_perf_arc_set_check() sees it. */
void abd_perf_arc_set_damage(struct abd_perf_arc_set *set);

/** Decode every buffer and compare with its source; also that borrows copied where, and only where, they should. */
bool abd_perf_arc_set_check(const struct abd_perf_arc_set *set);

/** Share of the records, in [0, 1], that abd_alloc() at the library's defaults makes single-run. */
double abd_perf_arc_set_single_share(const struct abd_perf_arc_set *set);

#endif
