/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's calls from one thread: records come out as they went in, impossible requests are
 * reported, capacity and holds keep their promises.
 */
#include "arc_data.h"

#define MIB ((size_t)1 << 20)

static const size_t sizes[] = {
	1, 7, 8, 100, 511, 1535, 1536, 4096, 4097, 8192, 12288, 16384, 40000, 131072, 1000003};

static void put_and_read(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	char *record = malloc(size), *read = malloc(size + 2);

	arc_fill(record, size, n, 1, random);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), record, size), 0, "put of %zu bytes", size);
	for (unsigned i = 0; i < 24; i++) {
		size_t off = i == 0 ? 0 : (size_t)rand() % (size + 1);
		size_t len = i == 0 ? size : (size_t)rand() % (size - off + 1);

		memset(read, 0xee, size + 2);
		cr_assert_eq(abd_arc_read(arc, arc_at(n), read + 1, off, len), (ssize_t)len,
			"read [%zu, +%zu) of %zu", off, len, size);
		cr_assert_eq(memcmp(read + 1, record + off, len), 0, "content [%zu, +%zu) of %zu",
			off, len, size);
		cr_assert(
			read[0] == (char)0xee && read[len + 1] == (char)0xee, "a byte beside dst");
	}
	free(record);
	free(read);
}

Test(arc, what_was_put_is_read_in_any_range)
{
	abd_arc_t *arc = arc_make(64 * MIB, 0, 0);
	uint64_t n = 0;

	cr_assert_not_null(arc);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned random = 0; random <= 64; random += 16)
			put_and_read(arc, n++, sizes[i], random);
	cr_assert_eq(arc_stats(arc).entries, n);
	abd_arc_destroy(arc);
}

Test(arc, ranges_outside_the_record_are_refused)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_key_t key = arc_key(1), other = arc_key(2);
	char record[5000], read[5000];

	arc_fill(record, sizeof(record), 1, 1, 8);
	cr_assert_eq(abd_arc_put(arc, &key, record, sizeof(record)), 0);
	cr_assert_eq(abd_arc_read(arc, &key, read, 0, 5001), -EINVAL);
	cr_assert_eq(abd_arc_read(arc, &key, read, 5000, 1), -EINVAL);
	cr_assert_eq(abd_arc_read(arc, &key, read, 5001, 0), -EINVAL);
	cr_assert_eq(abd_arc_read(arc, &key, read, SIZE_MAX, 2), -EINVAL);
	cr_assert_eq(abd_arc_read(arc, &key, read, 2, SIZE_MAX), -EINVAL);
	cr_assert_eq(abd_arc_read(arc, &key, read, 5000, 0), 0);
	cr_assert_eq(abd_arc_read(arc, &key, NULL, 0, 0), 0);
	cr_assert_eq(abd_arc_read(arc, &other, read, 0, 1), -ENOENT);
	cr_assert_eq(abd_arc_put(arc, &key, record, 0), -EINVAL);
	cr_assert_eq(abd_arc_put(arc, &key, NULL, 0), -EINVAL);
	cr_assert_eq(abd_arc_put_flags(arc, &key, record, 10, 2), -EINVAL);
	abd_arc_destroy(arc);
}

Test(arc, every_part_of_the_key_counts)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_key_t key = {1, {2, 3}, 4};
	char byte = 'x';

	cr_assert_eq(abd_arc_put(arc, &key, &byte, 1), 0);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t word[4] = {1, 2, 3, 4};

		word[i]++;
		abd_arc_key_t other = {word[0], {word[1], word[2]}, word[3]};

		cr_assert_eq(abd_arc_read(arc, &other, &byte, 0, 1), -ENOENT, "word %u", i);
	}
	abd_arc_destroy(arc);
}

