/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out under the cache, at each site of each of its calls: at that site alone, and there
 * and at all that follow. The call returns 0 or -ENOMEM, nothing has leaked when the cache ends,
 * and the call works again afterwards. A put evicts what it can before it answers -ENOMEM; reads
 * and holds evict nothing.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

enum { RECORD = 9000, RECORDS = 20 };

static abd_arc_t *arc;
static char record[RECORD];

static int put(void)
{
	return abd_arc_put(arc, arc_at(3), record, RECORD);
}

static int put_flags(void)
{
	return abd_arc_put_flags(arc, arc_at(1000), record, RECORD, ABD_ARC_METADATA);
}

static char block[RECORD], index_room[256];
static size_t block_size;
static struct abd_lz4_index *block_index; /* or NULL: the record is put without parts */

/* After an error the buffer is still the caller's. */
static int put_abd(const void *from, size_t size, unsigned flags)
{
	const abd_arc_record_t part = {
		.stored_size = size, .logical_size = RECORD, .flags = flags, .index = block_index};
	abd_t *abd = abd_alloc(size, true);

	if (abd == NULL)
		return -ENOMEM;
	abd_copy_from_buf(abd, from, size);

	int error = block_index != NULL ? abd_arc_put_record(arc, arc_at(3), abd, &part)
					: abd_arc_put_abd(arc, arc_at(3), abd, RECORD, flags);

	if (error != 0) {
		cr_assert_eq(abd_cmp_buf(abd, from, size), 0);
		abd_free(abd);
	}
	return error;
}

static int put_abd_packed(void)
{
	return put_abd(record, RECORD, 0);
}

static int put_abd_plain(void)
{
	return put_abd(record, RECORD, ABD_ARC_PLAIN);
}

static int put_abd_verified(void)
{
	return put_abd(block, block_size, ABD_ARC_STORED | ABD_ARC_VERIFY);
}

static int put_record(void)
{
	block_index = (void *)index_room;
	int error = put_abd(block, block_size, ABD_ARC_STORED | ABD_ARC_VERIFY);

	block_index = NULL;
	return error;
}

static int get(void)
{
	char to[RECORD];
	ssize_t result = abd_arc_read(arc, arc_at(4), to, 10, 5000);

	return result >= 0 || result == -ENOENT ? 0 : (int)result;
}

static int hold(void)
{
	abd_arc_hold_t held;
	int error = abd_arc_hold(arc, arc_at(5), &held);

	if (error == 0)
		abd_arc_release(&held);
	return error == -ENOENT ? 0 : error;
}

static int get_flags(void)
{
	char to[RECORD];
	ssize_t result = abd_arc_read_flags(arc, arc_at(4), to, 10, 5000, ABD_ARC_NO_TOUCH);

	return result >= 0 || result == -ENOENT ? 0 : (int)result;
}

static int get_all(void)
{
	char to[RECORD];
	size_t size;
	ssize_t result = abd_arc_read_all(arc, arc_at(4), to, RECORD, &size);

	return result >= 0 || result == -ENOENT ? 0 : (int)result;
}

static int contains(void)
{
	return (int)abd_arc_contains(arc, arc_at(4)) * 0;
}

/* More holds than a thread's first block has room for. */
static int hold_many(void)
{
	abd_arc_key_t key[RECORDS];
	abd_arc_hold_t held[RECORDS];
	int result[RECORDS], error = 0;

	for (uint64_t n = 0; n < RECORDS; n++)
		key[n] = arc_key(n);
	abd_arc_hold_many(arc, key, held, result, RECORDS);
	for (unsigned n = 0; n < RECORDS; n++) {
		if (result[n] == 0)
			abd_arc_release(&held[n]);
		else if (result[n] != -ENOENT)
			error = result[n];
	}
	return error;
}

static int read_many(void)
{
	char to[2][RECORD];
	abd_arc_io_t io[2] = {{arc_key(4), to[0], 10, 5000, 0}, {arc_key(5), to[1], 0, RECORD, 0}};

	abd_arc_read_many(arc, io, 2);
	return io[0].result < 0 && io[0].result != -ENOENT ? (int)io[0].result : 0;
}

/* Read what is held in the middle, and drop it. */
static int hold_read(void)
{
	abd_arc_hold_t held;
	char to[RECORD];
	ssize_t result = abd_arc_hold(arc, arc_at(5), &held);

	if (result == 0) {
		result = abd_arc_hold_read(&held, to, 10, 5000);
		cr_assert_eq(abd_arc_hold_drop(arc, &held), 0);
		abd_arc_release(&held);
	}
	return result >= 0 || result == -ENOENT ? 0 : (int)result;
}

