/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library without the cache.
 */
#include "abd_explain_cache.h"
#include "abd_explain_run.h"

void abd_explain_cache_end(struct abd_explain_cache *cache)
{
	(void)cache;
}

void abd_explain_cache_arc(struct abd_explain_run *run)
{
	abd_explain_run_wrong(run, "this library was built without the cache");
}

void abd_explain_cache_put(struct abd_explain_run *run)
{
	abd_explain_cache_arc(run);
}

void abd_explain_cache_read(struct abd_explain_run *run)
{
	abd_explain_cache_arc(run);
}

void abd_explain_cache_hold(struct abd_explain_run *run)
{
	abd_explain_cache_arc(run);
}

void abd_explain_cache_release(struct abd_explain_run *run)
{
	abd_explain_cache_arc(run);
}

void abd_explain_cache_remove(struct abd_explain_run *run)
{
	abd_explain_cache_arc(run);
}