Test(arc, records_that_save_less_than_an_eighth_are_stored_as_they_are)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	char record[8192];

	for (unsigned random = 0; random <= 64; random += 4) {
		abd_arc_key_t key = arc_key(random);
		abd_arc_hold_t hold;

		arc_fill(record, sizeof(record), random, 1, random);
		cr_assert_eq(abd_arc_put(arc, &key, record, sizeof(record)), 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
		cr_assert_eq(hold.logical_size, sizeof(record));
		cr_assert_eq(abd_get_size(hold.abd), hold.stored_size);
		if (hold.compressed)
			cr_expect(
				hold.stored_size <= 7168, "%zu saves too little", hold.stored_size);
		else
			cr_expect_eq(hold.stored_size, sizeof(record));
		cr_expect(hold.compressed == (random < 56), "with %u of 64 random", random);
		abd_arc_release(&hold);
	}
	abd_arc_destroy(arc);
}

Test(arc, an_8k_record_in_one_run_decodes_without_a_copy)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	struct abd_stats before, after;
	char record[8192], read[8192];
	abd_arc_hold_t hold;

	arc_fill(record, sizeof(record), 1, 1, 22);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), record, sizeof(record)), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	cr_assert(hold.stored_size > 1536 && hold.stored_size <= 4096, "%zu", hold.stored_size);
	cr_assert(abd_is_linear(hold.abd));
	abd_arc_release(&hold);
	abd_stats_get(&before, sizeof(before));
	cr_assert_eq(abd_arc_read(arc, arc_at(1), read, 0, sizeof(read)), sizeof(read));
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.borrow_copy_cnt, before.borrow_copy_cnt);
	abd_arc_destroy(arc);
}

Test(arc, putting_again_replaces)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	char record[9000], read[9000];

	for (uint64_t version = 0; version < 200; version++) {
		size_t size = 1 + (size_t)(version * 997 % 9000);

		arc_fill(record, size, 5, version, (unsigned)(version % 65));
		cr_assert_eq(abd_arc_put(arc, arc_at(5), record, size), 0);
		cr_assert_eq(abd_arc_read(arc, arc_at(5), read, 0, size), (ssize_t)size);
		cr_assert_eq(memcmp(record, read, size), 0, "version %u", (unsigned)version);
		cr_assert_eq(
			abd_arc_read(arc, arc_at(5), read, 0, size + 1), -EINVAL, "a stale size");

		struct abd_arc_stats stats = arc_stats(arc);

		cr_assert_eq(stats.entries, 1);
		cr_assert_eq(stats.logical_bytes, size);
		cr_assert_eq(stats.replaces, version);
	}
	abd_arc_destroy(arc);
}

Test(arc, what_was_removed_is_gone)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	char byte = 1;

	cr_assert_eq(abd_arc_remove(arc, arc_at(5)), -ENOENT);
	cr_assert_eq(abd_arc_put(arc, arc_at(5), &byte, 1), 0);
	cr_assert_eq(abd_arc_remove(arc, arc_at(5)), 0);
	cr_assert_eq(abd_arc_read(arc, arc_at(5), &byte, 0, 1), -ENOENT);
	cr_assert_eq(abd_arc_remove(arc, arc_at(5)), -ENOENT);

	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.stored_bytes, 0);
	cr_assert_eq(stats.recent_bytes + stats.frequent_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc, a_record_that_never_fits_is_refused_and_changes_nothing)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_key_t key = arc_key(1), big = arc_key(2);
	char *record = malloc(2 * MIB), byte = 3;

	arc_fill(record, 2 * MIB, 2, 1, 64);
	cr_assert_eq(abd_arc_put(arc, &key, &byte, 1), 0);
	cr_assert_eq(abd_arc_put(arc, &big, record, 2 * MIB), -ENOSPC);
	cr_assert_eq(abd_arc_put(arc, &big, record, MIB), -ENOSPC);
	cr_assert_eq(abd_arc_put(arc, &big, record, ABD_ARC_RECORD_MAX + 1), -ENOSPC);
	cr_assert_eq(
		abd_arc_read(arc, &key, &byte, 0, 1), 1, "what was there was evicted for nothing");
	memset(record, 0, 2 * MIB);
	cr_assert_eq(abd_arc_put(arc, &big, record, 2 * MIB), 0, "compressed it does fit");
	abd_arc_destroy(arc);
	free(record);
}

