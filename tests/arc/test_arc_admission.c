/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Caches with ABD_ARC_SECOND_TIME: a key's first put is only remembered. The table that remembers
 * is compared with an array of keys; so is the cache, put by put.
 */
#include "abd_arc_filling.h"
#include "abd_arc_reclaim.h"
#include "arc_data.h"

#include <abd/codec.h>

enum { SIZE = 4096, MIB = 1 << 20 };

static char data[SIZE], got[SIZE];

/* ---- the table ------------------------------------------------------------------------------- */

Test(abd_arc_admission, the_table_has_a_place_for_each_half_to_whole_kib)
{
	cr_assert_eq(abd_arc_admission_places(ABD_ARC_CAPACITY_MIN), 128);
	cr_assert_eq(abd_arc_admission_places(MIB - 1), 1024);
	cr_assert_eq(abd_arc_admission_places(MIB), 2048);
	cr_assert_eq(abd_arc_admission_places(3 * MIB), 4096);
	cr_assert_eq(abd_arc_admission_places(PTRDIFF_MAX), (size_t)PTRDIFF_MAX / 1024 + 1);
}

Test(abd_arc_admission, a_key_is_remembered_until_two_others_come_to_its_pair)
{
	enum { PLACES = 128, KEYS = 1000, STEPS = 100000 };
	struct abd_arc_admission filter;
	uint64_t hash[KEYS], last[PLACES / 2][2] = {{0}}, state = 1;

	abd_arc_admission_init(&filter, ABD_ARC_CAPACITY_MIN);
	cr_assert_eq(filter.places, PLACES);
	cr_assert_eq(abd_arc_admission_bytes(&filter), PLACES * 4);
	for (size_t i = 0; i < KEYS; i++)
		hash[i] = abd_test_random(&state);
	for (size_t i = 0; i < STEPS; i++) {
		uint64_t now = hash[abd_test_random_below(&state, KEYS)];

		uint64_t *pair = last[now % (PLACES / 2)];
		bool before = pair[0] == now || pair[1] == now;

		abd_test_check(abd_arc_admission_admits(&filter, now) == before, "step %zu", i);
		if (!before) {
			pair[1] = pair[0];
			pair[0] = now;
		}
	}
	abd_arc_admission_fini(&filter);
	cr_assert(filter.tag == NULL && filter.places == 0);
	cr_assert(abd_arc_admission_admits(&filter, 1), "without a table all keys are admitted");
}

Test(abd_arc_admission, a_refused_table_has_no_places_and_leaves_an_old_one_that_is_not_too_large)
{
	struct abd_arc_admission filter, none, more;

	abd_arc_admission_init(&filter, MIB);
	abd_test_fault_at(0);
	abd_arc_admission_init(&none, 2 * MIB);
	cr_assert_eq(abd_test_fault_end(), 1);
	cr_assert(none.tag == NULL && none.places == 0);
	cr_assert_not(abd_arc_admission_admits(&filter, UINT64_MAX));

	abd_arc_admission_resize(&filter, &none, 2 * MIB);
	cr_assert(abd_arc_admission_admits(&filter, UINT64_MAX), "too small is better than none");
	abd_arc_admission_init(&more, 2 * MIB);
	abd_arc_admission_resize(&filter, &more, MIB);
	cr_assert_eq(filter.places, 2048, "it has that size already");
	abd_arc_admission_resize(&filter, &more, 2 * MIB);
	cr_assert_eq(filter.places, 4096);
	cr_assert_eq(more.places, 2048);
	abd_arc_admission_resize(&filter, &none, MIB);
	cr_assert_eq(filter.places, 0, "a table that is too large goes");
	abd_arc_admission_resize(&filter, &more, MIB);
	cr_assert_eq(filter.places, 2048);
	abd_arc_admission_fini(&filter);
	abd_arc_admission_fini(&none);
	abd_arc_admission_fini(&more);
}

/* ---- first and second puts ------------------------------------------------------------------- */

