/* SPDX-License-Identifier: BSD-2-Clause */
#include "abd_arc_fill.h"
#include "abd_arc_hold.h"
#include "abd_arc_read.h"
/*
 * Batches. Among many records a hit waits for memory: for its line of the index, then for the
 * entry, then for the record's first bytes. Of a batch, each of these is fetched for all keys
 * before the next is looked at, so the waits overlap. Then each key is held, all in one section,
 * and read outside:
 *
 *   key 0   line ......   entry ......   record ......   hold
 *   key 1    line ......   entry ......   record ......      hold
 *   key 2     line ......   entry ......   record ......         hold
 *
 * The keys are compared in a loop of their own, right after the entries were fetched. A fetch alone
 * may come to nothing while many are under way; a load can't. For 16 holds among 1e6 records this,
 * and to hold in the same section what was found, is worth 129 - 110 ns each (AMD Zen 4).
 * Invariant: each key's result is that of a single call.
 * OpenZFS: none; each look-up in its hash table takes a lock.
 * Source: Chen, Ailamaki, Gibbons, Mowry, "Improving Hash Join Performance through Prefetching"
 * (ICDE 2004), group prefetching.
 */

/* Keys whose memory is fetched together. */
#define ABD_ARC_BATCH 16

/*
 * Fewer holds are taken one by one: the CPU overlaps two or three by itself. As a batch two took 57
 * ns each among 1e4 records, alone 39; among 1e6 records 241 and 245 (AMD Zen 4).
 */
#define ABD_ARC_BATCH_LEAST 4

/* Keys that are looked up together. */
struct abd_arc_many {
	size_t count;
	const abd_arc_key_t *key[ABD_ARC_BATCH];
	uint64_t hash[ABD_ARC_BATCH];
	struct abd_arc_entry *found[ABD_ARC_BATCH]; /* as abd_arc_index_find() returns it */
	void *handle[ABD_ARC_BATCH];                /* if that is a record */
};

static_assert(ABD_ARC_BATCH <= ABD_ARC_SLOTS_READ, "each read of a batch has its slot");

/* Fetch the entries that a line has for this hash's tag, but none that is leaving: it may be freed.
 */
static void abd_arc_many_fetch(const struct abd_arc_line *line, uint64_t hash)
{
	uint64_t tags = atomic_load_explicit(&line->tags, memory_order_acquire);
	uint64_t match = abd_arc_index_zeroes(tags ^ (hash >> 56) * 0x0001010101010101u);

	for (; match != 0; match &= match - 1) {
		const struct abd_arc_entry *entry = atomic_load_explicit(
			&line->slot[__builtin_ctzll(match) / 8], memory_order_acquire);

		if (ABD_UNLIKELY(abd_arc_index_is_leaving(entry)))
			continue;
		__builtin_prefetch(entry); /* two cache lines */
		__builtin_prefetch(&entry->own);
	}
}

/* Look up all keys, and fetch the records' first bytes. Inside a section. */
static void abd_arc_many_find(struct abd_arc *arc, struct abd_arc_many *many)
{
	const struct abd_arc_line *line[ABD_ARC_BATCH];

	for (size_t i = 0; i < many->count; i++) {
		struct abd_arc_index *index = abd_arc_shard(arc, many->hash[i])->index;
		size_t home = abd_arc_index_home(
			many->hash[i], atomic_load_explicit(&index->lines, memory_order_acquire));

		line[i] = &abd_arc_index_page(index, home)[home % ABD_ARC_PAGE_LINES];
		__builtin_prefetch(line[i]);
	}
	for (size_t i = 0; i < many->count; i++)
		abd_arc_many_fetch(line[i], many->hash[i]);
	for (size_t i = 0; i < many->count; i++) {
		struct abd_arc_entry *entry = abd_arc_index_find(
			abd_arc_shard(arc, many->hash[i])->index, many->hash[i], many->key[i]);

		many->found[i] = entry;
		if (ABD_LIKELY(entry != NULL && !abd_arc_index_is_leaving(entry)))
			__builtin_prefetch(entry->own.abd_size > 0
						   ? entry->own.abd_u.abd_linear.abd_buf
						   : (const void *)entry->own.abd_parent);
	}
}

/* The next of n keys from at on, which lie this far apart. */
static void abd_arc_many_begin(struct abd_arc *arc, struct abd_arc_many *many,
	const abd_arc_key_t *first, size_t stride, size_t at, size_t n)
{
	many->count = n - at < ABD_ARC_BATCH ? n - at : ABD_ARC_BATCH;
	for (size_t i = 0; i < many->count; i++) {
		many->key[i] = (const void *)((const char *)first + (at + i) * stride);
		many->hash[i] = abd_arc_hash(arc, many->key[i]);
	}
}

