/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels that copy several spans together, against a byte-by-byte look at each lane and what lies
 * around it. Memory behind each lane can't be read or written.
 */
#include "abd_copy_span.h"
#include "abd_test.h"

enum { ROOM = 8192, MARGIN = 256 };

static char *rooms[2 * ABD_LANES];

static void rooms_make(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < 2 * ABD_LANES; i++) {
		rooms[i] = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		cr_assert(rooms[i] != MAP_FAILED);
		cr_assert_eq(mprotect(rooms[i] + ROOM, page, PROT_NONE), 0);
		for (size_t k = 0; k < ROOM; k++)
			rooms[i][k] = (char)((i + 1) * (k * 7 + k / 256));
	}
}

static void rooms_end(void)
{
	for (size_t i = 0; i < 2 * ABD_LANES; i++)
		munmap(rooms[i], ROOM + (size_t)sysconf(_SC_PAGESIZE));
}

static bool is_filled(const char *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != 0x5A)
			return false;
	return true;
}

/* Lane i ends i * shift bytes ahead of its room's end, its source shift bytes. */
static void check_copy(const struct abd_copy_kernel *kernel, size_t size, size_t shift)
{
	struct abd_lanes lanes;

	for (size_t i = 0; i < ABD_LANES; i++) {
		lanes.a[i] = rooms[i] + ROOM - size - i * shift;
		lanes.b[i] = rooms[i + ABD_LANES] + ROOM - size - (3 - i) * shift;
		memset(rooms[i], 0x5A, ROOM);
	}
	kernel->lanes(&lanes, size, &lanes);
	abd_copy_finish(kernel);
	for (size_t i = 0; i < ABD_LANES; i++) {
		bool copied = i < kernel->lane_count;

		abd_test_check(copied ? memcmp(lanes.a[i], lanes.b[i], size) == 0 &&
						is_filled(lanes.a[i] - MARGIN, MARGIN) &&
						is_filled(lanes.a[i] + size, i * shift)
				      : is_filled(lanes.a[i], size),
			"%s: lane %zu, %zu bytes, shift %zu", kernel->name, i, size, shift);
	}
}

Test(abd_copy_span_lanes, every_lane_is_copied_whole_and_nothing_else)
{
	rooms_make();
	for (size_t k = 0; abd_copy_kernels[k] != NULL; k++) {
		const struct abd_copy_kernel *kernel = abd_copy_kernels[k];

		cr_assert((kernel->lanes != NULL) == (kernel->lane_count > 0));
		if (kernel->lanes == NULL || !kernel->supported())
			continue;
		for (size_t size = ABD_LANE_MIN; size <= ABD_LANE_MIN + 600; size += 13)
			for (size_t shift = 0; shift < 64; shift += 21)
				check_copy(kernel, size, shift);
		for (size_t shift = 0; shift < 64; shift++)
			check_copy(kernel, 4096, shift);
	}
	rooms_end();
}
