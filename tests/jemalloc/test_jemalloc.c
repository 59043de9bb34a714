/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A companion that refuses. The test has its own record of the companion's calls (the linker sends
 * the library's weak reference to this file), and refuses the arena, memory and address space by
 * number. A process asks for its arena once, so each refusal has a process of its own.
 * Invariant: when jemalloc refuses, the provider can't be chosen, or the call is out of memory;
 * nothing is lost.
 */
#include "abd_chunk.h"
#include "abd_jemalloc.h"
#include "abd_region.h"
#include "abd_test.h"

#if ABD_TEST_JEMALLOC

#include <sys/mman.h>

#define MIB ((size_t)1 << 20)
#define FIRST_ARENA 70u

extern const struct abd_jemalloc_calls __wrap_abd_jemalloc_calls;

/* jemalloc's table of what an arena does for address space, of which only alloc is called here. */
struct hooks {
	void *(*alloc)(struct hooks *hooks, void *address, size_t size, size_t alignment,
		bool *zero, bool *commit, unsigned arena);
	void *others[15];
};

static struct {
	unsigned asked, refused; /* questions, and the number of the one that is refused */
	unsigned arenas, blocks;
	struct hooks *hooks;  /* what the arena was given */
	bool bent;            /* the arena answers with: */
	void *run, *run_back; /* and what it had back */
	void *extent;         /* what the system answers */
	size_t alignment;     /* what it was asked for */
	unsigned advised;
} companion = {.refused = 1000};

static void *extent_alloc(struct hooks *hooks, void *address, size_t size, size_t alignment,
	bool *zero, bool *commit, unsigned arena)
{
	companion.alignment = alignment;
	return companion.extent;
}

static struct hooks hooks_of_jemalloc = {.alloc = extent_alloc};

int __wrap_madvise(void *address, size_t size, int advice);
int __real_madvise(void *address, size_t size, int advice);

int __wrap_madvise(void *address, size_t size, int advice)
{
	if (address != companion.extent)
		return __real_madvise(address, size, advice);
	companion.advised += advice == MADV_HUGEPAGE;
	return 0;
}