/* Puts of all sizes and removals; the capacity holds after each. */
static void fill_and_watch(abd_arc_t *arc, uint64_t seed, unsigned rounds)
{
	char *record = calloc(1, 200000);

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t n = abd_test_random(&seed) % 500;
		size_t size = 1 + (size_t)(abd_test_random(&seed) % (i % 16 == 0 ? 200000 : 9000));

		if (i % 7 == 0) {
			abd_arc_remove(arc, arc_at(n));
			continue;
		}
		arc_fill(record, size < 4096 ? size : 4096, n, i, (unsigned)(n % 65));
		int error = abd_arc_put(arc, arc_at(n), record, size);

		cr_assert(error == 0 || error == -ENOSPC, "%d", error);

		struct abd_arc_stats stats = arc_stats(arc);

		cr_assert(stats.used_bytes <= stats.capacity_bytes + stats.held_bytes,
			"round %u: %zu bytes used of %zu, %zu held", i, (size_t)stats.used_bytes,
			(size_t)stats.capacity_bytes, (size_t)stats.held_bytes);
		cr_assert(stats.recent_bytes + stats.frequent_bytes <= stats.target_bytes);
		cr_assert(stats.recent_bytes + stats.ghost_recent_bytes <= stats.target_bytes);
		cr_assert(stats.recent_bytes + stats.frequent_bytes + stats.ghost_recent_bytes +
				  stats.ghost_frequent_bytes <=
			  2 * stats.target_bytes);
	}
	free(record);
}

Test(arc, the_capacity_holds_at_every_put)
{
	static const size_t capacities[] = {ABD_ARC_CAPACITY_MIN, 300000, MIB, 5 * MIB};

	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		abd_arc_t *arc = arc_make(capacities[i], 0, 0);

		fill_and_watch(arc, 11 + i, 4000);
		abd_arc_destroy(arc);
	}
}

/* 600 records are used twice, then 4,000 others are put once: into 4 MiB fit about 1,000. */
static struct abd_arc_stats scan_beside_used(unsigned flags, size_t *kept)
{
	abd_arc_t *arc = arc_make(4 * MIB, 1, flags);
	char record[4000];

	arc_fill(record, sizeof(record), 1, 1, 64);
	for (uint64_t n = 0; n < 4600; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n < 600)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, 1), 1);
	}
	/* the ones that left last, while their ghosts would still be there */
	for (uint64_t n = 4000; n < 4010; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
	*kept = 0;
	for (uint64_t n = 0; n < 600; n++)
		*kept += abd_arc_contains(arc, arc_at(n));

	struct abd_arc_stats stats = arc_stats(arc);

	abd_arc_destroy(arc);
	return stats;
}

Test(arc, without_ghosts_their_memory_holds_records_and_what_comes_back_is_new)
{
	size_t kept_with, kept;
	struct abd_arc_stats with = scan_beside_used(0, &kept_with);
	struct abd_arc_stats without = scan_beside_used(ABD_ARC_NO_GHOSTS, &kept);

	cr_assert(with.ghosts > 300 && with.ghost_hits_recent == 10);
	cr_assert(without.ghosts == 0 && without.ghost_hits_recent == 0);
	cr_assert(without.evictions > 3000);
	/* a ghost has 32 bytes at least */
	cr_assert(without.index_bytes + 32 * with.ghosts < with.index_bytes);
	cr_assert(without.target_recent_bytes == 0 && kept == 600, "%zu are left", kept);
}

