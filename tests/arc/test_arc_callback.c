/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evicted_cb is called once for what was evicted, with its bytes, outside of locks; it may keep the
 * buffer, and use the cache.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <abd/codec.h>
#include <abd/operate.h>

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { CAPACITY = 4 << 20, KEYS = 3000, LARGEST = 60000, HELD = 16 };

static char data[LARGEST], got[LARGEST];

static abd_arc_t *make(size_t capacity, uint32_t hit_batch, uint32_t flags,
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg), void *arg)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.hit_batch = hit_batch,
		.flags = flags,
		.evicted_cb = evicted_cb,
		.evicted_arg = arg};
	abd_arc_t *arc = abd_arc_create(&config);

	cr_assert_not_null(arc);
	return arc;
}

/* From a few bytes to what needs runs of its own; most of them small. */
static size_t size_of(uint64_t n, uint64_t version)
{
	uint64_t state = n << 32 | version;
	size_t most = abd_test_random(&state) % 16 == 0 ? LARGEST : 2000;

	return 16 + abd_test_random_below(&state, most - 15);
}

/* The higher, the less a record compresses. */
static unsigned random_of(uint64_t n)
{
	return (unsigned)(n % 3 * 32);
}

static int put_from(void *buf, abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(buf, size_of(n, version), n, version, random_of(n));
	return abd_arc_put(arc, arc_at(n), buf, size_of(n, version));
}

static int put(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	return put_from(data, arc, n, version);
}

/* The bytes of an evicted record are those of its key and this version. */
static void expect_bytes(const abd_t *abd, const abd_arc_evicted_t *evicted, uint64_t version)
{
	static char expected[LARGEST];
	uint64_t n = evicted->key.dva[0];
	size_t size = size_of(n, version);

	abd_test_check(evicted->logical_size == size && evicted->stored_size == abd_get_size(abd),
		"sizes of %u", (unsigned)n);
	if (evicted->flags == ABD_ARC_STORED)
		abd_test_check(abd_lz4_decompress_exact_to_buf(
				       got, abd, size, 0, evicted->stored_size) == (ssize_t)size,
			"a block");
	else
		abd_copy_to_buf(got, abd, size);
	arc_fill(expected, size, n, version, random_of(n));
	abd_test_check(memcmp(got, expected, size) == 0, "bytes of %u", (unsigned)n);
}

/* Take the cache's record n out, as the policy would. */
static void evict(abd_arc_t *arc, uint64_t n)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(n)), arc_at(n)));
	pthread_mutex_unlock(&arc->lock);
}

static void expect_unlocked(abd_arc_t *arc)
{
	cr_assert_eq(pthread_mutex_trylock(&arc->reclaim_lock), 0);
	cr_assert_eq(pthread_mutex_trylock(&arc->lock), 0);
	pthread_mutex_unlock(&arc->lock);
	pthread_mutex_unlock(&arc->reclaim_lock);
}

/* ---- the model ------------------------------------------------------------------------------- */

enum fate { ABSENT, LIVE, TOLD };

static struct {
	abd_arc_t *arc;
	bool takes;
	uint64_t calls;
	uint64_t putting; /* the key of a put that has not returned; KEYS: there is none */
	bool old_is_live; /* it had a record, which evicted_cb was not called for yet */
	struct {
		uint64_t version;
		enum fate fate;
	} key[KEYS];
} model;

static void model_callback(abd_arc_evicted_t *evicted, void *arg)
{
	uint64_t n = evicted->key.dva[0];

	uint64_t version = model.key[n].version;

	abd_test_check(arg == &model, "the argument");
	if (n == model.putting && model.old_is_live &&
		evicted->logical_size == size_of(n, version - 1)) {
		/* the put made room, and evicted its own key's old record */
		model.old_is_live = false;
		version--;
	} else {
		abd_test_check(model.key[n].fate == LIVE, "%u: %d", (unsigned)n, model.key[n].fate);
		model.key[n].fate = TOLD;
	}
	model.calls++;
	expect_unlocked(model.arc);
	expect_bytes(evicted->abd, evicted, version);
	if (!model.takes)
		return;

	abd_t *abd = abd_arc_evicted_take(evicted);

	if (abd != NULL) {
		expect_bytes(abd, evicted, version);
		abd_free(abd);
	}
}

static void model_remove(abd_arc_t *arc, uint64_t n)
{
	bool was_live = model.key[n].fate == LIVE;
	int error = abd_arc_remove(arc, arc_at(n));

	/* One that is pending is not found, and after that it gets no callback. */
	abd_test_check(error == -ENOENT || (error == 0 && was_live), "%u: %d", (unsigned)n, error);
	if (model.key[n].fate == LIVE)
		model.key[n].fate = ABSENT;
}

/* Slabs in which records are held must not take each other's records in turn, without an end. */
static void model_trim(abd_arc_t *arc)
{
	size_t freed = abd_arc_trim(arc, CAPACITY / 4, 5000000000);
	struct abd_arc_stats now = arc_stats(arc);

	cr_assert(freed + now.held_bytes >= CAPACITY / 4 || now.entries == 0, "%zu", freed);
}

