/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bugs that other projects had in hash tables under RCU, by their numbers in
 * tests/plants/README.md.
 */
#include "abd_arc_hold.h"

#include "abd_test.h"
#include <dirent.h>

enum { ENTRIES = 5000 };

static size_t threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t count = 0;

	cr_assert_not_null(tasks);
	while (readdir(tasks) != NULL)
		count++;
	closedir(tasks);
	return count;
}

/*
 * liburcu b047e7a: a table that resizes itself does so on a thread of its own, which the host knows
 * nothing of, and can't be destroyed inside a section. Ours grows in its callers: no thread comes,
 * and a section is no obstacle.
 */
Test(abd_arc_regressions, bug_29_liburcu_b047e7a_an_index_ends_inside_a_section)
{
	struct abd_arc_entry *entries = calloc(ENTRIES, sizeof(*entries)), *old;
	size_t before = threads();
	struct abd_arc_index *index = abd_arc_index_new(0, 1);

	cr_assert(entries != NULL && index != NULL);
	for (size_t i = 0; i < ENTRIES; i++) {
		entries[i].key.pool = i;
		abd_arc_index_grow(index, i + 1);
		cr_assert(abd_arc_index_put(
			index, abd_arc_hash_key(1, &entries[i].key), &entries[i], &old));
	}
	cr_assert_eq(threads(), before);
	abd_arc_rcu_read_lock();
	abd_arc_index_free(index);
	abd_arc_rcu_read_unlock();
	abd_arc_rcu_synchronize();
	free(entries);
}