/* A whole record, and a part, into two runs. */
static int read_abd(void)
{
	static char to[RECORD];
	abd_t gang, one, other;
	ssize_t result = 0;

	abd_get_from_buf_struct(&one, to, 1001);
	abd_get_from_buf_struct(&other, to + 1001, RECORD - 1001);
	abd_alloc_gang_struct(&gang);
	int error = abd_gang_add(&gang, &one, false);

	if (error == 0)
		error = abd_gang_add(&gang, &other, false);
	for (size_t off = 0; error == 0 && off < 2; off++) {
		result = abd_arc_read_abd(arc, arc_at(5), &gang, 0, off, RECORD - off);
		cr_assert(result == (ssize_t)(RECORD - off) || result == -ENOMEM ||
			  result == -ENOENT);
		if (result == -ENOMEM)
			error = -ENOMEM;
	}
	abd_free(&gang);
	abd_free(&one);
	abd_free(&other);
	return error;
}

/* As many as need another block of slots. */
static int hold_dup(void)
{
	abd_arc_hold_t held, copy[2 * ABD_ARC_SLOTS];
	int error = abd_arc_hold(arc, arc_at(5), &held);

	if (error != 0)
		return error == -ENOENT ? 0 : error;
	for (unsigned i = 0; i < 2 * ABD_ARC_SLOTS; i++) {
		copy[i].entry = record; /* no hold: an error has to clear it */
		int result = abd_arc_hold_dup(&held, &copy[i]);

		cr_assert_eq(result != 0, copy[i].entry == NULL);
		error = result != 0 ? result : error;
	}
	for (unsigned i = 0; i < 2 * ABD_ARC_SLOTS; i++)
		abd_arc_release(&copy[i]);
	abd_arc_release(&held);
	return error;
}

static int fill_in(unsigned flags, bool commit)
{
	abd_arc_hold_t held;
	abd_arc_fill_t fill;
	int error = abd_arc_hold_or_fill(arc, arc_at(2000), RECORD, flags, &held, &fill);

	if (error == 1 && !commit) {
		abd_arc_fill_abandon(&fill);
		return 0;
	}
	if (error == 1) {
		abd_copy_from_buf(fill.abd, record, RECORD);
		error = abd_arc_fill_commit(&fill, RECORD, RECORD, 0, &held);
	}
	if (error == 0)
		abd_arc_release(&held);
	return error;
}

static int hold_or_fill(void)
{
	return fill_in(ABD_ARC_METADATA, true);
}

static int fill_abandon(void)
{
	return fill_in(0, false);
}

static int timed(void)
{
	abd_arc_hold_t held;
	abd_arc_fill_t fill;
	int error = abd_arc_hold_or_fill_timed(arc, arc_at(2000), RECORD, 0, 1, &held, &fill);

	abd_arc_fill_abandon(&fill);
	return error == 1 ? 0 : error;
}

static int called;

static void ready(void *arg)
{
	called++;
}

/* The second one waits for the first, and is called once, if there was memory to note it. */
static int fill_async(void)
{
	abd_arc_hold_t held;
	abd_arc_fill_t fill, second = {NULL, 0, NULL};
	const abd_arc_record_t part = {.off = 1, .stored_size = RECORD, .logical_size = RECORD};
	int waits = 0, error = abd_arc_hold_or_fill_async(
			       arc, arc_at(2000), RECORD + 1, 0, &held, &fill, ready, NULL);

	called = 0;
	if (error != 1) {
		abd_arc_release(&held);
		return error;
	}
	for (unsigned i = 0; i < 2; i++) {
		waits = abd_arc_hold_or_fill_async(
			arc, arc_at(2000), RECORD, 0, &held, &second, ready, NULL);
		cr_assert(held.entry == NULL && second.entry == NULL);
		if (i == 0 && waits == -EINPROGRESS)
			cr_assert_eq(abd_arc_forget_ready(arc, arc_at(2000), ready, NULL), 0);
	}
	abd_copy_from_buf_off(fill.abd, record, 1, RECORD);
	error = abd_arc_fill_commit_record(&fill, &part, NULL);
	cr_assert_eq(called, waits == -EINPROGRESS);
	return error == 0 && waits == -ENOMEM ? -ENOMEM : error;
}

static int fill_many(void)
{
	enum { KEYS = 6 };
	abd_arc_key_t key[KEYS];
	abd_arc_hold_t held[KEYS];
	abd_arc_fill_t fill[KEYS];
	size_t size[KEYS];
	int result[KEYS], error = 0;

	for (uint64_t n = 0; n < KEYS; n++) {
		key[n] = arc_key(n % 2 == 0 ? n : 3000 + n);
		size[n] = RECORD;
	}
	abd_arc_hold_or_fill_many(arc, key, size, 0, held, fill, result, KEYS);
	for (unsigned n = 0; n < KEYS; n++) {
		cr_assert_eq(held[n].entry != NULL, result[n] == 0);
		cr_assert_eq(fill[n].entry != NULL, result[n] == 1);
		abd_arc_release(&held[n]);
		abd_arc_fill_abandon(&fill[n]);
		error = result[n] < 0 ? result[n] : error;
	}
	return error;
}