static void model_step(abd_arc_t *arc, uint64_t *state, abd_arc_hold_t *held)
{
	uint64_t n = abd_test_random_below(state, KEYS);
	abd_arc_hold_t *hold = &held[n % HELD];

	switch (abd_test_random_below(state, 8)) {
	case 0:
		model_remove(arc, n);
		break;
	case 1:
		if (hold->entry != NULL)
			abd_arc_release(hold);
		else
			(void)abd_arc_hold(arc, arc_at(n), hold);
		break;
	case 2:
		if (n % 100 == 0)
			model_trim(arc);
		else if (n % 100 == 1)
			cr_assert_eq(abd_arc_resize(arc, CAPACITY - n * 1000), 0);
		break;
	default:
		/* Before the put, which may evict others; and the new record, if T1 has no
		 * other. */
		model.putting = n;
		model.old_is_live = model.key[n].fate == LIVE;
		model.key[n].version++;
		model.key[n].fate = LIVE;
		cr_assert_eq(put(arc, n, model.key[n].version), 0);
		model.putting = KEYS;
	}
}

static void expect_sum(const struct abd_arc_stats *now)
{
	cr_assert_eq(now->puts, now->entries + now->replaces + now->removes + now->evictions,
		"%u puts", (unsigned)now->puts);
}

static void run_model(uint32_t hit_batch, bool takes, uint64_t seed)
{
	static abd_arc_hold_t held[HELD];
	struct abd_arc_stats now;
	uint64_t state = seed, left = 0;

	memset(&model, 0, sizeof(model));
	model.putting = KEYS;
	model.takes = takes;
	abd_arc_t *arc = model.arc = make(CAPACITY, hit_batch, 0, model_callback, &model);

	for (size_t i = 0; i < abd_test_share(30000); i++) {
		model_step(arc, &state, held);
		if (i % 1000 == 0) {
			now = arc_stats(arc);
			expect_sum(&now);
			cr_assert_eq(now.told, model.calls);
			cr_assert_leq(now.used_bytes, now.capacity_bytes + now.held_bytes);
		}
	}
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].entry != NULL)
			abd_arc_release(&held[i]);
	now = arc_stats(arc);
	expect_sum(&now);
	cr_assert_gt(now.told, now.evictions / 2);
	abd_arc_destroy(arc);
	for (unsigned n = 0; n < KEYS; n++)
		left += model.key[n].fate == LIVE;
	cr_assert_eq(
		left, now.entries, "%u live, %u entries", (unsigned)left, (unsigned)now.entries);
}

Test(abd_arc_callback, each_evicted_record_gets_one_callback_unless_a_call_overtook_it)
{
	run_model(0, false, 1);
	run_model(0, true, 2);
	run_model(1, false, 3);
	run_model(1, true, 4);
}

/* ---- single records -------------------------------------------------------------------------- */

static struct {
	unsigned count;
	uint64_t last;
	abd_t *taken;
} evicted_last;

static void count_callbacks(abd_arc_evicted_t *evicted, void *arg)
{
	evicted_last.count++;
	evicted_last.last = evicted->key.dva[0];
}

Test(abd_arc_callback, the_last_release_runs_the_callback_of_one_that_is_held)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, count_callbacks, NULL);
	abd_arc_hold_t first, second;

	evicted_last.count = 0;
	cr_assert_eq(put(arc, 5, 0), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(5), &first), 0);
	evict(arc, 5);
	abd_arc_reclaim(arc);
	cr_assert_eq(evicted_last.count, 0, "it is held");
	cr_assert_eq(abd_arc_hold(arc, arc_at(5), &second), 0);
	abd_arc_release(&first);
	cr_assert_eq(evicted_last.count, 0, "it is held again");
	abd_arc_release(&second);
	cr_assert_eq(evicted_last.count, 1);
	cr_assert_eq(evicted_last.last, 5);
	cr_assert_not(abd_arc_contains(arc, arc_at(5)));
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	cr_assert_eq(arc->pending_bytes, 0);
	abd_arc_destroy(arc);
	cr_assert_eq(evicted_last.count, 1);
}

Test(abd_arc_callback, what_a_call_removed_or_replaced_gets_no_callback)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, count_callbacks, NULL);
	struct abd_arc_stats now;

	evicted_last.count = 0;
	for (uint64_t n = 0; n < 6; n++)
		cr_assert_eq(put(arc, n, 0), 0);
	for (uint64_t n = 2; n < 6; n++)
		evict(arc, n);
	for (uint64_t n = 0; n < 4; n += 2) { /* one that is cached, and one that is leaving */

		cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
		cr_assert_eq(put(arc, n + 1, 1), 0);
	}
	/* One that had to leave a full page of the index. */

	pthread_mutex_lock(&arc->lock);
	abd_arc_drop(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(4)), arc_at(4)));
	pthread_mutex_unlock(&arc->lock);
	abd_arc_reclaim(arc);
	cr_assert_eq(evicted_last.count, 1);
	cr_assert_eq(evicted_last.last, 5);
	now = arc_stats(arc);
	cr_assert_eq(now.entries, 2);
	cr_assert_eq(now.evictions, 4);
	cr_assert_eq(now.removes, 1, "the other one was evicted");
	cr_assert_eq(now.replaces, 1);
	expect_sum(&now);
	abd_arc_destroy(arc);
	cr_assert_eq(evicted_last.count, 1, "what is in the cache when it ends gets no callback");
}