Test(arc, used_bytes_are_all_bytes_and_come_back)
{
	struct abd_stats before, after;
	abd_arc_t *arc = arc_make(8 * MIB, 0, 0);

	abd_stats_get(&before, sizeof(before));
	fill_and_watch(arc, 3, 3000);
	abd_arc_resize(arc, 4 * MIB); /* nothing waits for readers any more */
	abd_stats_get(&after, sizeof(after));

	struct abd_arc_stats stats = arc_stats(arc);

	/* Records and entries are counted, with what slots, pages and slabs waste. */
	cr_assert_eq(stats.evicted_bytes, 0);
	cr_assert_geq(stats.used_bytes, stats.stored_bytes + stats.index_bytes);
	cr_assert_leq(stats.used_bytes, 4 * MIB);
	cr_assert_geq(stats.resident_bytes, stats.used_bytes);
	abd_arc_destroy(arc);
	abd_stats_get(&after, sizeof(after));
	cr_assert_eq(after.scatter_data_size, before.scatter_data_size, "a buffer was not freed");
	cr_assert_eq(after.linear_data_size, before.linear_data_size);
	cr_assert_eq(after.struct_size, before.struct_size);
}

Test(arc, what_is_held_survives_eviction_replacement_and_removal)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_hold_t hold[40];
	char record[9000], copy[9000];

	for (uint64_t n = 0; n < 40; n++) {
		arc_fill(record, 9000, n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, 9000), 0);
		cr_assert_eq(abd_arc_hold(arc, arc_at(n), &hold[n]), 0);
	}
	for (uint64_t n = 0; n < 40; n += 2) {
		if (n % 4 == 0)
			cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
		else
			cr_assert_eq(abd_arc_put(arc, arc_at(n), "another", 7), 0);
	}
	fill_and_watch(arc, 77, 3000);
	cr_assert_geq(arc_stats(arc).held_bytes, 40 * 9000);
	for (uint64_t n = 0; n < 40; n++) {
		arc_fill(record, 9000, n, 0, 64);
		cr_assert_eq(hold[n].stored_size, 9000);
		abd_copy_to_buf(copy, hold[n].abd, 9000);
		cr_assert_eq(
			memcmp(copy, record, 9000), 0, "record %u changed while held", (unsigned)n);
		abd_arc_release(&hold[n]);
		cr_assert_null(hold[n].entry);
	}

	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_eq(stats.held_bytes, 0);
	/* what shared slabs with others makes room at the next put */
	cr_assert_eq(abd_arc_put(arc, arc_at(100), record, 9000), 0);
	stats = arc_stats(arc);
	cr_assert(stats.used_bytes <= stats.capacity_bytes, "%zu", (size_t)stats.used_bytes);
	abd_arc_destroy(arc);
}

/*
 * A scan was told from others by 16 bits: one that came 65536 after a record was made took it for
 * counted.
 */
Test(arc, what_is_held_is_counted_however_often_was_asked)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;

	cr_assert_eq(abd_arc_put(arc, arc_at(1), "held", 4), 0);
	for (unsigned i = 0; i < 65535; i++)
		abd_test_check(arc_stats(arc).held_bytes == 0, "after %u", i);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	for (unsigned i = 0; i < 3; i++)
		abd_test_check(arc_stats(arc).held_bytes > 0, "after %u more", i);
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
}

Test(arc, a_release_frees_what_only_it_kept)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_hold_t first, second;
	char record[50000];

	arc_fill(record, sizeof(record), 1, 1, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), record, sizeof(record)), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &first), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &second), 0);
	cr_assert_eq(first.abd, second.abd);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	abd_arc_resize(arc, MIB / 2); /* a grace period passes */
	cr_assert_geq(arc_stats(arc).evicted_bytes, 50000);
	abd_arc_release(&second);
	cr_assert_geq(arc_stats(arc).evicted_bytes, 50000, "freed while held");
	abd_arc_release(&first);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc, any_number_of_holds_by_one_thread)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_hold_t hold[300];

	cr_assert_eq(abd_arc_put(arc, arc_at(1), "x", 1), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 300; i++)
			cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold[i]), 0);
		for (unsigned i = 0; i < 300; i++)
			abd_arc_release(&hold[(i * 7) % 300]);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
	}
	abd_arc_destroy(arc);
}

