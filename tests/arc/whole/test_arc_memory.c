/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out at every allocation, once and for good: the cache evicts what it can before it
 * answers -ENOMEM, and works afterwards.
 */
#include "abd_test_fault.h"
#include "arc_data.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { RECORD = 9000, RECORDS = 60 };

static void fill(abd_arc_t *arc, char *record)
{
	for (uint64_t n = 0; n < RECORDS; n++) {
		abd_arc_key_t key = arc_key(n);

		arc_fill(record, RECORD, n, 0, (unsigned)n);
		cr_assert_eq(abd_arc_put(arc, &key, record, RECORD), 0);
	}
}

/* Everything that is there is right. Returns how many are. */
static unsigned check(abd_arc_t *arc, char *record, char *read)
{
	unsigned found = 0;

	for (uint64_t n = 0; n < RECORDS; n++) {
		abd_arc_key_t key = arc_key(n);

		if (abd_arc_read(arc, &key, read, 0, RECORD) != RECORD)
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
	abd_arc_key_t key = arc_key(RECORDS - 1);

	arc_fill(buf, RECORD, RECORDS - 1, 0, RECORDS - 1);
	return abd_arc_put(arc, &key, buf, RECORD);
}

static int try_new_put(abd_arc_t *arc, char *buf)
{
	abd_arc_key_t key = arc_key(1000);
	int error;

	memset(buf, 1, RECORD);
	error = abd_arc_put(arc, &key, buf, RECORD);
	if (error == 0)
		cr_assert_eq(abd_arc_remove(arc, &key), 0);
	return error;
}

static int try_read(abd_arc_t *arc, char *buf)
{
	abd_arc_key_t key = arc_key(3);
	ssize_t result = abd_arc_read(arc, &key, buf, 5000, 100);

	return result > 0 || result == -ENOENT ? 0 : (int)result;
}

static int try_hold(abd_arc_t *arc, char *buf)
{
	abd_arc_key_t key = arc_key(5);
	abd_arc_hold_t hold[40];
	unsigned held = 0;
	int error = 0;

	(void)buf;
	while (held < 40 && error == 0) {
		error = abd_arc_hold(arc, &key, &hold[held]);
		held += error == 0;
	}
	while (held > 0)
		abd_arc_release(&hold[--held]);
	return error == -ENOENT ? 0 : error;
}

static int try_resize(abd_arc_t *arc, char *buf)
{
	(void)buf;
	return abd_arc_resize(arc, 300000);
}

struct call {
	const char *name;
	int (*try)(abd_arc_t *arc, char *buf);
};

static const struct call calls[] = {{"put", try_put}, {"put of a new key", try_new_put},
	{"read", try_read}, {"hold", try_hold}, {"resize", try_resize}};

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

			cr_assert_eq(error, 0, "%s, refusal %zu: %d although memory came back",
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
		if (error == -ENOMEM)
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
