/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache whose life `abd-perf run arc-life` measures: the library's, or with --cache one that a
 * shared library of yours has as the object abd_perf_life_cache (examples/rocksdb-abd/life.cpp).
 */
#ifndef ABD_PERF_LIFE_H
#define ABD_PERF_LIFE_H

#include <abd/arc.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Calls as arc.h's. Of another cache, abd_arc_t is what it makes; a hold's members are its own; and
 * of the statistics it sets those that it has.
 */
struct abd_perf_life_cache {
	abd_arc_t *(*create)(size_t capacity); /* NULL: it can't */
	int (*put)(abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size);
	ssize_t (*read)(
		abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t len);
	int (*hold)(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold);
	void (*release)(abd_arc_hold_t *hold);
	int (*resize)(abd_arc_t *arc, size_t capacity_bytes);
	int (*stats_get)(abd_arc_t *arc, struct abd_arc_stats *stats, size_t size);
	void (*destroy)(abd_arc_t *arc);
};

/** What the shared library defines. */
__attribute__((visibility("default"))) extern const struct abd_perf_life_cache abd_perf_life_cache;

#ifdef __cplusplus
}
#endif

#endif
