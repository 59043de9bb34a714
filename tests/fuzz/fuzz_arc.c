/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the input becomes calls of one small cache. A model keeps the last content put
 * under each key. The cache may have dropped any record; a record that it still has must be right.
 * Some records are hostile: their lz4 block was changed. What reads of them return is not looked
 * at, and unless the put verified the block they may fail.
 */
#include "fuzz_input.h"

#include <abd/abd.h>
#include <abd/arc.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEYS = 16, POOLS = 3, RECORD = 40000, HOLDS = 6, FILLS = 3, MANY = 8, STEPS = 400 };

struct content {
	size_t size; /* 0: none was put, or it was removed */
	unsigned seed, noise, key;
	bool hostile, verified;
};

static struct content model[KEYS];
static size_t least; /* capacity */

static struct {
	abd_arc_hold_t hold;
	struct content content; /* size 0: nothing is held */
} held[HOLDS];

static struct {
	abd_arc_fill_t fill; /* abd is NULL: fill is empty */
	size_t n;
	bool overtaken; /* by a put or remove of its key */
	bool is_async;  /* it belongs to no thread */
} filling[FILLS];

/* The index of the block that was made last. */
static union {
	struct abd_lz4_index index;
	uint32_t words[4 + 2 * (RECORD / 1024 + 1)];
} made;

static uint8_t record[RECORD], back[MANY][RECORD + 1], block[2 * RECORD];

FUZZ_UNSEEN static void fill_record(uint8_t *to, const struct content *content)
{
	uint32_t state = content->seed;

	for (size_t i = 0; i < content->size; i++) {
		state = (uint32_t)(state * 1664525ull + 1013904223u);
		to[i] = i % 64 < content->noise ? (uint8_t)(state >> 24)
						: (uint8_t)(content->key + i % 64);
	}
}

static abd_arc_key_t key_of(size_t n)
{
	return (abd_arc_key_t){n % POOLS, {n, 2}, n / 3};
}

/* A put or remove of key n: what is being filled in for it is older. */
static void changes(size_t n, struct content content)
{
	model[n] = content;
	for (size_t i = 0; i < FILLS; i++)
		filling[i].overtaken |= filling[i].n == n;
}

static struct content some_content(struct fuzz_input *in, size_t n)
{
	struct content content = {.size = 1 + fuzz_below(in, RECORD), .key = (unsigned)n};

	content.seed = fuzz_byte(in);
	content.noise = fuzz_byte(in) % 65;
	fill_record(record, &content);
	return content;
}

/*
 * What a put gets by flags: the record, or its lz4 block, in block. Returns the bytes there; 0: the
 * record has no block. A hostile one has a byte changed, and perhaps an end cut off.
 */
static size_t stored_form(struct fuzz_input *in, struct content *content, unsigned flags)
{
	size_t size = content->size, at, cut;
	ssize_t packed;
	abd_t from, to;

	if ((flags & ABD_ARC_STORED) == 0) {
		memcpy(block, record, size);
		return size;
	}
	abd_get_from_buf_struct(&from, record, size);
	abd_get_from_buf_struct(&to, block, sizeof(block));
	packed = abd_lz4_compress_indexed(
		&to, &from, 0, 0, size, 1024u << fuzz_byte(in) % 7, 0, &made.index);
	abd_free(&from);
	abd_free(&to);
	fuzz_check(packed > 0, "%zu bytes: %zd", size, packed);
	if ((size_t)packed >= size)
		return 0;
	content->hostile = fuzz_byte(in) % 4 == 0;
	content->verified = (flags & ABD_ARC_VERIFY) != 0;
	if (content->hostile) {
		at = fuzz_below(in, (size_t)packed);
		cut = fuzz_byte(in) % 3;
		block[at] = (uint8_t)(block[at] + 1 + fuzz_byte(in) % 255);
		packed -= cut < (size_t)packed ? (ssize_t)cut : 0;
	}
	return (size_t)packed;
}

static unsigned some_form(struct fuzz_input *in)
{
	static const unsigned forms[] = {0, ABD_ARC_PLAIN, ABD_ARC_STORED,
		ABD_ARC_STORED | ABD_ARC_VERIFY, 0, ABD_ARC_STORED, ABD_ARC_VERIFY,
		ABD_ARC_PLAIN | ABD_ARC_STORED};

	return forms[fuzz_byte(in) % 8];
}