Test(arc, broken_contracts_are_said)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_key_t key = arc_key(1);
	abd_arc_hold_t hold, again;
	char byte;

	cr_assert_eq(abd_arc_put(arc, &key, "x", 1), 0);
	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	again = hold;
	abd_test_expect_contract(abd_arc_destroy(arc), "destroyed while records of");
	abd_arc_release(&hold);
	abd_arc_release(&hold); /* it is empty */
	abd_test_expect_contract(abd_arc_release(&again), "released before");
	abd_test_expect_contract(abd_arc_put(NULL, &key, "x", 1), "NULL");
	abd_test_expect_contract(abd_arc_put(arc, NULL, "x", 1), "NULL");
	abd_test_expect_contract(abd_arc_put(arc, &key, NULL, 1), "NULL");
	abd_test_expect_contract(abd_arc_read(arc, NULL, &byte, 0, 1), "NULL");
	abd_test_expect_contract(abd_arc_read(arc, &key, NULL, 0, 1), "NULL");
	abd_test_expect_contract(abd_arc_hold(arc, &key, NULL), "NULL");
	abd_test_expect_contract(abd_arc_remove(NULL, &key), "NULL");
	abd_arc_destroy(arc);
	abd_arc_destroy(NULL);
}

Test(arc, a_config_of_any_version_is_taken)
{
	struct {
		struct abd_arc_config config;
		uint64_t newer[2];
	} longer = {.config = {.config_size = sizeof(longer), .capacity_bytes = MIB}};
	abd_arc_t *arc = abd_arc_create(&longer.config);

	cr_assert_not_null(arc, "an unknown tail of zeroes");
	abd_arc_destroy(arc);
	longer.newer[1] = 1;
	cr_assert_null(abd_arc_create(&longer.config));
	cr_assert_eq(errno, E2BIG);

	struct abd_arc_config config = {
		.config_size = offsetof(struct abd_arc_config, expected_entries),
		.capacity_bytes = MIB,
		.hit_batch = 9999, /* behind the size: not there */
		.flags = 0xffff};

	arc = abd_arc_create(&config);
	cr_assert_not_null(arc, "a missing tail");
	abd_arc_destroy(arc);
	for (size_t size = 0; size < offsetof(struct abd_arc_config, expected_entries); size++) {
		config.config_size = size;
		cr_assert_null(abd_arc_create(&config));
		cr_assert_eq(errno, EINVAL);
	}
	config = (struct abd_arc_config){.config_size = sizeof(config), .capacity_bytes = MIB};
	config.flags = ABD_ARC_DESTROY_EVICTS << 1;
	cr_assert(abd_arc_create(&config) == NULL && errno == EINVAL, "an unknown flag");
	config.flags = 0;
	config.hit_batch = ABD_ARC_HIT_BATCH_MAX + 1;
	cr_assert(abd_arc_create(&config) == NULL && errno == EINVAL, "a batch too large");
	config.hit_batch = ABD_ARC_HIT_BATCH_MAX;
	config.capacity_bytes = ABD_ARC_CAPACITY_MIN - 1;
	cr_assert(abd_arc_create(&config) == NULL && errno == EINVAL, "too small a capacity");
	config.capacity_bytes = (size_t)PTRDIFF_MAX + 1;
	cr_assert(abd_arc_create(&config) == NULL && errno == EINVAL, "too large a capacity");
	config.capacity_bytes = MIB;
	config.expected_entries = SIZE_MAX;
	arc = abd_arc_create(&config);
	cr_assert(arc != NULL && arc_stats(arc).index_bytes < MIB / 16, "as many as fit");
	abd_arc_destroy(arc);
}

Test(arc, statistics_fill_a_record_of_any_version)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	uint64_t longer[sizeof(struct abd_arc_stats) / 8 + 3];
	char byte;

	cr_assert_eq(abd_arc_put(arc, arc_at(1), "x", 1), 0);
	for (unsigned i = 0; i < 5; i++)
		abd_arc_read(arc, arc_at(1), &byte, 0, 1);
	memset(longer, 0xff, sizeof(longer));
	cr_assert_eq(abd_arc_stats_get(arc, (struct abd_arc_stats *)longer, sizeof(longer)), 0);
	cr_assert_eq(longer[0], 5, "hits");
	cr_assert_eq(longer[sizeof(struct abd_arc_stats) / 8 + 2], 0);
	memset(longer, 0xff, sizeof(longer));
	cr_assert_eq(abd_arc_stats_get(arc, (struct abd_arc_stats *)longer, 8), 0);
	cr_assert(longer[0] == 5 && longer[1] == UINT64_MAX);
	cr_assert_eq(abd_arc_stats_get(arc, (struct abd_arc_stats *)longer, 0), -EINVAL);
	cr_assert_eq(abd_arc_stats_get(arc, (struct abd_arc_stats *)longer, 12), -EINVAL);
	abd_arc_destroy(arc);
}

