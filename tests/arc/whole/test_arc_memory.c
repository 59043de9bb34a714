/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out at every allocation, once and for good: a put evicts what it can before it
 * answers -ENOMEM, reads and holds evict nothing, and the cache works afterwards. And where memory
 * is asked for: never inside a read-side section.
 */
#include "abd_mem.h"
#include "abd_arc_rcu.h"
#include "arc_data.h"

enum { RECORD = 9000, RECORDS = 60 };

static void fill(abd_arc_t *arc, char *record)
{
	for (uint64_t n = 0; n < RECORDS; n++) {
		arc_fill(record, RECORD, n, 0, (unsigned)n);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, RECORD), 0);
	}
}

/* Everything that is there is right. Returns how many are. */
static unsigned check(abd_arc_t *arc, char *record, char *read)
{
	unsigned found = 0;

	for (uint64_t n = 0; n < RECORDS; n++) {
		if (abd_arc_read(arc, arc_at(n), read, 0, RECORD) != RECORD)
			continue;
		arc_fill(record, RECORD, n, 0, (unsigned)n);
		cr_assert_eq(memcmp(read, record, RECORD), 0, "record %u", (unsigned)n);
		found++;
	}
	cr_assert_eq(arc_stats(arc).entries, found);
	return found;
}

static int try_put(abd_arc_t *arc, char *buf)
{
	arc_fill(buf, RECORD, RECORDS - 1, 0, RECORDS - 1);
	return abd_arc_put(arc, arc_at(RECORDS - 1), buf, RECORD);
}

static int try_new_put(abd_arc_t *arc, char *buf)
{
	int error;

	memset(buf, 1, RECORD);
	error = abd_arc_put(arc, arc_at(1000), buf, RECORD);
	if (error == 0)
		cr_assert_eq(abd_arc_remove(arc, arc_at(1000)), 0);
	return error;
}

static int try_read(abd_arc_t *arc, char *buf)
{
	ssize_t result = abd_arc_read(arc, arc_at(3), buf, 5000, 100);

	return result > 0 || result == -ENOENT ? 0 : (int)result;
}

static int try_hold(abd_arc_t *arc, char *buf)
{
	abd_arc_hold_t hold[40];
	unsigned held = 0;
	int error = 0;

	while (held < 40 && error == 0) {
		error = abd_arc_hold(arc, arc_at(5), &hold[held]);
		held += error == 0;
	}
	while (held > 0)
		abd_arc_release(&hold[--held]);
	return error == -ENOENT ? 0 : error;
}

static int try_resize(abd_arc_t *arc, char *buf)
{
	return abd_arc_resize(arc, 300000);
}

struct call {
	const char *name;
	int (*try)(abd_arc_t *arc, char *buf);
};

static const struct call calls[] = {{"put", try_put}, {"put of a new key", try_new_put},
	{"read", try_read}, {"hold", try_hold}, {"resize", try_resize}};

/* Reads and holds; a hold of this many takes memory for more slots. */
static const struct call lookups[] = {{"read", try_read}, {"hold", try_hold}};

static abd_arc_t *begin(char *record)
{
	abd_arc_t *arc = arc_make(500000, 0, ABD_ARC_CHECKSUM);

	cr_assert_not_null(arc);
	fill(arc, record);
	return arc;
}

Test(arc_memory, one_refusal_is_survived_by_every_call)
{
	char record[RECORD], read[RECORD];

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
		for (size_t n = 0;; n++) {
			abd_arc_t *arc = begin(record);

			abd_test_fault_at(n);
			int error = calls[c].try(arc, read);
			size_t met = abd_test_fault_end();

			cr_assert(error == 0, "%s, refusal %zu: %d although memory came back",
				calls[c].name, n, error);
			cr_assert_gt(check(arc, record, read), 0,
				"%s: one refusal emptied the cache", calls[c].name);
			abd_arc_destroy(arc);
			if (met <= n)
				break;
		}
	}
	abd_tuning_set("thread_cache_bytes", "8388608");
}

Test(arc_memory, without_any_memory_the_answer_is_enomem_and_the_cache_whole)
{
	char record[RECORD], read[RECORD];

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
		abd_arc_t *arc = begin(record);

		abd_test_fault_from(0);
		int error = calls[c].try(arc, read);

		abd_test_fault_end();
		cr_assert(error == 0 || error == -ENOMEM, "%s: %d", calls[c].name, error);
		if (error == -ENOMEM && calls[c].try != try_read && calls[c].try != try_hold)
			cr_assert_gt(
				arc_stats(arc).shrinks, 0, "%s: gave up nothing", calls[c].name);
		check(arc, record, read);
		fill(arc, record);
		cr_assert_gt(check(arc, record, read), 10, "%s: does not work afterwards",
			calls[c].name);
		abd_arc_destroy(arc);
	}
	abd_tuning_set("thread_cache_bytes", "8388608");
}

