/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the cache keeps from the system, at every moment, while the records' sizes change: little
 * more than its capacity. And how much of that is records.
 */
#include "abd_arc_reclaim.h"
#include "abd_chunk.h"
#include "arc_data.h"

#define CAPACITY ((size_t)32 << 20)
#define SLACK ((size_t)8 << 20)

static char data[1 << 20];

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all = 0, pages = 0;

	abd_test_check(
		file != NULL && fscanf(file, "%lu %lu", &all, &pages) == 2, "/proc/self/statm");
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Whether the process's resident memory says something: quarantines of checked builds keep more,
 * and emulators have memory of their own.
 */
static bool is_measurable(void)
{
	return ABD_TEST_X86 && !ABD_CHECKED && abd_chunk_resident(&abd_chunk_regions) > 0;
}

/* Put records of one size, or of many (size 0), of which a tenth is used again and again. */
static void phase(abd_arc_t *arc, uint64_t first, size_t size, size_t before)
{
	uint64_t seed = first;
	size_t bytes = 0, most = 0;

	for (uint64_t n = 0; bytes < CAPACITY + CAPACITY / 2; n++) {
		abd_arc_key_t hot = arc_key(first + abd_test_random(&seed) % (n / 10 + 1) * 10);
		size_t now = size > 0 ? size : (size_t)64 << abd_test_random(&seed) % 15; /* to 1
											     MiB */
		abd_arc_hold_t hold;

		now -= size > 0 ? 0 : (size_t)abd_test_random(&seed) % (now / 2);
		abd_test_check(abd_arc_put(arc, arc_at(first + n), data, now) == 0, "put");
		if (abd_arc_hold(arc, &hot, &hold) == 0)
			abd_arc_release(&hold);
		bytes += now;
		if (n % 64 == 0 || now > 65536) {
			struct abd_arc_stats stats = arc_stats(arc);

			abd_test_check(stats.used_bytes <= CAPACITY, "used");
			most = abd_min(most, SIZE_MAX) > stats.resident_bytes
				       ? most
				       : (size_t)stats.resident_bytes;
			if (n % 512 == 0 && is_measurable())
				cr_assert_leq(resident(), before + CAPACITY / 10 * 11 + SLACK,
					"%zu: %zu bytes, %zu before", size, resident(), before);
		}
	}
	cr_assert_leq(most, CAPACITY / 10 * 11 + SLACK, "%zu: %zu bytes", size, most);

	struct abd_arc_stats stats = arc_stats(arc);
	size_t waste = (size_t)(stats.used_bytes - stats.stored_bytes);
	size_t ghosts = (size_t)stats.ghosts * ABD_ARC_GHOST_COST;

	cr_log_info("%zu: %zu bytes of records, %zu records, waste %zu, ghosts %zu", size,
		(size_t)stats.stored_bytes, (size_t)stats.entries, waste, ghosts);
	if (size > 0)
		cr_expect_leq(waste, CAPACITY / 10 + 192 * stats.entries + ghosts,
			"%zu: waste of %zu", size, waste);
}

Test(arc_resident, memory_stays_within_the_capacity_while_sizes_change)
{
	static const size_t size[] = {
		320, 1280, 320, 4096, 131072, 65, 1900, 2700, 9000, 70000, 0, 1000};
	size_t before;
	abd_arc_t *arc;

	arc_fill(data, sizeof(data), 1, 1, 64);
	before = resident();
	arc = arc_make(CAPACITY, 0, 0);
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
		phase(arc, (uint64_t)i << 32, size[i], before);

	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 16), 0);

	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_leq(stats.used_bytes, CAPACITY / 16);
	if (!ABD_CHECKED)
		cr_assert_leq(stats.resident_bytes, CAPACITY / 160 * 11 + SLACK);
	if (is_measurable())
		cr_assert_leq(resident(), before + CAPACITY / 160 * 11 + SLACK,
			"%zu bytes after a resize, %zu before all", resident(), before);
	abd_arc_destroy(arc);
}

/* Look-ups of small records, new and old, whose ghosts come and go; the heap is used, too. */
static void churn(abd_arc_t *arc, size_t bytes, void **block, size_t blocks)
{
	uint64_t seed = 1, all = 1;
	char byte;

	for (uint64_t n = 0; bytes > 0; n++) {
		uint64_t key = n % 2 == 0 ? all++ : abd_test_random(&seed) % all;
		size_t size = (size_t)64 << abd_test_random(&seed) % 6;

		if (abd_arc_read(arc, arc_at(key), &byte, 0, 1) >= 0)
			continue;
		abd_test_check(abd_arc_put(arc, arc_at(key), data + n % 4096, size) == 0, "put");
		bytes -= abd_min(bytes, size);
		if (n % 256 == 0 && n / 256 < blocks)
			block[n / 256] = malloc(16);
	}
}