Test(arc, resizing_keeps_what_fits)
{
	abd_arc_t *arc = arc_make(8 * MIB, 0, 0);
	char record[4096], read[4096];

	for (uint64_t n = 0; n < 1500; n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
	}
	cr_assert_eq(arc_stats(arc).entries, 1500);
	cr_assert_eq(abd_arc_resize(arc, ABD_ARC_CAPACITY_MIN - 1), -EINVAL);
	cr_assert_eq(abd_arc_resize(arc, (size_t)PTRDIFF_MAX + 1), -EINVAL);
	cr_assert_eq(abd_arc_resize(arc, MIB), 0);

	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert(stats.used_bytes <= MIB, "%zu", (size_t)stats.used_bytes);
	cr_assert(stats.entries >= 150 && stats.entries <= 250, "%zu", (size_t)stats.entries);
	for (uint64_t n = 1500 - stats.entries; n < 1500; n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		cr_assert_eq(abd_arc_read(arc, arc_at(n), read, 0, 4096), 4096, "the newest stay");
		cr_assert_eq(memcmp(record, read, 4096), 0);
	}
	cr_assert_eq(abd_arc_resize(arc, 8 * MIB), 0);
	fill_and_watch(arc, 5, 2000);
	abd_arc_destroy(arc);
}

Test(arc, metadata_is_counted_apart)
{
	abd_arc_t *arc = arc_make(MIB, 0, 0);
	abd_arc_key_t key = arc_key(1), other = arc_key(2);
	abd_arc_hold_t hold;
	char record[4000];

	arc_fill(record, 4000, 1, 1, 64);
	cr_assert_eq(abd_arc_put_flags(arc, &key, record, 4000, ABD_ARC_METADATA), 0);
	cr_assert_eq(abd_arc_put(arc, &other, record, 3000), 0);
	cr_assert_eq(arc_stats(arc).metadata_entries, 1);
	cr_assert_eq(arc_stats(arc).metadata_stored_bytes, 4000);
	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	cr_assert((hold.abd->abd_flags & ABD_FLAG_META) != 0);
	abd_arc_release(&hold);
	cr_assert_eq(abd_arc_hold(arc, &other, &hold), 0);
	cr_assert((hold.abd->abd_flags & ABD_FLAG_META) == 0);
	abd_arc_release(&hold);
	cr_assert_eq(abd_arc_remove(arc, &key), 0);
	cr_assert_eq(arc_stats(arc).metadata_entries, 0);
	cr_assert_eq(arc_stats(arc).metadata_stored_bytes, 0);
	abd_arc_destroy(arc);
}

/* Flip a bit of the stored bytes, as failing memory would. */
static void damage(abd_arc_t *arc, const abd_arc_key_t *key, size_t at)
{
	abd_arc_hold_t hold;
	unsigned char byte;
	abd_t *abd;

	cr_assert_eq(abd_arc_hold(arc, key, &hold), 0);
	memcpy(&abd, &hold.abd, sizeof(abd));
	abd_copy_to_buf_off(&byte, abd, at, 1);
	byte ^= 0x10;
	abd_copy_from_buf_off(abd, &byte, at, 1);
	abd_arc_release(&hold);
}

