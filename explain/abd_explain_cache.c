/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements about a cache of records. What it holds is asked of its statistics: T1 and T2 are
 * drawn to the scale of what records may cost, the ghosts as what they cost when they were records.
 */
#include "abd_explain_cache.h"
#include "abd_explain_run.h"

#include <errno.h>
#include <stdlib.h>

struct abd_explain_cache {
	abd_arc_t *arc;
	struct abd_arc_stats before; /* at the last picture */
	abd_arc_hold_t hold;
	bool is_held;
};

enum { ABD_EXPLAIN_CACHE_MAX = 1 << 20, ABD_EXPLAIN_SCAN_MAX = 1000 };

void abd_explain_cache_end(struct abd_explain_cache *cache)
{
	if (cache == NULL)
		return;
	if (cache->is_held)
		abd_arc_release(&cache->hold);
	abd_arc_destroy(cache->arc);
	free(cache);
}

/* ---- the picture ----------------------------------------------------------------------------- */

static size_t abd_explain_cache_kib(uint64_t bytes)
{
	return (size_t)((bytes + 512) >> 10);
}

static void abd_explain_cache_part(
	struct abd_explain_shot *shot, const char *place, size_t off, size_t size)
{
	if (size > 0)
		shot->parts[shot->part_count++] =
			(struct abd_explain_part){off, size, 0, "", place, -1, -1};
}

/* Two lists side by side, and what they leave of size, all in KiB: so every build draws the same.
 */
static struct abd_explain_shot *abd_explain_cache_lists(struct abd_explain_run *run,
	const char *name, const char *const places[3], const size_t sizes[3])
{
	struct abd_explain_shot *shot = abd_explain_trace_new(run->trace, sizeof(*shot));

	shot->name = name;
	shot->kind = "memory";
	shot->size = sizes[0] + sizes[1] + sizes[2];
	shot->is_linear = true;
	shot->head = abd_explain_trace_text(
		run->trace, "%s %zu KiB, %s %zu KiB", places[0], sizes[0], places[1], sizes[1]);
	shot->parts = abd_explain_trace_new(run->trace, 3 * sizeof(*shot->parts));
	abd_explain_cache_part(shot, places[0], 0, sizes[0]);
	abd_explain_cache_part(shot, places[1], sizes[0], sizes[1]);
	abd_explain_cache_part(shot, places[2], sizes[0] + sizes[1], sizes[2]);
	abd_explain_run_show(run, shot);
	return shot;
}

static void abd_explain_cache_told(
	struct abd_explain_run *run, uint64_t before, uint64_t now, const char *what)
{
	if (now > before)
		abd_explain_trace_note(run->trace, run->step, "%s%s.",
			abd_explain_run_count(run, (size_t)(now - before), "record"), what);
}

/* Draw the lists, and say what the statistics say has happened since the last picture. */
static void abd_explain_cache_draw(struct abd_explain_run *run)
{
	static const char *const lists[] = {"T1", "T2", "free"}, *const ghosts[] = {"B1", "B2", ""};
	struct abd_explain_cache *cache = run->world.cache;
	struct abd_arc_stats *before = &cache->before, now;
	size_t t1, t2, c, p;

	abd_arc_stats_get(cache->arc, &now, sizeof(now));
	t1 = abd_explain_cache_kib(now.recent_bytes);
	t2 = abd_explain_cache_kib(now.frequent_bytes);
	c = abd_explain_cache_kib(now.target_bytes);
	p = abd_explain_cache_kib(now.target_recent_bytes);
	c = c > t1 + t2 ? c - t1 - t2 : 0;
	abd_explain_trace_mark(
		abd_explain_cache_lists(run, "records", lists, (size_t[]){t1, t2, c}), 0, p,
		"p, what T1 should have");
	t1 = abd_explain_cache_kib(now.ghost_recent_bytes);
	t2 = abd_explain_cache_kib(now.ghost_frequent_bytes);
	if (t1 + t2 > 0)
		abd_explain_cache_lists(run, "ghosts", ghosts, (size_t[]){t1, t2, 0});
	abd_explain_cache_told(
		run, before->evictions, now.evictions, " evicted: only names are kept");
	abd_explain_cache_told(run, before->ghost_hits_recent, now.ghost_hits_recent,
		" came back whose ghost was in B1: T1 was too short, so p grows");
	abd_explain_cache_told(run, before->ghost_hits_frequent, now.ghost_hits_frequent,
		" came back whose ghost was in B2: T2 was too short, so p shrinks");
	if (now.evictions == before->evictions && now.puts == before->puts + 1 &&
		now.stored_bytes > before->stored_bytes)
		abd_explain_trace_note(run->trace, run->step, "Kept as %zu bytes for %zu.",
			(size_t)(now.stored_bytes - before->stored_bytes),
			(size_t)(now.logical_bytes - before->logical_bytes));
	*before = now;
}

/* ---- statements ------------------------------------------------------------------------------ */

void abd_explain_cache_arc(struct abd_explain_run *run)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .hit_batch = 1};
	struct abd_explain_cache *cache;

	config.capacity_bytes = abd_explain_run_size_max(run, "SIZE", ABD_EXPLAIN_CACHE_MAX);
	abd_explain_run_end(run);
	if (run->world.cache != NULL)
		abd_explain_run_wrong(run, "there is a cache already: expected one in a script");
	if (abd_explain_memory_pool(&run->world) != 0)
		abd_explain_run_wrong(run, "the system refuses address space for the pool");
	abd_explain_run_call(run, "arc = abd_arc_create(&config)");
	cache = calloc(1, sizeof(*cache));
	if (cache == NULL)
		abort();
	cache->arc = abd_arc_create(&config);
	if (cache->arc == NULL) {
		free(cache);
		abd_explain_run_wrong(
			run, "'%s' is no capacity: expected 64k to 1m", run->words[1]);
	}
	run->world.cache = cache;
	abd_explain_cache_draw(run);
}