/* Whether the result of a put in some form can be. */
static void check_put(int error, unsigned flags, const struct content *content)
{
	bool never = flags == ABD_ARC_VERIFY || flags == (ABD_ARC_PLAIN | ABD_ARC_STORED);

	fuzz_check(never == (error == -EINVAL), "flags %u: %d", flags, error);
	fuzz_check(error == 0 || never || error == -ENOSPC ||
			   (error == -EBADMSG && content->hostile && (flags & ABD_ARC_VERIFY) != 0),
		"%zu bytes: %d", content->size, error);
}

static void do_put(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	struct content content = some_content(in, n);
	unsigned flags = fuzz_byte(in) % 4 == 0 ? ABD_ARC_METADATA : 0;
	int error = flags == 0 ? abd_arc_put(arc, &key, record, content.size)
			       : abd_arc_put_flags(arc, &key, record, content.size, flags);

	check_put(error, flags, &content);
	if (error != 0) { /* what was there before may still be */
		abd_arc_remove(arc, &key);
		content.size = 0;
	}
	changes(n, content);
}

static abd_t *some_buffer(uint8_t kind, size_t size)
{
	abd_t *abd = kind % 2 == 0 ? abd_alloc(size, kind % 3 == 0)
				   : abd_alloc_linear(size, kind % 3 == 0);

	fuzz_check(abd != NULL, "%zu bytes", size);
	abd_copy_from_buf(abd, block, size);
	return abd;
}