static abd_arc_t *make(size_t capacity, uint32_t hit_batch)
{
	abd_arc_t *arc = arc_make(capacity, hit_batch, ABD_ARC_SECOND_TIME);

	cr_assert_not_null(arc);
	return arc;
}

static int put(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(data, SIZE, n, version, 8);
	return abd_arc_put(arc, arc_at(n), data, SIZE);
}

static void expect_version(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(data, SIZE, n, version, 8);
	cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, SIZE), SIZE);
	cr_assert_arr_eq(got, data, SIZE);
}

/* As if so many other keys had come that each place is another key's. */
static void forget(abd_arc_t *arc)
{
	memset(arc->admission.tag, 0xff, abd_arc_admission_bytes(&arc->admission));
}

static abd_t *make_abd(uint64_t n)
{
	abd_t *abd = abd_alloc(SIZE, true);

	cr_assert_not_null(abd);
	arc_fill(data, SIZE, n, 0, 8);
	abd_copy_from_buf(abd, data, SIZE);
	return abd;
}

static abd_t *make_block(uint64_t n)
{
	abd_t *record = make_abd(n), *room = abd_alloc(SIZE, false);
	ssize_t stored = abd_lz4_compress(room, record, 0, 0, SIZE);
	abd_t *block = abd_alloc((size_t)stored, false);

	abd_copy(block, room, (size_t)stored);
	abd_free(record);
	abd_free(room);
	return block;
}

static void fill_begin(abd_arc_t *arc, uint64_t n, abd_arc_fill_t *fill)
{
	abd_arc_hold_t hold;

	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(n), SIZE, 0, &hold, fill), 1);
	arc_fill(data, SIZE, n, 0, 8);
	abd_copy_from_buf(fill->abd, data, SIZE);
}

enum { WAYS = 7 };

/* Put record n in one of the ways there are. */
static int put_by(abd_arc_t *arc, uint64_t n, unsigned way)
{
	abd_arc_fill_t fill;

	switch (way) {
	case 0:
		return put(arc, n, 0);
	case 1:
		arc_fill(data, SIZE, n, 0, 8);
		return abd_arc_put_flags(arc, arc_at(n), data, SIZE, ABD_ARC_METADATA);
	case 2:
	case 3:
		return abd_arc_put_abd(
			arc, arc_at(n), make_abd(n), SIZE, way == 2 ? 0 : ABD_ARC_PLAIN);
	case 4:
		return abd_arc_put_abd(
			arc, arc_at(n), make_block(n), SIZE, ABD_ARC_STORED | ABD_ARC_VERIFY);
	default:
		fill_begin(arc, n, &fill);
		return abd_arc_fill_commit(&fill, SIZE, SIZE, way == 5 ? 0 : ABD_ARC_PLAIN, NULL);
	}
}

Test(abd_arc_admission, whatever_way_a_record_is_put_the_second_time_stores_it)
{
	struct abd_stats before = abd_test_stats(), after;
	abd_arc_t *arc = make(8 * MIB, 0);

	for (unsigned way = 0; way < WAYS; way++) {
		struct abd_arc_stats was = arc_stats(arc), now;

		cr_assert_eq(put_by(arc, way, way), 0);
		now = arc_stats(arc);
		cr_assert_not(arc_contains(arc, way), "way %u", way);
		cr_assert_eq(now.remembered, was.remembered + 1);
		cr_assert_eq(now.puts, was.puts);
		cr_assert_eq(now.entries, way);
		cr_assert_eq(now.used_bytes, was.used_bytes, "its buffer is freed");
		cr_assert_eq(arc->policy.reserved + arc->fillings, 0);

		cr_assert_eq(put_by(arc, way, way), 0);
		now = arc_stats(arc);
		expect_version(arc, way, 0);
		cr_assert_eq(now.remembered, was.remembered + 1);
		cr_assert_eq(now.puts, was.puts + 1);
	}
	abd_arc_destroy(arc);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
}