static int removal(void)
{
	int error = abd_arc_remove(arc, arc_at(6));

	return error == -ENOENT ? 0 : error;
}

static int remove_pool(void)
{
	return (int)abd_arc_remove_pool(arc, 7) * 0;
}

static int visit(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg)
{
	return 0;
}

static int each(void)
{
	return abd_arc_each(arc, visit, NULL);
}

static int stats(void)
{
	struct abd_arc_stats now;

	return abd_arc_stats_get(arc, &now, sizeof(now));
}

static int resize(void)
{
	return abd_arc_resize(arc, 400000);
}

static int trim(void)
{
	return (int)abd_arc_trim(arc, 100000, UINT64_MAX) * 0;
}

static void take(abd_arc_evicted_t *evicted, void *arg)
{
	abd_free(abd_arc_evicted_take(evicted));
}

/* A record in a struct of the entry's, so that taking it over allocates. */
static int evicted_take(void)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 1 << 20, .evicted_cb = take};
	abd_arc_t *other = abd_arc_create(&config);
	abd_t *abd = abd_alloc_linear(3000, false);
	int error = other == NULL || abd == NULL ? -ENOMEM : 0;

	if (error == 0) {
		abd_copy_from_buf(abd, record, 3000);
		error = abd_arc_put_abd(other, arc_at(1), abd, 3000, ABD_ARC_PLAIN);
	}
	if (error != 0 && abd != NULL)
		abd_free(abd);
	if (other != NULL) {
		(void)abd_arc_trim(other, SIZE_MAX, UINT64_MAX);
		cr_assert_eq(arc_stats(other).told, error == 0);
		abd_arc_destroy(other);
	}
	return error;
}

static int create(void)
{
	abd_arc_t *other = arc_make(1 << 20, 0, 0);

	if (other == NULL)
		return -errno;
	abd_arc_destroy(other);
	return 0;
}

/* A resize goes on without memory for a table. */
static int second_time(void)
{
	abd_arc_t *other = arc_make(1 << 20, 0, ABD_ARC_SECOND_TIME);
	int error = 0;

	if (other == NULL)
		return -errno;
	for (unsigned i = 0; i < 2 && error == 0; i++)
		error = abd_arc_put(other, arc_at(1), record, RECORD);
	cr_assert_eq(abd_arc_resize(other, 2 << 20), 0);
	cr_assert_eq(abd_arc_resize(other, 1 << 18), 0);
	abd_arc_destroy(other);
	return error;
}

enum { ALLOCATES = 1, SURVIVES_ONE = 2, EVICTS = 4, EVICTS_NOTHING = 8 };

static const struct {
	const char *name;
	int (*call)(void);
	unsigned kind;
} calls[] = {
	{"abd_arc_put", put, SURVIVES_ONE | EVICTS},
	{"abd_arc_put_flags", put_flags, SURVIVES_ONE | EVICTS},
	{"abd_arc_put_abd", put_abd_packed, 0},
	{"abd_arc_put_abd, plain", put_abd_plain, 0},
	{"abd_arc_put_abd, verified", put_abd_verified, 0},
	{"abd_arc_put_record", put_record, 0},
	{"abd_arc_read", get, SURVIVES_ONE | EVICTS_NOTHING | ALLOCATES},
	{"abd_arc_read_flags", get_flags, SURVIVES_ONE | EVICTS_NOTHING | ALLOCATES},
	{"abd_arc_read_all", get_all, 0},
	{"abd_arc_contains", contains, 0},
	{"abd_arc_hold", hold, SURVIVES_ONE | EVICTS_NOTHING},
	{"abd_arc_hold_many", hold_many, SURVIVES_ONE | EVICTS_NOTHING},
	{"abd_arc_read_many", read_many, 0},
	{"abd_arc_hold_read", hold_read, 0},
	{"abd_arc_hold_drop", hold_read, 0},
	{"abd_arc_read_abd", read_abd, 0},
	{"abd_arc_hold_dup", hold_dup, 0},
	{"abd_arc_release", hold, 0},
	{"abd_arc_hold_or_fill", hold_or_fill, 0},
	{"abd_arc_hold_or_fill_timed", timed, 0},
	{"abd_arc_hold_or_fill_async", fill_async, 0},
	{"abd_arc_forget_ready", fill_async, 0},
	{"abd_arc_hold_or_fill_many", fill_many, 0},
	{"abd_arc_fill_commit", hold_or_fill, 0},
	{"abd_arc_fill_commit_record", fill_async, 0},
	{"abd_arc_fill_abandon", fill_abandon, 0},
	{"abd_arc_remove", removal, 0},
	{"abd_arc_remove_pool", remove_pool, 0},
	{"abd_arc_each", each, 0},
	{"abd_arc_stats_get", stats, 0},
	{"abd_arc_resize", resize, SURVIVES_ONE},
	{"abd_arc_trim", trim, 0},
	{"abd_arc_evicted_take", evicted_take, 0},
	{"abd_arc_create", create, 0},
	{"abd_arc_create, second time", second_time, 0},
	{"abd_arc_destroy", create, 0},
};