Test(abd_arc_callback, what_was_evicted_gets_its_callback_when_the_cache_ends_at_the_latest)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, count_callbacks, NULL);

	evicted_last.count = 0;
	for (uint64_t n = 0; n < 3; n++)
		cr_assert_eq(put(arc, n, 0), 0);
	evict(arc, 1);
	cr_assert_eq(evicted_last.count, 0);
	abd_arc_destroy(arc);
	cr_assert_eq(evicted_last.count, 1);
	cr_assert_eq(evicted_last.last, 1);
}

/* ---- why, and how often it was used ---------------------------------------------------------- */

enum { REASONS = ABD_ARC_EVICTED_DESTROY + 1, RECORDS = 200 };

static struct {
	unsigned count[REASONS];
	unsigned uses[RECORDS]; /* of each key; 0: no callback */
	uint64_t last;
} reasons;

static void note_reason(abd_arc_evicted_t *evicted, void *arg)
{
	bool is_damaged = evicted->reason == ABD_ARC_EVICTED_DAMAGED;

	cr_assert(evicted->reason > 0 && evicted->reason < REASONS && arg == NULL);
	cr_assert_eq(evicted->abd == NULL, is_damaged);
	cr_assert_eq(evicted->stored_size == 0, is_damaged);
	cr_assert(evicted->logical_size > 0);
	cr_assert(!is_damaged || abd_arc_evicted_take(evicted) == NULL);
	reasons.count[evicted->reason]++;
	reasons.last = evicted->key.dva[0];
	if (reasons.last < RECORDS)
		reasons.uses[reasons.last] = evicted->uses;
}

static unsigned count_of(enum abd_arc_evicted_reason reason)
{
	unsigned count = reasons.count[reason];

	reasons.count[reason] = 0;
	for (unsigned other = 0; other < REASONS; other++)
		cr_assert_eq(reasons.count[other], 0, "%u instead of %u", other, reason);
	return count;
}

static void spoil(abd_arc_t *arc, uint64_t n)
{
	abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(n)), arc_at(n))->checksum[0] ^=
		1;
}

/* It is leaving when that is found, by a read of what is held. */
Test(abd_arc_callback, what_is_found_damaged_after_its_eviction_is_reported)
{
	abd_arc_t *arc = make(CAPACITY, 0, ABD_ARC_CHECKSUM, note_reason, NULL);
	abd_arc_hold_t hold;

	memset(&reasons, 0, sizeof(reasons));
	cr_assert_eq(put(arc, 1, 0), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	evict(arc, 1);
	abd_arc_reclaim(arc);
	spoil(arc, 1);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, 1), -EBADMSG);
	abd_arc_release(&hold);
	abd_arc_reclaim(arc);
	cr_assert_eq(count_of(ABD_ARC_EVICTED_DAMAGED), 1);
	cr_assert_eq(reasons.last, 1);
	abd_arc_destroy(arc);
}

/* Found by an eviction, a read, and a fill that brings the key a new record. */
Test(abd_arc_callback, what_is_damaged_is_reported_without_its_bytes)
{
	abd_arc_t *arc = make(CAPACITY, 0, ABD_ARC_CHECKSUM, note_reason, NULL);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	memset(&reasons, 0, sizeof(reasons));
	for (uint64_t n = 0; n < 3; n++) {
		cr_assert_eq(put(arc, n, 0), 0);
		spoil(arc, n);
	}
	evict(arc, 0);
	abd_arc_reclaim(arc);
	cr_assert_eq(count_of(ABD_ARC_EVICTED_DAMAGED), 1);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, 1), -EBADMSG);
	abd_arc_reclaim(arc);
	cr_assert_eq(count_of(ABD_ARC_EVICTED_DAMAGED), 1);
	cr_assert_eq(reasons.last, 1);
	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(2), 8, 0, &hold, &fill), 1);
	abd_zero(fill.abd, 8);
	cr_assert_eq(abd_arc_fill_commit(&fill, 8, 8, 0, NULL), 0);
	abd_arc_reclaim(arc);
	cr_assert_eq(count_of(ABD_ARC_EVICTED_DAMAGED), 1);
	cr_assert_eq(reasons.last, 2);
	cr_assert_eq(arc_stats(arc).told, 3);
	cr_assert_eq(arc_stats(arc).damaged, 3);
	abd_arc_destroy(arc);
}