static void do_put_abd(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	unsigned flags = some_form(in);
	struct content content = some_content(in, n);
	size_t size = stored_form(in, &content, flags);

	if (size == 0)
		return;

	uint8_t kind = fuzz_byte(in);
	abd_t *abd = some_buffer(kind, size);

	if (kind >= 240) { /* a view owns no memory, which is what the cache takes */
		abd_t *view = abd_get_offset(abd, 0);

		fuzz_check(abd_arc_put_abd(arc, &key, view, content.size, 0) == -EINVAL, "a view");
		abd_free(view);
	}

	const abd_arc_record_t whole = {
		.stored_size = size, .logical_size = content.size, .flags = flags};
	int error = kind % 2 == 0 ? abd_arc_put_abd(arc, &key, abd, content.size, flags)
				  : abd_arc_put_record(arc, &key, abd, &whole);

	check_put(error, flags, &content);
	if (error != 0) {
		fuzz_check(abd_equal_buf_off(abd, block, 0, size), "a refused buffer changed");
		abd_free(abd);
		abd_arc_remove(arc, &key);
		content.size = 0;
	}
	changes(n, content);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void check_read(
	const struct content *content, const uint8_t *found, size_t off, size_t size, ssize_t got)
{
	fuzz_check(content->size > 0, "key %u was never put", content->key);
	if (off > content->size || size > content->size - off) {
		fuzz_check(
			got == -EINVAL, "[%zu, +%zu) of %zu: %zd", off, size, content->size, got);
		return;
	}
	fuzz_check(found[size] == 0xee, "a byte behind %zu", size);
	if (content->hostile) {
		fuzz_check(got == (ssize_t)size || (got == -EBADMSG && !content->verified),
			"[%zu, +%zu) of %zu: %zd", off, size, content->size, got);
		return;
	}
	fill_record(record, content);
	fuzz_check(got == (ssize_t)size && memcmp(found, record + off, size) == 0,
		"[%zu, +%zu) of %zu: %zd", off, size, content->size, got);
}

static void do_read(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t off = fuzz_below(in, RECORD), size = fuzz_below(in, RECORD);
	unsigned flags = fuzz_byte(in) % 4 == 0 ? ABD_ARC_NO_TOUCH : 0;

	memset(back[0], 0xee, sizeof(back[0]));

	ssize_t got = flags == 0 ? abd_arc_read(arc, &key, back[0], off, size)
				 : abd_arc_read_flags(arc, &key, back[0], off, size, flags);

	if (got != -ENOENT)
		check_read(&model[n], back[0], off, size, got);
}

static void do_read_abd(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t off = fuzz_below(in, RECORD), size = fuzz_below(in, RECORD);
	abd_t *to = fuzz_byte(in) % 2 == 0 ? abd_alloc(size + 1, false)
					   : abd_alloc_linear(size + 1, false);

	fuzz_check(to != NULL, "%zu bytes", size + 1);
	abd_zero(to, size + 1);
	abd_copy_from_buf_off(to, "\xee", size, 1);

	ssize_t got = abd_arc_read_abd(arc, &key, to, 0, off, size);

	abd_copy_to_buf(back[0], to, size + 1);
	abd_free(to);
	if (got != -ENOENT)
		check_read(&model[n], back[0], off, size, got);
}

static void do_read_all(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t room = fuzz_below(in, RECORD + 1), needed = SIZE_MAX;

	memset(back[0], 0xee, sizeof(back[0]));

	ssize_t got = abd_arc_read_all(arc, &key, back[0], room, &needed);

	fuzz_check((got >= 0 || got == -ENOSPC) == (needed != SIZE_MAX), "%zd", got);
	if (got == -ENOENT)
		return;
	if (got >= 0 || got == -ENOSPC)
		fuzz_check(needed == model[n].size && (got == -ENOSPC) == (needed > room),
			"%zu of %zu in %zu: %zd", needed, model[n].size, room, got);
	if (got == -ENOSPC)
		fuzz_check(back[0][0] == 0xee, "a byte of %zu", room);
	else
		check_read(&model[n], back[0], 0, model[n].size, got);
}

static void do_read_many(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_io_t ios[MANY];
	size_t count = fuzz_byte(in) % (MANY + 1), good = 0;

	memset(back, 0xee, count * sizeof(back[0]));
	for (size_t i = 0; i < count; i++, n = fuzz_byte(in) % KEYS)
		ios[i] = (abd_arc_io_t){.key = key_of(n),
			.dst = back[i],
			.off = fuzz_below(in, RECORD),
			.size = fuzz_below(in, RECORD)};

	size_t answered = abd_arc_read_many(arc, ios, count);

	for (size_t i = 0; i < count; i++) {
		good += ios[i].result >= 0;
		if (ios[i].result != -ENOENT)
			check_read(&model[ios[i].key.dva[0]], back[i], ios[i].off, ios[i].size,
				ios[i].result);
	}
	fuzz_check(answered == good, "%zu of %zu", answered, good);
}

/* ---- holding --------------------------------------------------------------------------------- */

static void do_release(size_t slot)
{
	abd_arc_hold_t *hold = &held[slot].hold;
	size_t size = held[slot].content.size;

	if (size == 0)
		return;
	memset(back[0], 0xee, sizeof(back[0]));
	check_read(
		&held[slot].content, back[0], 0, size, abd_arc_hold_read(hold, back[0], 0, size));
	if (!hold->compressed)
		fuzz_check(
			hold->stored_size == size && abd_equal_buf_off(hold->abd, record, 0, size),
			"%zu bytes changed", size);
	abd_arc_release(hold);
	held[slot].content.size = 0;
}

static void take(size_t slot, const abd_arc_hold_t *hold, size_t n)
{
	do_release(slot);
	fuzz_check(hold->logical_size == model[n].size, "%zu for %zu", hold->logical_size,
		model[n].size);
	held[slot].hold = *hold;
	held[slot].content = model[n];
}

static void do_hold(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t key = key_of(n);
	size_t slot = fuzz_byte(in) % HOLDS;
	bool is_there = abd_arc_contains(arc, &key);
	abd_arc_hold_t hold;
	int error = abd_arc_hold(arc, &key, &hold);

	fuzz_check(error == (is_there ? 0 : -ENOENT), "%d, and contains said %d", error, is_there);
	if (error == 0)
		take(slot, &hold, n);
}

static void do_hold_many(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t keys[HOLDS];
	abd_arc_hold_t holds[HOLDS];
	int results[HOLDS];
	size_t count = fuzz_byte(in) % (HOLDS + 1), good = 0;

	for (size_t i = 0; i < count; i++, n = fuzz_byte(in) % KEYS)
		keys[i] = key_of(n);

	size_t answered = abd_arc_hold_many(arc, keys, holds, results, count);

	for (size_t i = 0; i < count; i++) {
		fuzz_check(results[i] == 0 || results[i] == -ENOENT, "%d", results[i]);
		good += results[i] == 0;
		if (results[i] == 0)
			take(i, &holds[i], keys[i].dva[0]);
	}
	fuzz_check(answered == good, "%zu of %zu", answered, good);
}

static void do_hold_read(struct fuzz_input *in, size_t slot)
{
	size_t off = fuzz_below(in, RECORD), size = fuzz_below(in, RECORD);

	if (held[slot].content.size == 0)
		return;
	memset(back[0], 0xee, sizeof(back[0]));
	check_read(&held[slot].content, back[0], off, size,
		abd_arc_hold_read(&held[slot].hold, back[0], off, size));
}

/* The second hold stays in the place of the first one. */
static void do_hold_dup(size_t slot)
{
	abd_arc_hold_t copy;

	if (held[slot].content.size == 0)
		return;
	fuzz_check(abd_arc_hold_dup(&held[slot].hold, &copy) == 0, "slot %zu", slot);
	abd_arc_release(&held[slot].hold);
	held[slot].hold = copy;
}

static void do_hold_drop(abd_arc_t *arc, size_t slot)
{
	size_t n = held[slot].content.key;
	abd_arc_key_t key = key_of(n);

	if (held[slot].content.size == 0)
		return;
	if (abd_arc_hold_drop(arc, &held[slot].hold) == 0) {
		fuzz_check(!abd_arc_contains(arc, &key), "key %zu", n);
		changes(n, (struct content){.key = (unsigned)n});
	}
}

/* ---- filling --------------------------------------------------------------------------------- */

/*
 * What is committed: perhaps behind a header, perhaps with the block's index, of which perhaps a
 * word is changed. *is_changed: then the record is as hostile as one with a changed block.
 */
static abd_arc_record_t some_parts(struct fuzz_input *in, const struct content *content,
	size_t size, size_t room, unsigned flags, bool *is_changed)
{
	abd_arc_record_t parts = {
		.stored_size = size, .logical_size = content->size, .flags = flags};
	uint8_t kind = fuzz_byte(in);

	*is_changed = false;
	if (kind % 2 == 0)
		parts.off = fuzz_below(in, room - size + 1);
	if (kind < 128 || (flags & ABD_ARC_STORED) == 0 || (flags & ABD_ARC_PLAIN) != 0)
		return parts;
	parts.index = &made.index;
	*is_changed = kind % 4 == 3;
	if (*is_changed) {
		/* Not the group_size: it says how long the index is. */
		size_t at = 1 + fuzz_below(in, 3 + 2 * (size_t)made.index.count);

		made.words[at] += 1u + fuzz_byte(in) * (fuzz_byte(in) % 2 == 0 ? 1u : 65536u);
	}
	return parts;
}

static void do_commit(abd_arc_t *arc, struct fuzz_input *in, size_t slot)
{
	size_t n = filling[slot].n;
	abd_arc_fill_t *fill = &filling[slot].fill;
	unsigned flags = some_form(in);
	struct content content = some_content(in, n);
	size_t size = stored_form(in, &content, flags);
	abd_arc_hold_t hold;
	bool wants = fuzz_byte(in) % 2 == 0, overtaken = filling[slot].overtaken, is_changed;

	if (fill->abd == NULL)
		return;
	if (size == 0 || size > fill->size || fuzz_byte(in) % 8 == 0) {
		abd_arc_fill_abandon(fill);
		return;
	}
	const abd_arc_record_t parts =
		some_parts(in, &content, size, fill->size, flags, &is_changed);

	abd_copy_from_buf_off(fill->abd, block, parts.off, size);
	int error =
		parts.off == 0 && parts.index == NULL
			? abd_arc_fill_commit(fill, size, content.size, flags, wants ? &hold : NULL)
			: abd_arc_fill_commit_record(fill, &parts, wants ? &hold : NULL);

	content.hostile |= is_changed;
	fuzz_check(fill->abd == NULL, "the fill has not ended");
	if (error == -ESTALE)
		fuzz_check(overtaken, "nothing overtook the fill of key %zu", n);
	else if (error != -EBADMSG || !is_changed)
		check_put(error, flags, &content);
	if (error != 0)
		return;
	fuzz_check(!overtaken, "an older record of key %zu", n);
	model[n] = content;
	if (wants)
		take(fuzz_byte(in) % HOLDS, &hold, n);
	(void)arc;
}

static void never(void *arg)
{
	fuzz_check(false, "ready was called: %p", arg);
}

/* Another fill of the key is open: to be called when it ends, and not to be. */
static void do_forget(abd_arc_t *arc, const abd_arc_key_t *key)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	int result = abd_arc_hold_or_fill_async(arc, key, 1, 0, &hold, &fill, never, NULL);

	fuzz_check(result == -EINPROGRESS, "%d", result);
	fuzz_check(abd_arc_forget_ready(arc, key, never, NULL) == 0, "it waited");
	fuzz_check(abd_arc_forget_ready(arc, key, never, NULL) == -ENOENT, "it waits no more");
}

