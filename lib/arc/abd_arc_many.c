/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches. Among many records a hit waits for memory: for its line of the index, then for the
 * entry, then for the record's first bytes. Of a batch, each of these is fetched for all keys
 * before the next is looked at, so the waits overlap. Then each key is held or read as if it were
 * alone:
 *
 *   key 0   line ......   entry ......   record ......   hold
 *   key 1    line ......   entry ......   record ......      hold
 *   key 2     line ......   entry ......   record ......         hold
 *
 * Invariant: to fetch is to decide nothing. A key that is elsewhere than it seemed takes longer.
 * OpenZFS: none; each look-up in its hash table takes a lock.
 * Source: Chen, Ailamaki, Gibbons, Mowry, "Improving Hash Join Performance through Prefetching"
 * (ICDE 2004), group prefetching.
 */
#include "abd_arc_impl.h"

/* Keys whose memory is fetched together. */
#define ABD_ARC_BATCH 16

/*
 * The first entry of a line that has this hash's tag; NULL: there is none to look into, as what is
 * leaving may be freed. Inside a section.
 */
static const struct abd_arc_entry *abd_arc_many_entry(
	const struct abd_arc_line *line, uint64_t hash)
{
	uint64_t tags = atomic_load_explicit(&line->tags, memory_order_acquire);
	uint64_t match = abd_arc_index_zeroes(tags ^ (hash >> 56) * 0x0001010101010101u);

	for (; match != 0; match &= match - 1) {
		const struct abd_arc_entry *entry = atomic_load_explicit(
			&line->slot[__builtin_ctzll(match) / 8], memory_order_acquire);

		if (ABD_LIKELY(!abd_arc_index_is_leaving(entry)))
			return entry;
	}
	return NULL;
}

/* Fetch what the look-ups of these hashes will go through, and the records' first bytes. */
static void abd_arc_many_fetch(
	struct abd_arc *arc, struct abd_rcu_thread *rcu, const uint64_t *hash, size_t n)
{
	const struct abd_arc_line *line[ABD_ARC_BATCH];
	const struct abd_arc_entry *entry[ABD_ARC_BATCH];

	abd_rcu_read_lock_as(rcu);
	for (size_t i = 0; i < n; i++) {
		struct abd_arc_index *index = abd_arc_shard(arc, hash[i])->index;
		size_t home = abd_arc_index_home(
			hash[i], atomic_load_explicit(&index->lines, memory_order_acquire));

		line[i] = &abd_arc_index_page(index, home)[home % ABD_ARC_PAGE_LINES];
		__builtin_prefetch(line[i]);
	}
	for (size_t i = 0; i < n; i++) {
		entry[i] = abd_arc_many_entry(line[i], hash[i]);
		if (entry[i] != NULL) { /* two cache lines */
			__builtin_prefetch(entry[i]);
			__builtin_prefetch(&entry[i]->own);
		}
	}
	for (size_t i = 0; i < n; i++) {
		const abd_t *own = entry[i] != NULL ? &entry[i]->own : NULL;

		if (own == NULL)
			continue;
		__builtin_prefetch(own->abd_size > 0 ? own->abd_u.abd_linear.abd_buf
						     : (const void *)own->abd_parent);
	}
	abd_rcu_read_unlock_as(rcu);
}

/* How many of the n keys from at on are fetched together. */
static size_t abd_arc_many_count(size_t at, size_t n)
{
	return n - at < ABD_ARC_BATCH ? n - at : ABD_ARC_BATCH;
}

/* Not inlined: a single key need not save registers for this. */
static ABD_NOINLINE size_t abd_arc_many_hold(struct abd_arc *arc, const abd_arc_key_t *keys,
	abd_arc_hold_t *holds, int *results, size_t n)
{
	struct abd_arc_reader *first = abd_arc_reader_get(arc);
	uint64_t hash[ABD_ARC_BATCH];
	size_t held = 0, count;

	for (size_t at = 0; at < n; at += count) {
		count = abd_arc_many_count(at, n);
		for (size_t i = 0; i < count; i++)
			hash[i] = abd_arc_hash(arc, &keys[at + i]);
		abd_arc_many_fetch(arc, abd_arc_reader_rcu(first), hash, count);
		for (size_t i = at; i < at + count; i++) {
			struct abd_arc *shard = abd_arc_shard(arc, hash[i - at]);

			results[i] = -ENOMEM;
			if (ABD_LIKELY(first != NULL))
				results[i] =
					abd_arc_hold_touch(shard, abd_arc_reader_at(first, shard),
						hash[i - at], &keys[i], &holds[i], true);
			held += results[i] == 0;
		}
	}
	return held;
}

size_t abd_arc_hold_many(
	abd_arc_t *arc, const abd_arc_key_t *keys, abd_arc_hold_t *holds, int *results, size_t n)
{
	ABD_REQUIRE(arc != NULL, "cache is NULL");
	ABD_REQUIRE(n == 0 || (keys != NULL && holds != NULL && results != NULL),
		"%zu keys: keys, holds or results is NULL", n);
	if (n != 1)
		return abd_arc_many_hold(arc, keys, holds, results, n);
	results[0] = abd_arc_hold(arc, keys, holds);
	return results[0] == 0;
}

static ABD_NOINLINE size_t abd_arc_many_read(struct abd_arc *arc, abd_arc_io_t *ios, size_t n)
{
	struct abd_arc_reader *first = abd_arc_reader_get(arc);
	uint64_t hash[ABD_ARC_BATCH];
	size_t done = 0, count;

	for (size_t at = 0; at < n; at += count) {
		count = abd_arc_many_count(at, n);
		for (size_t i = 0; i < count; i++)
			hash[i] = abd_arc_hash(arc, &ios[at + i].key);
		abd_arc_many_fetch(arc, abd_arc_reader_rcu(first), hash, count);
		for (size_t i = 0; i < count; i++) {
			struct abd_arc *shard = abd_arc_shard(arc, hash[i]);
			abd_arc_io_t *io = &ios[at + i];

			io->result = abd_arc_read_touch(shard,
				first != NULL ? abd_arc_reader_at(first, shard) : NULL, hash[i],
				&io->key, io->dst, io->off, io->size, true);
			done += io->result >= 0;
		}
	}
	return done;
}

size_t abd_arc_read_many(abd_arc_t *arc, abd_arc_io_t *ios, size_t n)
{
	ABD_REQUIRE(arc != NULL, "cache is NULL");
	ABD_REQUIRE(ios != NULL || n == 0, "%zu reads at NULL", n);
	for (size_t i = 0; i < n; i++)
		ABD_REQUIRE(
			ios[i].dst != NULL || ios[i].size == 0, "memory of read %zu is NULL", i);
	if (n != 1)
		return abd_arc_many_read(arc, ios, n);
	ios->result = abd_arc_read(arc, &ios->key, ios->dst, ios->off, ios->size);
	return ios->result >= 0;
}