Test(abd_arc_callback, the_reason_is_that_of_the_call)
{
	abd_arc_t *arc = make(CAPACITY, 0, ABD_ARC_DESTROY_EVICTS, note_reason, NULL);
	uint64_t n = 0;
	struct abd_arc_stats now;

	memset(&reasons, 0, sizeof(reasons));
	for (; n < KEYS; n++)
		cr_assert_eq(put(arc, n, 0), 0);
	abd_arc_reclaim(arc);
	cr_assert_gt(count_of(ABD_ARC_EVICTED_CAPACITY), 100);
	abd_arc_trim(arc, CAPACITY / 4, UINT64_MAX);
	cr_assert_gt(count_of(ABD_ARC_EVICTED_TRIM), 100);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 2), 0);
	cr_assert_gt(count_of(ABD_ARC_EVICTED_RESIZE), 100);
	for (; n < 2 * KEYS; n++)
		cr_assert_eq(put(arc, n, 0), 0);
	abd_arc_reclaim(arc);
	cr_assert_gt(count_of(ABD_ARC_EVICTED_CAPACITY), 100);
	now = arc_stats(arc);
	abd_arc_destroy(arc);
	cr_assert_eq(count_of(ABD_ARC_EVICTED_DESTROY), now.entries);
	cr_assert_eq(reasons.last, 2 * KEYS - 1, "the newest comes last");
}

/* Record n was used n + 1 times, and no more than 63 are counted; held or not when it is evicted */
Test(abd_arc_callback, uses_are_counted_from_the_put_on)
{
	abd_arc_t *arc = make(CAPACITY, 1, 0, note_reason, NULL);
	abd_arc_hold_t held[RECORDS];
	abd_arc_t *two = make(CAPACITY, 1, ABD_ARC_DESTROY_EVICTS, note_reason, NULL);
	int fd = memfd_create("uses", MFD_CLOEXEC);
	struct abd_arc_saved saved;

	memset(&reasons, 0, sizeof(reasons));
	for (uint64_t n = 0; n < RECORDS; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), "record", 7), 0);
		for (uint64_t use = 0; use < n % 100; use++)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, 7), 7);
		if (n % 3 > 0)
			cr_assert_eq(abd_arc_hold(arc, arc_at(n), &held[n]), 0);
	}
	/* They come with a save. */
	cr_assert_eq(abd_arc_save(arc, fd, &saved, sizeof(saved)), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(abd_arc_load(two, fd, &saved, sizeof(saved)), 0);
	abd_arc_destroy(two);
	for (unsigned both = 0; both < 2; both++) {
		for (uint64_t n = 0; n < RECORDS; n++) {
			uint64_t uses = abd_min(1 + n % 100 + (n % 3 > 0), ABD_ARC_USES_MAX);

			cr_assert_eq(reasons.uses[n], uses, "%u: %u", (unsigned)n, reasons.uses[n]);
			reasons.uses[n] = 0;
		}
		for (uint64_t n = 0; both == 0 && n < RECORDS; n++) {
			evict(arc, n);
			abd_arc_reclaim(arc); /* what is held is kept or pinned */
		}
		for (uint64_t n = 0; both == 0 && n < RECORDS; n++)
			if (n % 3 > 0)
				abd_arc_release(&held[n]);
	}
	/* What came back begins with 2. */
	cr_assert_eq(abd_arc_put(arc, arc_at(1), "record", 7), 0);
	evict(arc, 1);
	abd_arc_reclaim(arc);
	cr_assert_eq(reasons.uses[1], 2);
	close(fd);
	abd_arc_destroy(arc);
}

/* ---- how many at a time ---------------------------------------------------------------------- */

/* Thousands of small ones are evicted and freed together: no put is kept by all their callbacks. */
Test(abd_arc_callback, a_put_runs_64_at_most_and_later_ones_the_rest)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, count_callbacks, NULL);
	unsigned before = 0, most = 0;
	struct abd_arc_stats now;

	evicted_last.count = 0;
	for (uint64_t n = 0; n < 60000; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), "record", 7), 0);
		if (evicted_last.count - before > most)
			most = evicted_last.count - before;
		before = evicted_last.count;
		if (n % 1000 == 0) {
			now = arc_stats(arc);
			cr_assert(now.used_bytes <= CAPACITY + CAPACITY / 16);
			cr_assert(now.told + 2500 > now.evictions, "%u of %u", (unsigned)now.told,
				(unsigned)now.evictions);
		}
	}
	cr_assert_eq(most, 64);
	abd_arc_trim(arc, 0, UINT64_MAX);
	now = arc_stats(arc);
	cr_assert(now.told == now.evictions && now.told == evicted_last.count);
	abd_arc_destroy(arc);
}

/* ---- taking buffers over --------------------------------------------------------------------- */

static void take_buffer(abd_arc_evicted_t *evicted, void *arg)
{
	evicted_last.count++;
	evicted_last.taken = abd_arc_evicted_take(evicted);
	cr_assert_eq(evicted->abd == NULL, evicted_last.taken != NULL);
	if (evicted_last.taken != NULL)
		broken(evicted_last.taken = abd_arc_evicted_take(evicted), "it was taken before");
}