/*
 * Look up and hold the next of n keys, which lie this far apart. found is NULL for a key without a
 * record. If the entry is leaving, the key is left to a call of its own. Returns the thread whose
 * slots of reads are in use until abd_arc_many_read() has read all, or NULL.
 */
static struct abd_arc_thread *abd_arc_many_take(struct abd_arc *arc, struct abd_arc_many *many,
	bool is_read, const abd_arc_key_t *first, size_t stride, size_t at, size_t n)
{
	struct abd_arc_thread *thread = NULL;

	abd_arc_many_begin(arc, many, first, stride, at, n);
	for (size_t i = 0; i < many->count; i++)
		thread = abd_arc_thread_enter(abd_arc_shard(arc, many->hash[i]));
	bool in_slots = is_read && thread != NULL && abd_arc_thread_reads(thread);

	if (in_slots)
		thread->reading = ABD_ARC_READING_BATCH;
	struct urcu_bp_reader *section = abd_arc_thread_section(thread);

	abd_arc_many_find(arc, many);
	for (size_t i = 0; i < many->count; i++) {
		struct abd_arc *shard = abd_arc_shard(arc, many->hash[i]);
		struct abd_arc_entry *entry = many->found[i];

		if (entry == NULL || abd_arc_index_is_leaving(entry))
			continue;
		many->handle[i] = in_slots ? abd_arc_slot_fill(&thread->slot[i], shard, entry)
					   : abd_arc_hold_take(shard, thread, entry);
	}
	abd_arc_rcu_end(section);
	return in_slots ? thread : NULL;
}

/*
 * The ith record was damaged, and has been dropped. Let the later ones go, and look up anew: one
 * may have the same key.
 */
static ABD_COLD void abd_arc_many_cut(struct abd_arc_many *many, size_t i)
{
	size_t count = many->count;

	many->count = i + 1;
	while (++i < count)
		if (many->found[i] != NULL && !abd_arc_index_is_leaving(many->found[i]))
			abd_arc_hold_end(many->handle[i], many->found[i]);
}

/* Do what a single hold does with the entry that it found. Returns the key's result. */
static int abd_arc_many_held(struct abd_arc *arc, const struct abd_arc_many *many, size_t i,
	abd_arc_hold_t *hold, bool touch)
{
	struct abd_arc *shard = abd_arc_shard(arc, many->hash[i]);
	struct abd_arc_thread *thread = abd_arc_thread_self;
	struct abd_arc_entry *entry = many->found[i];

	if (ABD_UNLIKELY(abd_arc_index_is_leaving(entry)))
		return abd_arc_hold_touch(shard, thread, many->hash[i], many->key[i], hold, touch);
	if (entry != NULL)
		return abd_arc_hold_found(shard, thread, many->handle[i], entry, hold, touch);
	abd_arc_hold_clear(hold);
	abd_arc_count(shard, thread, ABD_ARC_COUNT_MISSES);
	return -ENOENT;
}

/* Not inlined: a few keys need not save registers for this. */
static ABD_NOINLINE size_t abd_arc_many_hold(struct abd_arc *arc, const abd_arc_key_t *keys,
	abd_arc_hold_t *holds, int *results, size_t n, bool touch)
{
	struct abd_arc_many many;
	size_t held = 0;

	for (size_t at = 0; at < n; at += many.count) {
		(void)abd_arc_many_take(arc, &many, false, keys, sizeof(*keys), at, n);
		for (size_t i = 0; i < many.count; i++) {
			results[at + i] = abd_arc_many_held(arc, &many, i, &holds[at + i], touch);
			held += results[at + i] == 0;
			if (ABD_UNLIKELY(results[at + i] == -EBADMSG))
				abd_arc_many_cut(&many, i);
		}
	}
	return held;
}

size_t abd_arc_hold_many(
	abd_arc_t *arc, const abd_arc_key_t *keys, abd_arc_hold_t *holds, int *results, size_t n)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(keys != NULL || n == 0, "keys is NULL");
	ABD_REQUIRE(holds != NULL || n == 0, "holds is NULL");
	ABD_REQUIRE(results != NULL || n == 0, "results is NULL");
	if (n >= ABD_ARC_BATCH_LEAST)
		return abd_arc_many_hold(arc, keys, holds, results, n, true);
	size_t held = 0;

	for (size_t i = 0; i < n; i++) {
		results[i] = abd_arc_hold(arc, &keys[i], &holds[i]);
		held += results[i] == 0;
	}
	return held;
}