static void do_fill_many(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	abd_arc_key_t keys[FILLS];
	size_t sizes[FILLS], count = fuzz_byte(in) % (FILLS + 1), good = 0;
	abd_arc_hold_t holds[FILLS];
	abd_arc_fill_t fills[FILLS];
	int results[FILLS];

	for (size_t i = 0; i < count; i++, n = fuzz_byte(in) % KEYS) {
		keys[i] = key_of(n);
		sizes[i] = fuzz_below(in, RECORD);
	}

	size_t answered =
		abd_arc_hold_or_fill_many(arc, keys, sizes, 0, holds, fills, results, count);

	for (size_t i = 0; i < count; i++) {
		good += results[i] >= 0;
		fuzz_check((results[i] == 1) == (fills[i].abd != NULL), "%d", results[i]);
		fuzz_check(results[i] >= 0 || results[i] == -EAGAIN || results[i] == -ENOSPC ||
				   (results[i] == -EINVAL && sizes[i] == 0),
			"%zu bytes: %d", sizes[i], results[i]);
		abd_arc_fill_abandon(&fills[i]);
		if (results[i] == 0)
			take(i, &holds[i], keys[i].dva[0]);
	}
	fuzz_check(answered == good, "%zu of %zu", answered, good);
}

static void do_fill(abd_arc_t *arc, struct fuzz_input *in, size_t n)
{
	static const unsigned all_flags[] = {0, ABD_ARC_METADATA, ABD_ARC_NOWAIT, ABD_ARC_NO_TOUCH};
	abd_arc_key_t key = key_of(n);
	size_t slot = fuzz_byte(in) % FILLS, size = fuzz_below(in, 2 * RECORD);
	unsigned flags = all_flags[fuzz_byte(in) % 4];
	bool is_there = abd_arc_contains(arc, &key), is_open = false, is_mine = false;
	uint8_t kind = fuzz_byte(in);
	bool is_async = kind % 2 == 0;
	abd_arc_hold_t hold;

	if (filling[slot].fill.abd != NULL) {
		do_commit(arc, in, slot);
		return;
	}
	for (size_t i = 0; i < FILLS; i++)
		if (filling[i].fill.abd != NULL && filling[i].n == n) {
			is_open = true;
			is_mine = !filling[i].is_async && !is_async;
		}
	if (is_open && !is_mine)
		flags |= ABD_ARC_NOWAIT; /* or it would wait for itself */
	if (is_open && !is_there)
		do_forget(arc, &key);
	int result = is_async ? abd_arc_hold_or_fill_async(arc, &key, size, flags | ABD_ARC_NOWAIT,
					&hold, &filling[slot].fill, NULL, NULL)
		     : kind % 4 == 1 ? abd_arc_hold_or_fill_timed(arc, &key, size, flags,
					       UINT64_MAX, &hold, &filling[slot].fill)
				     : abd_arc_hold_or_fill(
					       arc, &key, size, flags, &hold, &filling[slot].fill);

	if (size == 0)
		fuzz_check(result == -EINVAL, "no bytes: %d", result);
	else if (is_there)
		fuzz_check(result == 0, "a record that is there: %d", result);
	else if (is_open)
		fuzz_check(result == (is_mine ? -EDEADLK : -EAGAIN), "a second fill: %d", result);
	else
		fuzz_check(result == 1 || result == -ENOSPC, "%zu bytes: %d", size, result);
	if (result == 0)
		take(fuzz_byte(in) % HOLDS, &hold, n);
	filling[slot].overtaken = false;
	filling[slot].is_async = is_async;
	filling[slot].n = n;
}