Test(abd_arc_callback, a_buffer_that_is_taken_stays_as_it_is)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, take_buffer, NULL);
	static char record[LARGEST];

	arc_fill(record, LARGEST, 1, 1, 64);
	/* runs and a table; one run; memory of a linear buffer, whose struct lies in the entry */
	for (unsigned kind = 0; kind < 3; kind++) {
		size_t size = kind == 0 ? LARGEST : kind == 1 ? 4096 : 3000;
		abd_t *abd = kind == 2 ? abd_alloc_linear(size, true) : abd_alloc(size, true);
		struct iovec before, after;
		size_t covered;

		abd_copy_from_buf(abd, record, size);
		abd_to_iov(abd, 0, 1, &before, 1, &covered);
		cr_assert_eq(abd_arc_put_abd(arc, arc_at(1), abd, size, ABD_ARC_PLAIN), 0);
		evicted_last.taken = NULL;
		evict(arc, 1);
		abd_arc_reclaim(arc);
		cr_assert_not_null(evicted_last.taken, "kind %u", kind);
		abd_to_iov(evicted_last.taken, 0, 1, &after, 1, &covered);
		cr_assert_eq(before.iov_base, after.iov_base);
		cr_assert_eq(abd_get_size(evicted_last.taken), size);
		cr_assert_eq(abd_cmp_buf(evicted_last.taken, record, size), 0);
		cr_assert((evicted_last.taken->abd_flags & ABD_FLAG_META) != 0);
		cr_assert_eq(arc->run_bytes, 0);
		/* It is a buffer like any other: a cache takes it. */
		cr_assert_eq(
			abd_arc_put_abd(arc, arc_at(1), evicted_last.taken, size, ABD_ARC_PLAIN),
			0);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_callback, what_lies_in_a_slab_is_only_lent)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, take_buffer, NULL);

	cr_assert_eq(abd_arc_put(arc, arc_at(1), "record", 6), 0);
	evict(arc, 1);
	evicted_last.count = 0;
	abd_arc_reclaim(arc);
	cr_assert_eq(evicted_last.count, 1);
	cr_assert_null(evicted_last.taken);
	abd_arc_destroy(arc);
}

Test(abd_arc_callback, without_memory_for_a_struct_it_is_only_lent)
{
	abd_arc_t *arc = make(CAPACITY, 0, 0, take_buffer, NULL);
	abd_t *abd = abd_alloc_linear(3000, false);

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_zero(abd, 3000);
	cr_assert_eq(abd_arc_put_abd(arc, arc_at(1), abd, 3000, ABD_ARC_PLAIN), 0);
	evict(arc, 1);
	evicted_last.count = 0;
	abd_test_fault_from(0);
	abd_arc_reclaim(arc);
	cr_assert_eq(abd_test_fault_end(), 1);
	cr_assert_eq(evicted_last.count, 1);
	cr_assert_null(evicted_last.taken);
	cr_assert_eq(arc->run_bytes, 0);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	abd_arc_destroy(arc);
}

/* ---- calls from within ----------------------------------------------------------------------- */

enum { ROUNDS = 4000 };

static struct {
	abd_arc_t *arc, *other;
	abd_arc_hold_t hold;
	uint64_t next, calls;
	bool inside, ending;
} self;

/* Use the cache whose callback this is; more goes in than goes out. */
static void callback_uses_it(abd_arc_evicted_t *evicted, void *arg)
{
	static char inner[LARGEST]; /* the put that runs the callback may still read data */
	uint64_t n = evicted->key.dva[0];
	char byte;

	abd_test_check(!self.inside, "it is called while it runs");
	self.calls++;
	if (self.ending)
		return;
	self.inside = true;
	abd_test_check(!abd_arc_contains(self.arc, &evicted->key), "it is not found");
	for (unsigned i = 0; i < 2 && n < ROUNDS; i++) {
		int error = put_from(inner, self.arc, ROUNDS + self.next++, 0);

		abd_test_check(error == 0 || error == -ENOSPC, "put: %d", error);
	}
	if (self.hold.entry != NULL)
		abd_arc_release(&self.hold);
	abd_arc_key_t key = arc_key(ROUNDS + self.next - 1);

	(void)abd_arc_read(self.arc, &key, &byte, 0, 1);
	(void)abd_arc_hold(self.arc, &key, &self.hold);
	key = arc_key(ROUNDS + self.next / 2);
	(void)abd_arc_remove(self.arc, &key);
	self.inside = false;
}

Test(abd_arc_callback, the_callback_may_use_the_cache)
{
	for (uint32_t hit_batch = 0; hit_batch < 2; hit_batch++) {
		struct abd_arc_stats now;
		uint64_t least = UINT64_MAX;

		memset(&self, 0, sizeof(self));
		self.arc = make(CAPACITY, hit_batch, 0, callback_uses_it, NULL);
		for (uint64_t n = 0; n < ROUNDS; n++) {
			cr_assert_eq(put(self.arc, n, 0), 0);
			now = arc_stats(self.arc);
			cr_assert_leq(now.used_bytes,
				CAPACITY + now.held_bytes + CAPACITY / 16 + LARGEST);
			if (n >= 50 && now.entries < least)
				least = now.entries;
		}
		cr_assert_gt(self.calls, ROUNDS / 2);
		cr_assert_gt(least, 25, "evicted but for %d of some 52", (int)least);
		expect_sum(&now);
		if (self.hold.entry != NULL)
			abd_arc_release(&self.hold);
		self.ending = true;
		abd_arc_destroy(self.arc);
	}
}

static struct {
	abd_arc_t *arc;
	uint64_t calls, refused;
	bool ending;
} back;