/* Begin to fill what the look-up has not found. */
static int abd_arc_many_fill(
	struct abd_arc *arc, struct abd_arc_wish *wish, abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	if (wish->size == 0) {
		abd_arc_release(hold);
		return -EINVAL;
	}
	wish->hash = abd_arc_hash(arc, wish->key);
	arc = abd_arc_shard(arc, wish->hash);
	return abd_arc_fill_missing(arc, abd_arc_thread_enter(arc), wish, hold, fill);
}

size_t abd_arc_hold_or_fill_many(abd_arc_t *arc, const abd_arc_key_t *keys, const size_t *sizes,
	unsigned flags, abd_arc_hold_t *holds, abd_arc_fill_t *fills, int *results, size_t n)
{
	struct abd_arc_wish wish = {.flags = flags | ABD_ARC_NOWAIT, .is_async = true};
	size_t done = 0;

	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(keys != NULL || n == 0, "keys is NULL");
	ABD_REQUIRE(sizes != NULL || n == 0, "sizes is NULL");
	ABD_REQUIRE(holds != NULL || n == 0, "holds is NULL");
	ABD_REQUIRE(fills != NULL || n == 0, "fills is NULL");
	ABD_REQUIRE(results != NULL || n == 0, "results is NULL");
	abd_arc_rcu_require_outside(__func__);
	bool is_known = (flags & ~ABD_ARC_FILL_FLAGS) == 0;

	if (is_known)
		abd_arc_many_hold(arc, keys, holds, results, n, (flags & ABD_ARC_NO_TOUCH) == 0);
	for (size_t i = 0; i < n; i++) {
		fills[i] = (abd_arc_fill_t){NULL, 0, NULL};
		wish.key = &keys[i];
		wish.size = sizes[i];
		if (!is_known) {
			abd_arc_hold_clear(&holds[i]);
			results[i] = -EINVAL;
		} else if (results[i] != 0 || wish.size == 0) {
			results[i] = abd_arc_many_fill(arc, &wish, &holds[i], &fills[i]);
		}
		done += results[i] >= 0;
	}
	return done;
}

/* Do what a single read does with the entry that it found. */
static ssize_t abd_arc_many_read_one(
	struct abd_arc *arc, const struct abd_arc_many *many, size_t i, const abd_arc_io_t *io)
{
	struct abd_arc *shard = abd_arc_shard(arc, many->hash[i]);
	struct abd_arc_thread *thread = abd_arc_thread_self;
	struct abd_arc_entry *entry = many->found[i];
	void *handle = many->handle[i];

	if (ABD_UNLIKELY(abd_arc_index_is_leaving(entry)))
		entry = abd_arc_hold_any_read(shard, thread, many->hash[i], many->key[i], &handle);
	if (entry != NULL)
		return abd_arc_read_found(
			shard, thread, handle, entry, io->dst, io->off, io->size, true);
	abd_arc_count(shard, thread, ABD_ARC_COUNT_MISSES);
	return -ENOENT;
}

static ABD_NOINLINE size_t abd_arc_many_read(struct abd_arc *arc, abd_arc_io_t *ios, size_t n)
{
	struct abd_arc_many many;
	size_t done = 0;

	for (size_t at = 0; at < n; at += many.count) {
		struct abd_arc_thread *thread =
			abd_arc_many_take(arc, &many, true, &ios->key, sizeof(*ios), at, n);

		for (size_t i = 0; i < many.count; i++) {
			abd_arc_io_t *io = &ios[at + i];

			io->result = abd_arc_many_read_one(arc, &many, i, io);
			done += io->result >= 0;
			if (ABD_UNLIKELY(io->result == -EBADMSG))
				abd_arc_many_cut(&many, i);
		}
		if (ABD_LIKELY(thread != NULL))
			thread->reading = 0;
	}
	return done;
}

size_t abd_arc_read_many(abd_arc_t *arc, abd_arc_io_t *ios, size_t n)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(ios != NULL || n == 0, "ios is NULL");
	for (size_t i = 0; i < n; i++)
		ABD_REQUIRE(ios[i].dst != NULL || ios[i].size == 0, "dst of ios[%zu] is NULL", i);
	if (n != 1)
		return abd_arc_many_read(arc, ios, n);
	ios->result = abd_arc_read(arc, &ios->key, ios->dst, ios->off, ios->size);
	return ios->result >= 0;
}