/* ---- all records ----------------------------------------------------------------------------- */

struct visit {
	unsigned seen, stop_after;
};

static int visit(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg)
{
	struct visit *seen = arg;
	size_t n = key->dva[0];

	fuzz_check(n < KEYS && (seen->seen >> n & 1) == 0, "key %zu", n);
	seen->seen |= 1u << n;
	fuzz_check(logical_size == model[n].size && stored_size <= logical_size, "%zu for %zu",
		logical_size, model[n].size);
	return seen->stop_after-- == 0 ? 7 : 0;
}

static void do_each(abd_arc_t *arc, struct fuzz_input *in)
{
	struct visit seen = {0, fuzz_byte(in)};
	struct abd_arc_stats stats;
	int result = abd_arc_each(arc, visit, &seen);

	abd_arc_stats_get(arc, &stats, sizeof(stats));
	fuzz_check(result == 7 || (size_t)__builtin_popcount(seen.seen) == stats.entries,
		"%x of %zu", seen.seen, (size_t)stats.entries);
}

static void do_remove_pool(abd_arc_t *arc, size_t pool)
{
	ssize_t removed = abd_arc_remove_pool(arc, pool);

	fuzz_check(removed >= 0 && removed <= KEYS, "%zd", removed);
	for (size_t n = pool; n < KEYS; n += POOLS) {
		abd_arc_key_t key = key_of(n);

		fuzz_check(!abd_arc_contains(arc, &key), "key %zu", n);
		changes(n, (struct content){.key = (unsigned)n});
	}
}

