/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A script's cache. Where the library was built without it, abd_explain_cache_none.c has no
 * statements, and a script that asks for a cache is wrong.
 */
#ifndef ABD_EXPLAIN_CACHE_H
#define ABD_EXPLAIN_CACHE_H

struct abd_explain_cache;

/** End the cache, with what is held in it. NULL is ignored. */
void abd_explain_cache_end(struct abd_explain_cache *cache);

#endif