/* What is evicted comes back, and evicts something else. */
static void callback_puts_it_back(abd_arc_evicted_t *evicted, void *arg)
{
	static char record[256];
	int error;

	if (back.ending)
		return;
	abd_copy_to_buf(record, evicted->abd, evicted->stored_size);
	error = abd_arc_put(back.arc, &evicted->key, record, evicted->stored_size);
	abd_test_check(back.calls++ < 1000000, "a call goes on for ever");
	back.refused += error == -ENOSPC;
	abd_test_check(error == 0 || error == -ENOSPC, "%d", error);
}

Test(abd_arc_callback, calls_end_though_the_callback_puts_all_back)
{
	const size_t capacity = 4 * ABD_ARC_CAPACITY_MIN;

	for (uint32_t hit_batch = 0; hit_batch < 2; hit_batch++) {
		char record[200];

		memset(&back, 0, sizeof(back));
		back.arc = make(capacity, hit_batch, 0, callback_puts_it_back, NULL);
		for (uint64_t n = 0; n < 800; n++) {
			arc_fill(record, sizeof(record), n, 0, 64);
			cr_assert_eq(abd_arc_put(back.arc, arc_at(n), record, sizeof(record)), 0);
		}
		cr_expect_gt(back.calls, 800);
		back.calls = 0;
		cr_expect_leq(arc_stats(back.arc).used_bytes, capacity + capacity / 8);
		(void)abd_arc_trim(back.arc, SIZE_MAX, UINT64_MAX);
		back.refused = 0;
		cr_assert_eq(abd_arc_resize(back.arc, capacity / 4), 0);
		cr_expect_leq(arc_stats(back.arc).used_bytes, capacity / 4 + capacity / 32);
		cr_expect_gt(back.refused, 100);
		back.ending = true;
		abd_arc_destroy(back.arc);
	}
}

static void callback_ends_it(abd_arc_evicted_t *evicted, void *arg)
{
	abd_arc_t *arc = self.arc;

	self.calls++;
	broken(abd_arc_destroy(arc), "called by the evicted_cb");
	broken((void)abd_arc_resize(arc, CAPACITY), "called by the evicted_cb");
	broken((void)abd_arc_trim(arc, 1, 0), "called by the evicted_cb");
	broken((void)abd_arc_remove_pool(arc, evicted->key.pool), "called by the evicted_cb");
	cr_assert_eq(abd_arc_resize(self.other, CAPACITY), 0, "of another cache");
}

Test(abd_arc_callback, the_callback_must_not_end_or_shrink_its_cache)
{
	memset(&self, 0, sizeof(self));
	self.other = make(CAPACITY / 2, 0, 0, NULL, NULL);
	self.arc = make(CAPACITY, 0, 0, callback_ends_it, NULL);
	cr_assert_eq(put(self.arc, 1, 0), 0);
	evict(self.arc, 1);
	abd_arc_reclaim(self.arc);
	cr_assert_eq(self.calls, 1);
	abd_arc_destroy(self.arc);
	abd_arc_destroy(self.other);
}

/* In the callback memory that is refused is refused: the cache is not emptied for it. */
static void callback_without_memory(abd_arc_evicted_t *evicted, void *arg)
{
	if (self.calls++ > 0)
		return;
	uint64_t entries = arc_stats(self.arc).entries;

	/* It does not fit into a slot, nor gets memory of its own. */
	arc_fill(data, LARGEST, KEYS, 0, 64);
	abd_test_fault_from(0);
	int error = abd_arc_put(self.arc, arc_at(KEYS), data, LARGEST);

	abd_test_fault_end();
	cr_assert_eq(error, -ENOMEM);
	cr_assert_eq(arc_stats(self.arc).entries, entries);
}

Test(abd_arc_callback, without_memory_a_put_of_the_callback_evicts_nothing)
{
	memset(&self, 0, sizeof(self));
	self.arc = make(CAPACITY, 0, 0, callback_without_memory, NULL);
	for (uint64_t n = 0; n < 10; n++)
		cr_assert_eq(put(self.arc, n, 0), 0);
	evict(self.arc, 1);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_arc_reclaim(self.arc);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	cr_assert_eq(self.calls, 1);
	abd_arc_destroy(self.arc);
}

/* What the one evicts goes into the other. */
static void callback_puts_elsewhere(abd_arc_evicted_t *evicted, void *arg)
{
	abd_arc_t *to = *(abd_arc_t **)arg;

	self.calls++;
	if (self.ending)
		return;
	abd_t *abd = abd_arc_evicted_take(evicted);

	if (abd == NULL) {
		abd = abd_alloc(evicted->stored_size, false);
		cr_assert_not_null(abd);
		abd_copy(abd, evicted->abd, evicted->stored_size);
	}
	cr_assert_eq(
		abd_arc_put_abd(to, &evicted->key, abd, evicted->logical_size, evicted->flags), 0);
}