Test(abd_arc_admission, the_table_counts_as_memory_and_only_with_the_flag)
{
	abd_arc_t *arc = make(64 * MIB, 0), *without = arc_make(64 * MIB, 0, 0);
	struct abd_arc_stats a = arc_stats(arc), b = arc_stats(without);
	size_t bytes = 4 * abd_arc_admission_places(64 * MIB);

	cr_assert_eq(a.used_bytes - b.used_bytes, bytes);
	cr_assert_eq(a.index_bytes - b.index_bytes, bytes);
	cr_assert_eq(b.target_bytes - a.target_bytes, bytes);
	for (uint64_t n = 0; n < 10; n++)
		cr_assert_eq(put(without, n, 0), 0);
	cr_assert_eq(arc_stats(without).entries, 10);
	cr_assert_eq(arc_stats(without).remembered, 0);
	abd_arc_destroy(arc);
	abd_arc_destroy(without);
}

static void evict(abd_arc_t *arc, uint64_t n, bool with_ghost)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(n)), arc_at(n)));
	if (!with_ghost)
		cr_assert(abd_arc_policy_drop_ghost(&arc->policy));
	pthread_mutex_unlock(&arc->lock);
}

Test(abd_arc_admission, what_has_a_ghost_is_stored_at_once)
{
	abd_arc_t *arc = make(MIB, 0);

	for (unsigned ghost = 0; ghost < 2; ghost++) {
		for (unsigned i = 0; i < 2; i++)
			cr_assert_eq(put(arc, 1, 0), 0);
		cr_assert(arc_contains(arc, 1));
		evict(arc, 1, ghost != 0);
		abd_arc_reclaim(arc);
		forget(arc);
		cr_assert_eq(put(arc, 1, 1), 0);
		cr_assert_eq(arc_contains(arc, 1), ghost != 0);
	}
	cr_assert_eq(arc_stats(arc).ghost_hits_recent, 1);
	abd_arc_destroy(arc);
}

/* A reader that saw it before it was evicted may hold it later: it must not find it after a put. */
Test(abd_arc_admission, what_is_leaving_is_replaced_at_once_held_or_not)
{
	for (unsigned i = 0; i < 4; i++) {
		abd_arc_t *arc = make(MIB, i < 2 ? 1 : 0);
		abd_arc_hold_t hold;
		bool held = i % 2 != 0;

		for (unsigned j = 0; j < 2; j++)
			cr_assert_eq(put(arc, 1, 0), 0);
		if (held)
			cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
		evict(arc, 1, false);
		forget(arc);
		cr_assert_eq(put(arc, 1, 1), 0);
		cr_assert_eq(arc_stats(arc).remembered, 1);
		expect_version(arc, 1, 1);
		if (held)
			abd_arc_release(&hold);
		expect_version(arc, 1, 1);
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_admission, a_record_that_can_never_fit_is_refused_the_second_time)
{
	abd_arc_t *arc = make(MIB, 0);
	char *record = malloc(2 * MIB);

	arc_fill(record, 2 * MIB, 1, 0, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), record, 0), -EINVAL);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), record, 2 * MIB), 0);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), record, 2 * MIB), -ENOSPC);
	free(record);
	abd_arc_destroy(arc);
}

/* ---- fills ----------------------------------------------------------------------------------- */

static void *wait_for_fill(void *arg)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	/* 1 would be a second fill of a key that was just fetched */
	if (abd_arc_hold_or_fill(arg, arc_at(1), SIZE, 0, &hold, &fill) != 0)
		return arg;
	abd_arc_release(&hold);
	return NULL;
}

static bool has_waiter(abd_arc_t *arc)
{
	pthread_mutex_lock(&arc->lock);
	bool has = abd_arc_filling_any(arc)->first != NULL;

	pthread_mutex_unlock(&arc->lock);
	return has;
}