/* What is there already is not loaded, and nothing is evicted for it. A full cache ends a load. */
static void do_save(abd_arc_t *arc)
{
	struct abd_arc_saved saved, loaded;
	struct abd_arc_stats before, after;
	int fd = memfd_create("save", 0);

	abd_arc_stats_get(arc, &before, sizeof(before));
	fuzz_check(abd_arc_save(arc, fd, &saved, sizeof(saved)) == 0, "saved %zu",
		(size_t)saved.records);
	fuzz_check(lseek(fd, 0, SEEK_SET) == 0 &&
			   abd_arc_load(arc, fd, &loaded, sizeof(loaded)) == 0 &&
			   loaded.damaged == 0 && loaded.records == 0 &&
			   loaded.skipped <= saved.records,
		"%zu and %zu of %zu", (size_t)loaded.records, (size_t)loaded.skipped,
		(size_t)saved.records);
	close(fd);
	abd_arc_stats_get(arc, &after, sizeof(after));
	fuzz_check(after.entries == before.entries, "%zu", (size_t)after.entries);
}

static void do_trim(abd_arc_t *arc, struct fuzz_input *in)
{
	struct abd_arc_stats before, after;
	size_t bytes = fuzz_below(in, 65536);

	abd_arc_stats_get(arc, &before, sizeof(before));

	size_t freed = abd_arc_trim(arc, bytes, fuzz_byte(in) % 4 == 0 ? 0 : UINT64_MAX);

	abd_arc_stats_get(arc, &after, sizeof(after));
	fuzz_check(before.used_bytes == after.used_bytes + freed || /* ghosts of what is held */
			   (freed == 0 && before.used_bytes < after.used_bytes),
		"%zu of %zu", freed, bytes);
}

static void do_resize(abd_arc_t *arc, size_t capacity)
{
	int error = abd_arc_resize(arc, capacity);

	fuzz_check(error == 0, "%d", error);
}