/* Refuse the n-th allocation of a look-up, or all from there on. Returns how many it met. */
static size_t refuse_lookup(const struct call *call, size_t n, bool all)
{
	char record[RECORD], read[RECORD];
	abd_arc_t *arc = begin(record);
	struct abd_arc_stats before = arc_stats(arc);

	if (all)
		abd_test_fault_from(n);
	else
		abd_test_fault_at(n);
	int error = call->try(arc, read);
	size_t met = abd_test_fault_end();
	struct abd_arc_stats after = arc_stats(arc);

	cr_assert(error == 0 || error == -ENOMEM, "%s, refusal %zu: %d", call->name, n, error);
	cr_assert_eq(after.evictions, before.evictions, "%s, refusal %zu evicts", call->name, n);
	cr_assert_eq(after.shrinks, before.shrinks, "%s, refusal %zu shrinks", call->name, n);
	cr_assert_eq(check(arc, record, read), before.entries, "%s, refusal %zu", call->name, n);
	abd_arc_destroy(arc);
	return met;
}

Test(arc_memory, a_refused_read_or_hold_evicts_nothing)
{
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t c = 0; c < sizeof(lookups) / sizeof(lookups[0]); c++) {
		size_t n = 0;

		while (refuse_lookup(&lookups[c], n, false) > n)
			refuse_lookup(&lookups[c], n++, true);
		cr_assert_eq(
			n > 0, lookups[c].try == try_read, "only a read of a range needs memory");
	}
	abd_tuning_set("thread_cache_bytes", "8388608");
}

/* A budget of the engine's that is used up: the read takes the library's own memory. */
Test(arc_memory, a_read_does_without_the_allocator_that_refuses)
{
	char record[RECORD], read[RECORD];

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_arc_t *arc = begin(record);

	cr_assert_eq(try_read(arc, read), 0);
	abd_test_fault_at(0);
	cr_assert_eq(try_read(arc, read), 0);
	cr_assert_eq(abd_test_fault_end(), 2, "the scratch, and the scratch again");
	abd_arc_destroy(arc);
	abd_tuning_set("thread_cache_bytes", "8388608");
}

/* ---- where memory is asked for --------------------------------------------------------------- */

static _Thread_local size_t asked, asked_inside;

static bool note_asked(void)
{
	asked++;
	asked_inside += abd_arc_rcu_is_reading();
	return false;
}

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	asked++;
	asked_inside += abd_arc_rcu_is_reading();
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	asked_inside += abd_arc_rcu_is_reading();
	free(buf);
}

/* Put, read in parts, hold, replace and remove records of many sizes. */
static void use_all_calls(abd_arc_t *arc, size_t size, unsigned random)
{
	char *record = malloc(size), *read = malloc(size);
	abd_arc_hold_t hold[40];

	arc_fill(record, size, size, 0, random);
	if (record != NULL && read != NULL && abd_arc_put(arc, arc_at(size), record, size) == 0) {
		for (size_t off = 0; off < size; off += size / 5 + 1)
			abd_arc_read(arc, arc_at(size), read, off, size - off);
		abd_arc_read(arc, arc_at(size), read, size / 2, 1);
		for (size_t i = 0; i < 40; i++)
			if (abd_arc_hold(arc, arc_at(size), &hold[i]) != 0)
				hold[i].entry = NULL;
		for (size_t i = 0; i < 40; i++)
			if (hold[i].entry != NULL)
				abd_arc_release(&hold[i]);
		if (size % 2 != 0)
			abd_arc_remove(arc, arc_at(size));
	}
	free(record);
	free(read);
}

ABD_TEST_CHILD(nothing_is_allocated_inside)
{
	struct abd_allocator engine = {.alloc = engine_alloc, .free = engine_free};

	abd_test_child_expect(abd_allocator_set(&engine) == 0);
	atomic_store(&abd_mem_fault, note_asked);
	abd_test_child_expect(abd_tuning_set("thread_cache_bytes", "0") == 0);
	for (uint32_t flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM) {
		abd_arc_t *arc = arc_make(1 << 20, 0, flags);

		abd_test_child_expect(arc != NULL);
		for (size_t size = 1; size < 600000; size += size / 2 + 1)
			for (unsigned random = 0; random <= 64; random += 32)
				use_all_calls(arc, size, random);
		abd_arc_resize(arc, 200000);
		abd_arc_destroy(arc);
	}
	atomic_store(&abd_mem_fault, NULL);
	abd_arc_rcu_read_lock();
	abd_test_child_expect(abd_arc_rcu_is_reading());
	abd_arc_rcu_read_unlock();
	abd_test_child_expect(!abd_arc_rcu_is_reading());
	abd_test_child_expect(asked > 100);
	abd_test_child_expect(asked_inside == 0);
	return 0;
}

Test(arc_memory, nothing_is_allocated_inside_a_read_side_section)
{
	abd_test_child_passes("nothing_is_allocated_inside", NULL);
}

Test(arc_memory, a_cache_that_can_not_be_made_leaves_nothing)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
	abd_arc_t *arc = NULL;

	for (size_t n = 0; arc == NULL; n++) {
		cr_assert_lt(n, 50);
		abd_test_fault_at(n);
		errno = 0;
		arc = abd_arc_create(&config);
		cr_assert(arc != NULL || errno == ENOMEM);
		abd_test_fault_end();
	}
	abd_arc_destroy(arc);
}