Test(abd_arc_admission, a_fill_that_another_thread_waits_for_is_stored_at_once)
{
	abd_arc_t *arc = make(MIB, 0);
	abd_arc_fill_t fill;
	pthread_t thread;
	void *wrong;

	fill_begin(arc, 1, &fill);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_fill, arc), 0);
	while (!has_waiter(arc))
		continue;
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), 0);
	pthread_join(thread, &wrong);
	cr_assert_null(wrong);
	expect_version(arc, 1, 0);
	abd_arc_destroy(arc);
}

Test(abd_arc_admission, a_first_put_overtakes_the_fill_of_its_key_and_no_other)
{
	abd_arc_t *arc = make(MIB, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill[2];

	for (unsigned i = 0; i < 2; i++) {
		bool wants_hold = i == 0;

		fill_begin(arc, 2 * i, &fill[0]);
		fill_begin(arc, 2 * i + 1, &fill[1]);
		cr_assert_eq(put(arc, 2 * i, 1), 0);
		cr_assert_not(arc_contains(arc, 2 * i));
		cr_assert_eq(
			abd_arc_fill_commit(&fill[0], SIZE, SIZE, 0, wants_hold ? &hold : NULL),
			-ESTALE);
		cr_assert_not(arc_contains(arc, 2 * i));
		cr_assert_eq(abd_arc_fill_commit(&fill[1], SIZE, SIZE, 0, &hold), 0);
		abd_arc_release(&hold);
	}
	cr_assert_eq(arc_stats(arc).remembered, 2);
	abd_arc_destroy(arc);
}

/* ---- against a model ------------------------------------------------------------------------- */

enum { MODEL_KEYS = 600, MODEL_STEPS = 60000, MODEL_CAPACITY = 1 << 18 };

struct model {
	abd_arc_t *arc;
	/* the version that the cache has of each key; 0: none */
	uint64_t version[MODEL_KEYS];
	/* the last two keys that came to each pair of places, and 1 */
	uint64_t last[MODEL_CAPACITY / 1024][2];
	size_t remembered;
};

/* Whether a put, or a fill without a hold, is stored. */
static bool model_admits(struct model *model, uint64_t n)
{
	uint64_t *last = model->last[abd_arc_hash(model->arc, arc_at(n)) % (MODEL_CAPACITY / 1024)];

	if (model->version[n] != 0 || last[0] == n + 1 || last[1] == n + 1)
		return true;
	last[1] = last[0];
	last[0] = n + 1;
	model->remembered++;
	return false;
}

static void model_put(struct model *model, uint64_t n, uint64_t version)
{
	bool admits = model_admits(model, n);

	cr_assert_eq(abd_arc_put(model->arc, arc_at(n), &version, sizeof(version)), 0);
	model->version[n] = admits ? version : 0;
}

static void model_fill(struct model *model, uint64_t n, uint64_t version, unsigned how)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	int result = abd_arc_hold_or_fill(model->arc, arc_at(n), sizeof(version), 0, &hold, &fill);

	cr_assert_eq(result, model->version[n] == 0);
	if (result == 0) {
		abd_arc_release(&hold);
		return;
	}
	abd_copy_from_buf(fill.abd, &version, sizeof(version));
	if (how == 0) { /* it is overtaken */
		model_put(model, n, version + 1);
		cr_assert_eq(abd_arc_fill_commit(&fill, 8, 8, 0, NULL), -ESTALE);
	} else if (how == 1) {
		bool admits = model_admits(model, n);

		cr_assert_eq(abd_arc_fill_commit(&fill, 8, 8, 0, NULL), 0);
		model->version[n] = admits ? version : 0;
	} else {
		cr_assert_eq(abd_arc_fill_commit(&fill, 8, 8, 0, &hold), 0);
		abd_arc_release(&hold);
		model->version[n] = version;
	}
}

static void model_remove(struct model *model, uint64_t n)
{
	cr_assert_eq(abd_arc_remove(model->arc, arc_at(n)), model->version[n] != 0 ? 0 : -ENOENT);
	model->version[n] = 0;
}