static void step(abd_arc_t *arc, struct fuzz_input *in)
{
	uint8_t what = fuzz_byte(in);
	size_t n = fuzz_byte(in) % KEYS;
	abd_arc_key_t key = key_of(n);

	if (what < 50)
		do_put(arc, in, n);
	else if (what < 75)
		do_put_abd(arc, in, n);
	else if (what < 92)
		do_fill(arc, in, n);
	else if (what < 95)
		do_fill_many(arc, in, n);
	else if (what < 120)
		do_read(arc, in, n);
	else if (what < 135)
		do_read_abd(arc, in, n);
	else if (what < 145)
		do_read_all(arc, in, n);
	else if (what < 160)
		do_read_many(arc, in, n);
	else if (what < 170)
		do_commit(arc, in, n % FILLS);
	else if (what < 180)
		do_hold_many(arc, in, n);
	else if (what < 190)
		do_hold_read(in, n % HOLDS);
	else if (what < 210)
		do_hold(arc, in, n);
	else if (what < 221)
		do_release(n % HOLDS);
	else if (what < 225)
		do_hold_dup(n % HOLDS);
	else if (what < 230) {
		abd_arc_remove(arc, &key);
		changes(n, (struct content){.key = (unsigned)n});
	} else if (what < 234)
		do_remove_pool(arc, n % POOLS);
	else if (what < 238)
		do_hold_drop(arc, n % HOLDS);
	else if (what < 243)
		do_each(arc, in);
	else if (what < 247)
		do_trim(arc, in);
	else if (what < 249)
		do_save(arc);
	else
		do_resize(arc, least << fuzz_byte(in) % 4);
}

/* A second level that looks at what leaves, and keeps nothing. */
static void leaves(abd_arc_evicted_t *evicted, void *arg)
{
	size_t stored_size = evicted->stored_size;

	fuzz_check(arg == model && evicted->key.dva[0] < KEYS &&
			   stored_size <= evicted->logical_size &&
			   abd_get_size(evicted->abd) >= stored_size,
		"%zu of %zu", stored_size, evicted->logical_size);

	abd_t *taken = abd_arc_evicted_take(evicted);

	fuzz_check(taken == NULL || abd_get_size(taken) == stored_size, "%zu", stored_size);
	abd_free(taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	struct abd_arc_config config = {.config_size = sizeof(config)};
	struct abd_arc_stats stats;

	unsigned capacity = fuzz_byte(&in);

	config.capacity_bytes = ABD_ARC_CAPACITY_MIN << capacity % 4;
	config.shards = capacity % 16 == 7 ? 4 : 1;
	least = ABD_ARC_CAPACITY_MIN * config.shards;
	config.hit_batch = fuzz_byte(&in) % 4;
	unsigned flags = fuzz_byte(&in);

	config.flags = flags % 2 * ABD_ARC_CHECKSUM | (flags >= 192 ? ABD_ARC_SECOND_TIME : 0) |
		       (flags % 32 == 20 ? ABD_ARC_NO_GHOSTS : 0);
	config.lz4_index_min = flags / 2 % 4 == 3 ? 4096 : 0;
	config.evicted_cb = flags / 8 % 2 == 1 ? leaves : NULL;
	config.evicted_arg = model;
	config.lz4_index_group = 4096;
	config.lz4_effort = flags % 8 == 5 ? 3 : 0;
	config.metadata_min_bytes = flags / 16 % 4 == 3 ? 9000 : 0;
	config.metadata_max_bytes = flags / 64 % 2 == 1 ? 30000 : 0;
	memset(model, 0, sizeof(model));
	memset(filling, 0, sizeof(filling));

	abd_arc_t *arc = abd_arc_create(&config);

	fuzz_check(arc != NULL, "capacity %zu", config.capacity_bytes);
	for (unsigned i = 0; i < STEPS && in.next < in.end; i++)
		step(arc, &in);
	for (size_t i = 0; i < FILLS; i++)
		if (filling[i].fill.abd != NULL)
			abd_arc_fill_abandon(&filling[i].fill);
	for (size_t i = 0; i < HOLDS; i++)
		do_release(i);
	do_resize(arc, least);
	abd_arc_stats_get(arc, &stats, sizeof(stats));
	fuzz_check(stats.held_bytes == 0 && stats.used_bytes <= stats.capacity_bytes, "%zu used",
		(size_t)stats.used_bytes);
	abd_arc_destroy(arc);
	return 0;
}