Test(arc, with_checksums_a_damaged_record_is_counted_dropped_and_never_returned)
{
	abd_arc_t *arc = arc_make(4 * MIB, 0, ABD_ARC_CHECKSUM);
	abd_arc_key_t key = arc_key(1);
	char *record = malloc(100000), *read = malloc(100000);
	uint64_t damaged = 0;

	for (unsigned random = 0; random <= 64; random += 32) {
		for (size_t at = 0; at < 1000; at += 37) {
			abd_arc_hold_t hold;

			arc_fill(record, 100000, 1, at, random);
			cr_assert_eq(abd_arc_put(arc, &key, record, 100000 - at), 0);
			cr_assert_eq(abd_arc_read(arc, &key, read, 0, 100000 - at),
				(ssize_t)(100000 - at));
			cr_assert_eq(memcmp(read, record, 100000 - at), 0);
			cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
			size_t size = hold.stored_size;

			abd_arc_release(&hold);
			damage(arc, &key, at % 2 ? at % size : size - 1 - at % size);
			if (at % 3 == 0)
				cr_assert_eq(abd_arc_hold(arc, &key, &hold), -EBADMSG);
			else
				cr_assert_eq(abd_arc_read(arc, &key, read, 5, 10), -EBADMSG);
			cr_assert_eq(arc_stats(arc).damaged, ++damaged);
			cr_assert_eq(abd_arc_read(arc, &key, read, 5, 10), -ENOENT);
			cr_assert_eq(arc_stats(arc).entries, 0);
		}
	}
	abd_arc_destroy(arc);
	free(record);
	free(read);
}

Test(arc, without_checksums_lz4_finds_what_it_can)
{
	abd_arc_t *arc = arc_make(4 * MIB, 0, 0);
	char record[8192], read[8192];

	arc_fill(record, 8192, 1, 0, 0);
	/* From the start into the caller's memory, from further on through scratch. */
	for (unsigned off = 0; off <= 1; off++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(1), record, 8192), 0);
		damage(arc, arc_at(1), 0); /* the first token: one literal more or less */
		cr_assert_eq(abd_arc_read(arc, arc_at(1), read, off, 8192 - off), -EBADMSG);
		cr_assert_eq(arc_stats(arc).damaged, off + 1);
		cr_assert_eq(abd_arc_read(arc, arc_at(1), read, 0, 8192), -ENOENT);
	}
	abd_arc_destroy(arc);
}

Test(arc, the_index_grows_and_every_record_is_found)
{
	abd_arc_t *arc = arc_make(256 * MIB, 0, 0);
	uint64_t word;

	for (uint64_t n = 0; n < 100000; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), &n, sizeof(n)), 0);
	cr_assert_eq(arc_stats(arc).entries, 100000);
	for (uint64_t n = 0; n < 100000; n++) {
		cr_assert_eq(abd_arc_read(arc, arc_at(n), &word, 0, sizeof(word)), 8);
		cr_assert_eq(word, n);
	}
	cr_assert_eq(abd_arc_resize(arc, MIB), 0);
	cr_assert(arc_stats(arc).used_bytes <= MIB, "%zu", (size_t)arc_stats(arc).used_bytes);
	cr_assert(arc_stats(arc).entries > 4000, "%zu", (size_t)arc_stats(arc).entries);
	abd_arc_destroy(arc);
}

Test(arc, caches_come_and_go_beside_each_other)
{
	abd_arc_t *arc[9] = {NULL};
	char read[3];

	for (unsigned i = 0; i < 400; i++) {
		unsigned n = i % 9;

		abd_arc_destroy(arc[n]);
		arc[n] = arc_make(ABD_ARC_CAPACITY_MIN, 0, 0);
		cr_assert_not_null(arc[n]);
		cr_assert_eq(abd_arc_put(arc[n], arc_at(1), (const char[]){(char)n, 0, 0}, 3), 0);
		for (unsigned j = 0; j < 9; j++) {
			if (arc[j] == NULL)
				continue;
			cr_assert_eq(abd_arc_read(arc[j], arc_at(1), read, 0, 3), 3);
			cr_assert_eq((unsigned)read[0], j);
		}
	}
	for (unsigned j = 0; j < 9; j++)
		abd_arc_destroy(arc[j]);
}