Test(abd_arc_admission, the_cache_has_what_a_simple_model_has)
{
	struct model *model = calloc(1, sizeof(*model));
	uint64_t state = 3;

	model->arc = make(MODEL_CAPACITY, 0);
	for (uint64_t step = 2; step < 2 * MODEL_STEPS; step += 2) {
		uint64_t n = abd_test_random_below(&state, MODEL_KEYS), found;
		unsigned what = (unsigned)abd_test_random_below(&state, 16);

		if (what < 6)
			model_put(model, n, step);
		else if (what < 9)
			model_fill(model, n, step, what - 6);
		else if (what < 12)
			model_remove(model, n);
		ssize_t size = abd_arc_read(model->arc, arc_at(n), &found, 0, sizeof(found));

		if (model->version[n] == 0)
			abd_test_check(size == -ENOENT, "step %u", (unsigned)step);
		else
			abd_test_check(
				size == 8 && found == model->version[n], "step %u", (unsigned)step);
	}
	cr_assert_eq(arc_stats(model->arc).remembered, model->remembered);
	cr_assert_gt(model->remembered, MODEL_STEPS / 20);
	cr_assert_eq(arc_stats(model->arc).evictions, 0);
	abd_arc_destroy(model->arc);
	free(model);
}

/* ---- what it is for -------------------------------------------------------------------------- */

/*
 * A hot set of half the records that fit, used in turn, and three records of a scan for each use.
 * So between two uses come twice as many as fit, and no ghost is left when the first comes back.
 * Returns the hits on the hot set, in percent.
 */
static unsigned scan_hits(uint32_t flags)
{
	enum { HOT = 900, USES = 20000 };
	abd_arc_t *arc = arc_make(8 * MIB, 0, flags);
	uint64_t scanned = HOT;
	unsigned hits = 0;

	for (unsigned i = 0; i < 4 * USES; i++) {
		uint64_t n = i % 4 == 0 ? i / 4 % HOT : scanned++;

		if (abd_arc_read(arc, arc_at(n), got, 0, SIZE) == SIZE) {
			hits++;
			continue;
		}
		arc_fill(data, SIZE, n, 0, 64);
		abd_test_check(abd_arc_put(arc, arc_at(n), data, SIZE) == 0, "put");
	}
	cr_assert_leq(arc_stats(arc).used_bytes, (size_t)8 * MIB);
	if (flags != 0)
		cr_assert_lt(arc_stats(arc).puts, 3 * HOT, "hardly anything of the scan is stored");
	abd_arc_destroy(arc);
	return 100 * hits / USES;
}

Test(abd_arc_admission, a_scan_takes_no_room)
{
	unsigned without = scan_hits(0), with = scan_hits(ABD_ARC_SECOND_TIME);

	fprintf(stderr, "hits on a hot set beside a scan: %u %%, with SECOND_TIME %u %%\n", without,
		with);
	cr_expect_leq(without, 5);
	cr_expect_geq(with, 88);
}

/* ---- other capacities ------------------------------------------------------------------------ */