/* The next word: a record's number, the key's birth. */
static abd_arc_key_t abd_explain_cache_key(struct abd_explain_run *run)
{
	if (run->world.cache == NULL)
		abd_explain_run_wrong(
			run, "'%s' needs a cache: expected arc SIZE first", run->words[0]);
	return (abd_arc_key_t){.birth = abd_explain_run_size(run, "NUMBER")};
}

static bool abd_explain_cache_refused(struct abd_explain_run *run, ssize_t error)
{
	if (error >= 0)
		return false;
	run->step->outcome = ABD_EXPLAIN_REFUSED;
	abd_explain_trace_note(run->trace, run->step, "%s.",
		error == -ENOENT   ? "-ENOENT: the cache has no such record"
		: error == -ENOSPC ? "-ENOSPC: the record is larger than the cache"
		: error == -EINVAL ? "-EINVAL: no such bytes in the record"
				   : "-ENOMEM: there is not enough memory");
	return true;
}

void abd_explain_cache_put(struct abd_explain_run *run)
{
	abd_arc_key_t key = abd_explain_cache_key(run);
	size_t count = 1, size;
	int error = 0;

	if (abd_explain_run_is_size(run))
		count = abd_explain_run_size_max(run, "COUNT", ABD_EXPLAIN_SCAN_MAX);

	struct abd_explain_buffer *buffer = abd_explain_run_buffer_or_newest(run);

	abd_explain_run_end(run);
	size = abd_get_size(buffer->abd);
	abd_explain_run_call(run, "buf = abd_borrow_buf_copy(%s, %zu)", buffer->name, size);
	abd_explain_run_call(run, "abd_arc_put(arc, &key, buf, %zu)", size);

	char *buf = abd_explain_run_scratch(run, size);

	abd_copy_to_buf(buf, buffer->abd, size);
	for (; error == 0 && count > 0; count--, key.birth++)
		error = abd_arc_put(run->world.cache->arc, &key, buf, size);
	abd_explain_cache_refused(run, error);
	abd_explain_cache_draw(run);
}

void abd_explain_cache_read(struct abd_explain_run *run)
{
	abd_arc_key_t key = abd_explain_cache_key(run);
	size_t off = abd_explain_run_size(run, "OFFSET"), size = abd_explain_run_size(run, "SIZE");
	ssize_t got;

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_arc_read(arc, &key, buf, %zu, %zu)", off, size);

	char *buf = abd_explain_run_scratch(run, size);

	got = abd_arc_read(run->world.cache->arc, &key, buf, off, size);
	if (!abd_explain_cache_refused(run, got))
		abd_explain_trace_note(run->trace, run->step, "Found: %s.",
			abd_explain_run_count(run, (size_t)got, "byte"));
	abd_explain_cache_draw(run);
}

void abd_explain_cache_hold(struct abd_explain_run *run)
{
	abd_arc_key_t key = abd_explain_cache_key(run);
	struct abd_explain_cache *cache = run->world.cache;

	abd_explain_run_end(run);
	if (cache->is_held)
		abd_explain_run_wrong(run, "a record is held: expected arc_release first");
	abd_explain_run_call(run, "abd_arc_hold(arc, &key, &hold)");
	if (abd_explain_cache_refused(run, abd_arc_hold(cache->arc, &key, &cache->hold)))
		return;
	cache->is_held = true;
	abd_explain_trace_note(run->trace, run->step,
		"Nothing is copied: hold.abd is the cache's own buffer, %zu bytes of %s for %zu.",
		cache->hold.stored_size, cache->hold.compressed ? "lz4" : "record",
		cache->hold.logical_size);
	abd_explain_cache_draw(run);
}

void abd_explain_cache_release(struct abd_explain_run *run)
{
	struct abd_explain_cache *cache = run->world.cache;
	struct abd_arc_stats before, after;

	abd_explain_run_end(run);
	if (cache == NULL || !cache->is_held)
		abd_explain_run_wrong(run, "nothing is held: expected arc_hold first");
	abd_explain_run_call(run, "abd_arc_release(&hold)");
	abd_arc_stats_get(cache->arc, &before, sizeof(before));
	abd_arc_release(&cache->hold);
	cache->is_held = false;
	abd_arc_stats_get(cache->arc, &after, sizeof(after));
	abd_explain_trace_note(run->trace, run->step, "held_bytes: %zu KiB, then %zu.",
		abd_explain_cache_kib(before.held_bytes), abd_explain_cache_kib(after.held_bytes));
	abd_explain_cache_draw(run);
}

void abd_explain_cache_remove(struct abd_explain_run *run)
{
	abd_arc_key_t key = abd_explain_cache_key(run);

	abd_explain_run_end(run);
	abd_explain_run_call(run, "abd_arc_remove(arc, &key)");
	if (!abd_explain_cache_refused(run, abd_arc_remove(run->world.cache->arc, &key)) &&
		run->world.cache->is_held)
		abd_explain_trace_note(run->trace, run->step,
			"No read finds it any more; whoever holds it can still read it.");
	abd_explain_cache_draw(run);
}