Test(abd_arc_callback, two_caches_may_give_to_each_other)
{
	memset(&self, 0, sizeof(self));
	self.arc = make(CAPACITY, 0, 0, callback_puts_elsewhere, &self.other);
	self.other = make(CAPACITY, 0, 0, callback_puts_elsewhere, &self.arc);
	for (uint64_t n = 0; n < ROUNDS; n++)
		cr_assert_eq(put(self.arc, n, 0), 0);
	for (uint64_t n = 0; n < ROUNDS; n++) {
		size_t size = size_of(n, 0), needed;
		ssize_t result = abd_arc_read_all(self.arc, arc_at(n), got, sizeof(got), &needed);

		if (result == -ENOENT)
			result = abd_arc_read_all(self.other, arc_at(n), got, sizeof(got), &needed);
		if (result == -ENOENT)
			continue;
		abd_test_check(result == (ssize_t)size, "size");
		arc_fill(data, size, n, 0, random_of(n));
		abd_test_check(memcmp(got, data, size) == 0, "bytes");
	}
	cr_assert_gt(arc_stats(self.arc).entries + arc_stats(self.other).entries,
		arc_stats(self.arc).entries * 3 / 2);
	self.ending = true;
	abd_arc_destroy(self.arc);
	abd_arc_destroy(self.other);
}

static void count_ends(abd_arc_evicted_t *evicted, void *arg)
{
	++*(uint64_t *)arg;
}

/* In the callback of the first, the second evicts, and calls its own. */
Test(abd_arc_callback, what_a_full_second_level_evicts_gets_a_callback_too)
{
	uint64_t ended = 0;

	memset(&self, 0, sizeof(self));
	self.other = make(CAPACITY, 0, 0, count_ends, &ended);
	self.arc = make(CAPACITY, 0, 0, callback_puts_elsewhere, &self.other);
	for (uint64_t n = 0; n < 3 * (uint64_t)ROUNDS; n++)
		cr_assert_eq(put(self.arc, n, 0), 0);

	struct abd_arc_stats first = arc_stats(self.arc), second = arc_stats(self.other);

	cr_assert_gt(ended, ROUNDS / 2);
	cr_assert_eq(second.told, ended);
	cr_assert_eq(second.puts, first.told);
	self.ending = true;
	abd_arc_destroy(self.arc);
	abd_arc_destroy(self.other);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 20000 };

static struct {
	abd_arc_t *arc;
	atomic_uchar calls[THREADS * EACH];
	bool takes;
} many;

static void many_callback(abd_arc_evicted_t *evicted, void *arg)
{
	atomic_fetch_add(&many.calls[evicted->key.dva[0]], 1);
	if (!many.takes)
		return;
	abd_free(abd_arc_evicted_take(evicted));
}

/* Put records of its own, hold others meanwhile, and release them later. */
static void *many_run(void *arg)
{
	size_t first = (size_t)(uintptr_t)arg * EACH, each = abd_test_share(EACH);
	char record[3000];
	abd_arc_hold_t held[HELD];
	uint64_t state = first;

	memset(held, 0, sizeof(held));
	for (size_t i = 0; i < each; i++) {
		abd_arc_key_t key = arc_key(first + i);
		abd_arc_hold_t *hold = &held[i % HELD];
		size_t size = 100 + abd_test_random_below(&state, sizeof(record) - 100);

		arc_fill(record, size, first + i, 0, 64);
		abd_test_check(abd_arc_put(many.arc, &key, record, size) == 0, "put");
		if (hold->entry != NULL)
			abd_arc_release(hold);
		key = arc_key(abd_test_random_below(&state, THREADS * EACH));
		if (abd_arc_hold(many.arc, &key, hold) != 0)
			hold->entry = NULL;
	}
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].entry != NULL)
			abd_arc_release(&held[i]);
	return NULL;
}

Test(abd_arc_callback, of_many_threads_each_evicted_record_gets_one_callback)
{
	for (unsigned takes = 0; takes < 2; takes++) {
		pthread_t thread[THREADS];
		size_t once = 0, each = abd_test_share(EACH);
		struct abd_arc_stats now;

		memset(&many, 0, sizeof(many));
		many.takes = takes > 0;
		many.arc = make(CAPACITY, 0, 0, many_callback, NULL);
		for (size_t i = 0; i < THREADS; i++)
			cr_assert_eq(
				pthread_create(&thread[i], NULL, many_run, (void *)(uintptr_t)i),
				0);
		for (size_t i = 0; i < THREADS; i++)
			cr_assert_eq(pthread_join(thread[i], NULL), 0);
		now = arc_stats(many.arc);
		abd_arc_destroy(many.arc);
		for (size_t i = 0; i < THREADS * EACH; i++) {
			abd_test_check(many.calls[i] < 2, "%zu: %u times", i, many.calls[i]);
			once += many.calls[i];
		}
		cr_assert_eq(once, now.evictions);
		cr_assert_eq(once + now.entries, THREADS * each);
	}
}

static struct {
	abd_arc_t *arc;
	pthread_t slow;
	atomic_bool has_begun, may_end;
} slow;

static void slow_callback(abd_arc_evicted_t *evicted, void *arg)
{
	if (!pthread_equal(pthread_self(), slow.slow))
		return;
	atomic_store(&slow.has_begun, true);
	while (!atomic_load(&slow.may_end))
		sched_yield();
}

static void *slow_run(void *arg)
{
	char record[1000];

	slow.slow = pthread_self();
	for (uint64_t n = 0; !atomic_load(&slow.has_begun); n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		abd_test_check(
			abd_arc_put(slow.arc, arc_at(n), record, sizeof(record)) == 0, "put");
	}
	return arg;
}