Test(abd_arc_admission, a_resize_makes_the_table_anew_if_its_size_changes)
{
	abd_arc_t *arc = make(4 * MIB, 0);

	cr_assert_eq(put(arc, 1, 0), 0);
	cr_assert_eq(abd_arc_resize(arc, 5 * MIB), 0);
	cr_assert_eq(put(arc, 1, 0), 0);
	cr_assert(arc_contains(arc, 1), "it was remembered");
	static const size_t capacities[] = {64 * MIB, 8 * MIB, MIB, ABD_ARC_CAPACITY_MIN, 16 * MIB};

	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		cr_assert_eq(abd_arc_resize(arc, capacities[i]), 0);
		cr_assert_eq(arc->admission.places, abd_arc_admission_places(capacities[i]));
		cr_assert_eq(arc_stats(arc).target_bytes, abd_arc_target(capacities[i]) -
								  4 * arc->admission.places -
								  arc->policy.deducted);
		for (uint64_t n = 100; n < 400; n++) {
			cr_assert_eq(put(arc, n * (i + 1) * 1000, 0), 0);
			cr_assert_eq(put(arc, n * (i + 1) * 1000, 0), 0);
			cr_assert_leq(arc_stats(arc).used_bytes, capacities[i]);
		}
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_admission, without_memory_for_a_smaller_table_all_is_stored_until_there_is_some)
{
	abd_arc_t *arc = make(4 * MIB, 0);

	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_resize(arc, 8 * MIB), 0);
	abd_test_fault_end();
	cr_assert_eq(
		arc->admission.places, abd_arc_admission_places(4 * MIB), "the old one serves");
	cr_assert_eq(put(arc, 1, 0), 0);
	cr_assert_not(arc_contains(arc, 1));

	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_resize(arc, MIB), 0);
	abd_test_fault_end();
	cr_assert_eq(arc->admission.places, 0);
	cr_assert_eq(put(arc, 2, 0), 0);
	cr_assert(arc_contains(arc, 2));

	cr_assert_eq(abd_arc_resize(arc, MIB), 0);
	cr_assert_eq(put(arc, 3, 0), 0);
	cr_assert_not(arc_contains(arc, 3));
	abd_arc_destroy(arc);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	abd_arc_t *arc;
	uint64_t first;
	unsigned stored;
};

/* Each key is put twice by this thread, and by no other. */
static void *put_twice(void *arg)
{
	struct worker *worker = arg;
	char record[64];

	for (uint64_t n = worker->first; n < worker->first + 2000; n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		for (unsigned i = 0; i < 2; i++)
			if (abd_arc_put(worker->arc, arc_at(n), record, sizeof(record)) != 0)
				return NULL;
		worker->stored += abd_arc_contains(worker->arc, arc_at(n));
	}
	return NULL;
}

static void *resize_often(void *arg)
{
	for (unsigned i = 0; i < 50; i++)
		abd_arc_resize(arg, (i % 2 == 0 ? 8 : 32) * (size_t)MIB);
	return NULL;
}

Test(abd_arc_admission, threads_put_and_resize_together)
{
	abd_arc_t *arc = make(32 * MIB, 0);
	struct worker worker[4];
	pthread_t resizer[2];

	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&resizer[i], NULL, resize_often, arc), 0);
	for (unsigned i = 0; i < 4; i++) {
		worker[i] = (struct worker){.arc = arc, .first = i * 10000};
		cr_assert_eq(pthread_create(&worker[i].thread, NULL, put_twice, &worker[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(resizer[i], NULL);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(worker[i].thread, NULL);
		/* a pair is overwritten, or the table made anew, between few of the pairs */
		cr_expect_gt(worker[i].stored, 1500, "%u", worker[i].stored);
	}
	cr_assert_eq(abd_arc_resize(arc, 16 * MIB), 0);
	cr_assert_eq(arc->admission.places, abd_arc_admission_places(16 * MIB));
	abd_arc_destroy(arc);
}

static void *resize_to_16(void *arg)
{
	abd_arc_resize(arg, 16 * MIB);
	return NULL;
}

/* One of the two may need no other table when it begins. */
Test(abd_arc_admission, after_two_resizes_at_once_the_table_is_that_of_the_capacity)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 16 * MIB,
		.shards = 4,
		.flags = ABD_ARC_SECOND_TIME};
	abd_arc_t *arc = abd_arc_create(&config);
	pthread_t other;

	for (unsigned round = 0; round < 1500; round++) {
		cr_assert_eq(abd_arc_resize(arc, 16 * MIB), 0);
		cr_assert_eq(pthread_create(&other, NULL, resize_to_16, arc), 0);
		for (unsigned i = round % 64; i > 0; i--)
			sched_yield();
		cr_assert_eq(abd_arc_resize(arc, 64 * MIB), 0);
		pthread_join(other, NULL);
		for (unsigned i = 0; i < 4; i++)
			cr_assert_eq(arc[i].admission.places,
				abd_arc_admission_places(arc[i].capacity), "round %u: %zu", round,
				arc[i].admission.places);
	}
	abd_arc_destroy(arc);
}