Test(arc_resident, the_statistic_is_true_when_a_cache_has_shrunk)
{
	enum { FROM = 256 << 20, TO = FROM / 4, BLOCKS = 8192 };
	static void *block[BLOCKS];
	abd_arc_t *arc = arc_make(TO, 0, 0);

	if (!is_measurable()) {
		abd_arc_destroy(arc);
		return;
	}
	/* the library's code, and what a thread keeps in reserve, come on top */
	arc_fill(data, sizeof(data), 1, 1, 64);
	churn(arc, TO, block, 0);
	abd_arc_destroy(arc);
	abd_cache_reap_now();

	size_t before = resident();

	arc = arc_make(FROM, 0, 0);
	churn(arc, 2 * (size_t)FROM, block, BLOCKS);
	cr_assert_eq(abd_arc_resize(arc, TO), 0);

	size_t now = resident() - before, said = (size_t)arc_stats(arc).resident_bytes;

	cr_assert(now - TO / 100 * 3 < said && said < now + TO / 100 * 3,
		"%zu bytes are resident, %zu are said to be", now, said);
	abd_arc_destroy(arc);
	for (size_t i = 0; i < BLOCKS; i++)
		free(block[i]);
}

/* With 64 shards it is ten times what counts against the capacity. */
Test(arc_resident, an_empty_cache_counts_all_that_it_takes)
{
	enum { CACHES = 20 };
	abd_arc_t *first = arc_make(CAPACITY, 0, 0);

	cr_assert_eq(abd_arc_put(first, arc_at(1), data, sizeof(data)), 0);
	for (size_t shards = 1; is_measurable() && shards <= 64; shards += 63) {
		struct abd_arc_config config = {.config_size = sizeof(config),
			.capacity_bytes = shards * ABD_ARC_CAPACITY_MIN,
			.shards = shards};
		size_t idle = abd_chunk_idle(abd_chunk_provider_now()), said = 0;
		size_t before = resident();
		abd_arc_t *arc[CACHES];

		for (unsigned i = 0; i < CACHES; i++)
			arc[i] = abd_arc_create(&config);

		size_t now = resident() - before + idle;

		idle = abd_chunk_idle(abd_chunk_provider_now());
		for (unsigned i = 0; i < CACHES; i++)
			said += (size_t)arc_stats(arc[i]).resident_bytes - idle;
		said += idle;
		cr_assert(now < said + said / 10 + (1 << 20),
			"%zu shards: %zu bytes are resident, %zu are said to be", shards, now,
			said);
		for (unsigned i = 0; i < CACHES; i++)
			abd_arc_destroy(arc[i]);
	}
	abd_arc_destroy(first);
}

/* A quarter of reserve_bytes, as when other buffers are freed. */
static void expect_little_idle(const char *when)
{
	size_t idle = abd_chunk_idle(abd_chunk_provider_now());

	cr_assert_leq(idle, (size_t)16 << 20, "%s: %zu bytes", when, idle);
}

Test(arc_resident, a_cache_that_ended_gives_its_memory_back)
{
	abd_arc_t *arc = arc_make(2 * CAPACITY, 0, 0);

	arc_fill(data, sizeof(data), 1, 1, 64);
	for (uint64_t n = 0; n < 2 * CAPACITY / 8192; n++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, 8192) == 0, "put");
	abd_arc_destroy(arc);
	expect_little_idle("destroyed");
}

Test(arc_resident, a_cache_that_can_not_begin_gives_its_memory_back)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = (size_t)2 << 30,
		.expected_entries = SIZE_MAX,
		.shards = 1};

	abd_init();
	abd_test_fault_from(8000); /* of 8,192 pages of the index */
	abd_arc_t *arc = abd_arc_create(&config);

	cr_assert_gt(abd_test_fault_end(), 0);
	cr_assert_null(arc);
	expect_little_idle("not begun");
}

/* Runs that a release frees do not stay with the thread that released them. */
Test(arc_resident, releases_give_memory_back)
{
	enum { HELD = 400, SIZE = 40000 };
	static abd_arc_hold_t hold[HELD];
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	uint64_t n = 0;

	abd_cache_reap_now();
	size_t before = abd_chunk_resident(&abd_chunk_regions);

	arc_fill(data, sizeof(data), 1, 1, 64);
	for (; n < HELD; n++) {
		abd_test_check(abd_arc_put(arc, arc_at(n), data, SIZE) == 0, "put");
		abd_test_check(abd_arc_hold(arc, arc_at(n), &hold[n]) == 0, "hold");
	}
	for (; arc_stats(arc).evictions < HELD; n++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, SIZE) == 0, "put");
	abd_arc_reclaim(arc);
	cr_assert_geq(arc_stats(arc).evicted_bytes, (uint64_t)HELD * SIZE);
	for (n = 0; n < HELD; n++)
		abd_arc_release(&hold[n]);

	struct abd_arc_stats stats = arc_stats(arc);
	size_t regions = abd_chunk_resident(&abd_chunk_regions);

	cr_assert_leq(stats.used_bytes, CAPACITY);
	cr_assert_leq(stats.resident_bytes, CAPACITY + CAPACITY / 10);
	if (is_measurable())
		cr_assert_leq(regions, before + CAPACITY + CAPACITY / 10,
			"%zu bytes are resident, %zu were before", regions, before);
	abd_arc_destroy(arc);
}
