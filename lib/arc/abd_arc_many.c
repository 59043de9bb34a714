/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches. Among many records a hit waits for memory: for its line of the index, then for the
 * entry, then for the record's first bytes. Of a batch, each of these is fetched for all keys
 * before the next is looked at, so the waits overlap. Then each key is held or read:
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
#include "abd_arc_impl.h"

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
};

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

/* What abd_arc_many_take() returns for a key that is to be held by a call of its own. */
#define ABD_ARC_MANY_ALONE 1

/*
 * Hold what was found, inside the section that found it. What may take long there, or needs memory,
 * is done alone: a record that is leaving, checksums, and more holds than the block has slots.
 */
static int abd_arc_many_take(const struct abd_arc *arc, struct abd_arc_reader *reader,
	struct abd_arc_entry *entry, abd_arc_hold_t *hold)
{
	struct abd_arc_hold_slot *slot = abd_arc_reader_slot_here(reader);

	if (ABD_UNLIKELY(slot == NULL || abd_arc_index_is_leaving(entry) ||
			 (arc->flags & ABD_ARC_CHECKSUM) != 0))
		return ABD_ARC_MANY_ALONE;
	if (entry == NULL) {
		abd_arc_hold_clear(hold);
		return -ENOENT;
	}
	atomic_store_explicit(&slot->entry, entry, memory_order_release);
	abd_arc_hold_fill(hold, slot, entry);
	return 0;
}

/* Outside of sections: what a single call does with what it found. Returns the key's result. */
static int abd_arc_many_note(struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, int result)
{
	if (ABD_UNLIKELY(result == ABD_ARC_MANY_ALONE))
		return abd_arc_hold_touch(arc, reader, hash, key, hold, true);
	abd_arc_reader_count(reader, result == 0 ? ABD_ARC_COUNT_HITS : ABD_ARC_COUNT_MISSES);
	if (result == 0) {
		/* It is held, so it can't be freed. */
		abd_arc_reader_note(arc, reader, abd_arc_held_entry(hold));
		abd_arc_reader_settle(reader);
	}
	return result;
}

/* Not inlined: a few keys need not save registers for this. */
static ABD_NOINLINE size_t abd_arc_many_hold(struct abd_arc *arc, const abd_arc_key_t *keys,
	abd_arc_hold_t *holds, int *results, size_t n)
{
	struct abd_arc_reader *first = abd_arc_reader_get(arc);
	struct abd_arc_many many;
	size_t held = 0;

	for (size_t i = 0; i < n && first == NULL; i++) {
		abd_arc_hold_clear(&holds[i]);
		results[i] = -ENOMEM;
	}
	for (size_t at = 0; at < n && first != NULL; at += many.count) {
		abd_arc_many_begin(arc, &many, keys, sizeof(*keys), at, n);
		/* If the block has no slot left, the cursor goes on to one that has. */
		abd_arc_reader_slot(abd_arc_reader_at(first, abd_arc_shard(arc, many.hash[0])));
		abd_rcu_read_lock_as(first->rcu);
		abd_arc_many_find(arc, &many);
		for (size_t i = 0; i < many.count; i++) {
			struct abd_arc *shard = abd_arc_shard(arc, many.hash[i]);

			results[at + i] = abd_arc_many_take(shard, abd_arc_reader_at(first, shard),
				many.found[i], &holds[at + i]);
		}
		abd_rcu_read_unlock_as(first->rcu);
		for (size_t i = 0; i < many.count; i++) {
			struct abd_arc *shard = abd_arc_shard(arc, many.hash[i]);

			results[at + i] = abd_arc_many_note(shard, abd_arc_reader_at(first, shard),
				many.hash[i], many.key[i], &holds[at + i], results[at + i]);
			held += results[at + i] == 0;
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
		return abd_arc_many_hold(arc, keys, holds, results, n);
	size_t held = 0;

	for (size_t i = 0; i < n; i++) {
		results[i] = abd_arc_hold(arc, &keys[i], &holds[i]);
		held += results[i] == 0;
	}
	return held;
}

static ABD_NOINLINE size_t abd_arc_many_read(struct abd_arc *arc, abd_arc_io_t *ios, size_t n)
{
	struct abd_arc_reader *first = abd_arc_reader_get(arc);
	struct abd_rcu_thread *rcu = abd_arc_reader_rcu(first);
	struct abd_arc_many many;
	size_t done = 0;

	for (size_t at = 0; at < n; at += many.count) {
		abd_arc_many_begin(arc, &many, &ios->key, sizeof(*ios), at, n);
		abd_rcu_read_lock_as(rcu);
		abd_arc_many_find(arc, &many);
		abd_rcu_read_unlock_as(rcu);
		/* Each is read in a section of its own: to decode takes long. */
		for (size_t i = 0; i < many.count; i++) {
			struct abd_arc *shard = abd_arc_shard(arc, many.hash[i]);
			abd_arc_io_t *io = &ios[at + i];

			io->result = abd_arc_read_touch(shard,
				first != NULL ? abd_arc_reader_at(first, shard) : NULL,
				many.hash[i], &io->key, io->dst, io->off, io->size, true);
			done += io->result >= 0;
		}
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