static void fill_cache(void)
{
	arc = arc_make(500000, 0, ABD_ARC_CHECKSUM);
	cr_assert_not_null(arc);
	for (uint64_t n = 0; n < RECORDS; n++) {
		arc_fill(record, RECORD, n, 0, (unsigned)n);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, RECORD), 0);
	}
}

/* All that the cache has is right, but for 3, which calls put. Returns how many records it has. */
static size_t check_records(void)
{
	char expected[RECORD], got[RECORD];
	size_t found = 0;

	for (uint64_t n = 0; n < RECORDS; n++) {
		if (abd_arc_read(arc, arc_at(n), got, 0, RECORD) != RECORD)
			continue;
		arc_fill(expected, RECORD, n, 0, (unsigned)n);
		cr_assert(n == 3 || memcmp(got, expected, RECORD) == 0, "record %u", (unsigned)n);
		found++;
	}
	return found;
}

/* What the kind of call i says of a refusal. */
static void check_kind(size_t i, int error, bool all, const struct abd_arc_stats *was)
{
	struct abd_arc_stats now = arc_stats(arc);
	size_t found = check_records();

	if (!all && (calls[i].kind & SURVIVES_ONE) != 0) {
		cr_assert_eq(error, 0, "%s: %d though memory came back", calls[i].name, error);
		cr_assert_gt(found, 0, "%s: one refusal emptied the cache", calls[i].name);
	}
	if (error == -ENOMEM && (calls[i].kind & EVICTS) != 0)
		cr_assert_gt(now.shrinks, 0, "%s gave up nothing", calls[i].name);
	if ((calls[i].kind & EVICTS_NOTHING) != 0)
		cr_assert(now.evictions == was->evictions && now.shrinks == 0 &&
				  now.entries == was->entries,
			"%s evicts", calls[i].name);
}

/* Run a call in a fresh cache, refused at site n alone or from there on. Returns the sites met. */
static size_t run(size_t i, size_t n, bool all)
{
	struct abd_stats before = abd_test_stats(), after;
	size_t sites;
	int error;

	fill_cache();

	struct abd_arc_stats was = arc_stats(arc);

	if (all)
		abd_test_fault_from(n);
	else
		abd_test_fault_at(n);
	error = calls[i].call();
	sites = abd_test_fault_end();
	cr_assert(error == 0 || error == -ENOMEM, "%s, site %zu: %d", calls[i].name, n, error);
	check_kind(i, error, all, &was);
	cr_assert_eq(arc->policy.reserved, 0, "%s keeps room, site %zu", calls[i].name, n);
	cr_assert_eq(arc->fillings, 0, "%s leaves a fill open, site %zu", calls[i].name, n);
	cr_assert_eq(calls[i].call(), 0, "%s does not recover from site %zu", calls[i].name, n);
	abd_arc_destroy(arc);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after), "%s leaks, site %zu", calls[i].name, n);
	return sites;
}

static void make_block(void)
{
	abd_t from, to;

	arc_fill(record, RECORD, 3, 0, 8);
	abd_get_from_buf_struct(&from, record, RECORD);
	abd_get_from_buf_struct(&to, block, RECORD);
	block_size = (size_t)abd_lz4_compress_indexed(
		&to, &from, 0, 0, RECORD, 4096, 0, (void *)index_room);
	cr_assert_lt(block_size, RECORD);
	abd_free(&from);
	abd_free(&to);
}

Test(abd_arc_oom, every_allocation_of_every_call_may_fail)
{
	size_t sites = 0;

	make_block();
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t n = 0;

		while (run(i, n, false) > n)
			run(i, n++, true);
		if ((calls[i].kind & EVICTS_NOTHING) != 0)
			cr_assert_eq(n > 0, (calls[i].kind & ALLOCATES) != 0,
				"only a read of a range needs memory: %s", calls[i].name);
		sites += n;
	}
	fprintf(stderr, "abd_arc_oom: %zu allocation sites refused\n", sites);
	cr_assert_geq(sites, 135, "only %zu sites", sites);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
}