static void *extent(size_t size, size_t alignment)
{
	bool zero = false, commit = false;

	return companion.hooks->alloc(
		companion.hooks, NULL, size, alignment, &zero, &commit, FIRST_ARENA);
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

static int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
{
	if (companion.asked++ == companion.refused)
		return EAGAIN;
	if (strcmp(name, "arenas.create") == 0) {
		*(unsigned *)old = FIRST_ARENA + companion.arenas++;
		if (*old_size != sizeof(unsigned) || new_value != NULL || new_size != 0)
			return EINVAL;
	}
	if (ends_with(name, ".extent_hooks") && old != NULL)
		*(struct hooks **)old = &hooks_of_jemalloc;
	if (ends_with(name, ".extent_hooks") && new_value != NULL)
		companion.hooks = *(struct hooks **)new_value;
	return 0;
}

static bool is_ours(int flags)
{
	return ((unsigned)flags >> 20) - 1 == FIRST_ARENA;
}

static void *mallocx(size_t size, int flags)
{
	size_t alignment = (size_t)1 << (flags & 63);

	if (companion.bent && is_ours(flags))
		return companion.run;
	companion.blocks++;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void sdallocx(void *block, size_t size, int flags)
{
	if (companion.bent && is_ours(flags)) {
		companion.run_back = block;
		return;
	}
	companion.blocks--;
	free(block);
}

const struct abd_jemalloc_calls __wrap_abd_jemalloc_calls = {mallocx, sdallocx, mallctl};

#define expect abd_test_child_expect

static int buffers_work(void)
{
	abd_t *scattered = abd_alloc(5 << 12, false), *linear = abd_alloc_linear(300 << 10, false);

	expect(scattered != NULL && linear != NULL);
	abd_zero(scattered, 5 << 12);
	abd_zero(linear, 300 << 10);
	expect(abd_equal_off(scattered, linear, 0, 0, 5 << 12));
	abd_free(scattered);
	abd_free(linear);
	return 0;
}

enum { QUESTIONS = 5 };

ABD_TEST_CHILD(companion_refuses_a_question)
{
	companion.refused = (unsigned)strtoul(getenv("REFUSED"), NULL, 10);

	bool all = companion.refused >= QUESTIONS;

	expect(abd_chunk_jemalloc.supported() == all);
	expect(companion.asked == (all ? QUESTIONS : companion.refused + 1));
	expect((abd_tuning_set("chunk_provider", "jemalloc") == 0) == all);
	expect(buffers_work() == 0);
	expect(all || companion.blocks == 0);
	abd_cache_reap_now();
	expect(companion.blocks == 0);
	return 0;
}

Test(abd_jemalloc, what_it_refuses_to_set_up_is_no_provider)
{
	for (unsigned refused = 0; refused <= QUESTIONS; refused++) {
		char variable[32];

		snprintf(variable, sizeof(variable), "REFUSED=%u", refused);
		abd_test_child_passes(
			"companion_refuses_a_question", (const char *[]){variable, NULL});
	}
}

ABD_TEST_CHILD(companion_has_no_region)
{
	expect(abd_chunk_jemalloc.supported());

	unsigned blocks = companion.blocks;

	companion.bent = true;
	expect(abd_region_alloc(abd_chunk_jemalloc.heap, 3) == NULL);
	expect(companion.blocks == blocks);

	/* Beyond what the index of regions knows. */
	companion.run = (void *)(UINTPTR_MAX / (4 * MIB) * (4 * MIB));
	expect(abd_region_alloc(abd_chunk_jemalloc.heap, 3) ==
		(sizeof(void *) == 8 ? NULL : companion.run));
	if (sizeof(void *) == 8)
		expect(companion.run_back == companion.run && companion.blocks == blocks);

	companion.bent = false;

	void *run = abd_region_alloc(abd_chunk_jemalloc.heap, 3);

	expect(run != NULL);
	memset(run, 1, 8 << 12);
	abd_region_free(abd_chunk_jemalloc.heap, run, 3);
	abd_region_reap(abd_chunk_jemalloc.heap);
	expect(companion.blocks == blocks);
	return 0;
}

Test(abd_jemalloc, regions_that_it_lacks_or_that_lie_too_high_are_out_of_memory)
{
	abd_test_child_passes("companion_has_no_region", NULL);
}

ABD_TEST_CHILD(companion_asks_for_address_space)
{
	static char memory[4096];

	expect(abd_chunk_jemalloc.supported() && companion.hooks != NULL);
	expect(extent(8 * MIB, 4096) == NULL && companion.alignment == 2 * MIB);
	companion.extent = memory;
	expect(extent(2 * MIB, 4096) == memory && companion.alignment == 2 * MIB);
	expect(extent(8 * MIB, 4 * MIB) == memory && companion.alignment == 4 * MIB);
	expect(companion.advised == 2);
	expect(extent(2 * MIB - 4096, 4096) == memory && companion.alignment == 4096);
	expect(companion.advised == 2);
	return 0;
}

Test(abd_jemalloc, address_space_from_2_mib_up_starts_on_a_huge_page)
{
	abd_test_child_passes("companion_asks_for_address_space", NULL);
}

Test(abd_jemalloc, a_run_of_no_region_is_a_broken_contract)
{
	static char elsewhere[4096];

	cr_assert(abd_chunk_jemalloc.supported());
	abd_test_expect_contract(
		abd_region_free(abd_chunk_jemalloc.heap, elsewhere, 0), "no run of 1 pages");
}

#else

Test(abd_jemalloc, builds_without_it_have_nothing_of_it)
{
	cr_assert_not(abd_chunk_jemalloc.supported());
}

#endif