Test(abd_arc_callback, during_a_callback_others_put_and_the_cache_stays_full)
{
	char record[1000];
	pthread_t thread;
	uint64_t entries, n = 1u << 20;

	memset(&slow, 0, sizeof(slow));
	slow.arc = make(CAPACITY, 0, 0, slow_callback, NULL);
	cr_assert_eq(pthread_create(&thread, NULL, slow_run, NULL), 0);
	while (!atomic_load(&slow.has_begun))
		sched_yield();
	entries = arc_stats(slow.arc).entries;
	for (size_t i = 0; i < 20000; i++) {
		arc_fill(record, sizeof(record), n + i, 0, 64);
		abd_test_check(
			abd_arc_put(slow.arc, arc_at(n + i), record, sizeof(record)) == 0, "put");
		if (i % 100 == 0) {
			struct abd_arc_stats now = arc_stats(slow.arc);

			cr_assert_leq(now.used_bytes, CAPACITY + CAPACITY / 32);
			cr_assert_geq(now.entries, entries * 9 / 10);
		}
	}
	atomic_store(&slow.may_end, true);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	abd_arc_destroy(slow.arc);
}

/* ---- callbacks while a put that is to hold its record makes room ---------------------------- */

enum { LARGE = 1 << 20, USED = 5000, FILLED = ABD_ARC_SLOTS - ABD_ARC_SLOTS_READ - 1 };

static struct {
	abd_arc_t *arc;
	bool armed;
	abd_arc_hold_t kept[2];
} meanwhile;

/* Hold two records: one in the last slot of the thread's block, and one that is counted. */
static void hold_meanwhile(abd_arc_evicted_t *evicted, void *arg)
{
	(void)evicted;
	(void)arg;
	if (!meanwhile.armed)
		return;
	meanwhile.armed = false;
	for (uint64_t i = 0; i < 2; i++)
		cr_assert_eq(abd_arc_hold(meanwhile.arc, arc_at(i + 1000), &meanwhile.kept[i]), 0);
}

/* Commit large records and hold them, until one of them has run a callback. Returns its result. */
static int commit_meanwhile(abd_arc_hold_t *hold, uint64_t *n)
{
	static char large[LARGE];
	int error = 0;

	for (*n = 2000; meanwhile.armed; ++*n) {
		abd_arc_fill_t fill;

		cr_assert_lt(*n, 2200, "no commit has run a callback");
		for (uint64_t i = 0; i < 2; i++)
			cr_assert_eq(put(meanwhile.arc, i + 1000, 0), 0);
		cr_assert_eq(
			abd_arc_hold_or_fill(meanwhile.arc, arc_at(*n), LARGE, 0, hold, &fill), 1);
		arc_fill(large, LARGE, *n, 0, 64);
		abd_copy_from_buf(fill.abd, large, LARGE - USED);
		error = abd_arc_fill_commit(&fill, LARGE - USED, LARGE - USED, ABD_ARC_PLAIN, hold);
		if (meanwhile.armed)
			abd_arc_release(hold);
	}
	--*n;
	return error;
}

static void start_meanwhile(abd_arc_hold_t held[FILLED])
{
	meanwhile.arc = make(CAPACITY, 0, 0, hold_meanwhile, NULL);
	for (uint64_t n = 0; n < FILLED; n++) {
		cr_assert_eq(put(meanwhile.arc, n, 0), 0);
		cr_assert_eq(abd_arc_hold(meanwhile.arc, arc_at(n), &held[n]), 0);
	}
	meanwhile.armed = true;
}

Test(abd_arc_callback, the_callback_of_a_commit_may_hold_records_as_well)
{
	static char large[LARGE];
	abd_arc_hold_t held[FILLED], hold;
	uint64_t n;

	start_meanwhile(held);
	cr_assert_eq(commit_meanwhile(&hold, &n), 0);
	cr_assert_neq(hold.entry, meanwhile.kept[0].entry);
	cr_assert_neq(hold.entry, meanwhile.kept[1].entry);
	for (uint64_t i = 3000; i < 3000 + KEYS; i++)
		cr_assert_eq(put(meanwhile.arc, i, 0), 0);
	abd_arc_reclaim(meanwhile.arc);
	arc_fill(large, LARGE, n, 0, 64);
	cr_assert(abd_equal_buf_off(hold.abd, large, 0, LARGE - USED), "its bytes stay");
	abd_arc_release(&hold);
	for (uint64_t i = 0; i < 2; i++) {
		arc_fill(data, size_of(i + 1000, 0), i + 1000, 0, random_of(i + 1000));
		cr_assert_eq(abd_arc_hold_read(&meanwhile.kept[i], got, 0, size_of(i + 1000, 0)),
			(ssize_t)size_of(i + 1000, 0));
		cr_assert_arr_eq(got, data, size_of(i + 1000, 0));
		abd_arc_release(&meanwhile.kept[i]);
	}
	for (uint64_t i = 0; i < FILLED; i++)
		abd_arc_release(&held[i]);
	abd_arc_reclaim(meanwhile.arc);
	cr_assert_eq(arc_stats(meanwhile.arc).evicted_bytes, 0);
	abd_arc_destroy(meanwhile.arc);
}
