/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool's region before it is in use: how large it may be, and how much address space it takes.
 * In processes of their own, since a region is reserved once.
 */
#include "abd_chunk.h"
#include "abd_test.h"

#define expect(condition) abd_test_child_expect(condition)

ABD_TEST_CHILD(pool_is_whole_huge_pages)
{
	expect(abd_tuning_set("pool_size", "2097151") == -EINVAL);
	expect(abd_tuning_set("pool_size", "1048576") == -EINVAL);
	expect(abd_tuning_set("pool_size", "2097152") == 0);
	expect(strcmp(abd_tuning_get("pool_size"), "2097152") == 0);
	expect(abd_tuning_set("pool_size", "2097153") == 0);
	expect(strcmp(abd_tuning_get("pool_size"), "4194304") == 0);
	return 0;
}

Test(abd_pool_region, is_of_whole_huge_pages)
{
	abd_test_child_passes("pool_is_whole_huge_pages", NULL);
}

static size_t address_space(void)
{
	size_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%zu", &pages) != 1)
		pages = 0;
	if (file != NULL)
		fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The boundary is found by mapping more: all of that goes back, in front and behind. */
ABD_TEST_CHILD(pool_keeps_what_it_needs)
{
	expect(abd_tuning_set("pool_size", "4194304") == 0);

	size_t before = address_space();

	expect(abd_chunk_pool.supported());
	expect(address_space() - before < 5 << 20);
	return 0;
}

Test(abd_pool_region, takes_no_more_addresses_than_it_is_large)
{
	if (!ABD_TEST_X86 && getenv("ABD_TEST_EMULATOR") != NULL)
		cr_skip_test("the emulator's addresses would be counted");
	abd_test_child_passes("pool_keeps_what_it_needs", NULL);
}

/* Whichever map it is that the system refuses; the last is of the table that finds regions. */
ABD_TEST_CHILD(pool_that_is_refused)
{
	expect(abd_tuning_set("pool_size", "536870912") == 0);

	size_t before = address_space();
	unsigned refused = 1;

	/* An emulator maps for itself meanwhile; half of the pool is more than that. */
	for (;; refused++) {
		abd_test_wrap_fail(ABD_TEST_MMAP, refused);
		if (abd_chunk_pool.supported())
			break;
		expect(address_space() - before < (getenv("ABD_TEST_EMULATED") != NULL
								  ? (size_t)256 << 20
								  : (size_t)1 << 20));
	}
	expect(refused > 2);
	return 0;
}

Test(abd_pool_region, leaves_nothing_mapped_when_it_is_refused)
{
	static const char *const emulated[] = {"ABD_TEST_EMULATED=1", NULL};

	abd_test_child_passes(
		"pool_that_is_refused", getenv("ABD_TEST_EMULATOR") != NULL ? emulated : NULL);
}
