/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zeroing kernels, span by span and several together: every byte of the span, and none around it.
 * Memory behind each span can't be written.
 */
#include "abd_test_room.h"
#include "abd_zero_span.h"

enum { ROOM = ABD_TEST_ROOM, MARGIN = 256 };

static char *rooms[ABD_LANES];

static void rooms_make(void)
{
	for (size_t i = 0; i < ABD_LANES; i++)
		rooms[i] = abd_test_room_map();
}

static void rooms_end(void)
{
	for (size_t i = 0; i < ABD_LANES; i++)
		abd_test_room_unmap(rooms[i]);
}

/* The room's end, before what lies shift bytes ahead of it. */
static bool is_zeroed(size_t room, size_t size, size_t shift)
{
	const char *p = rooms[room] + ROOM - size - shift;

	return abd_test_is_all(p - MARGIN, MARGIN, 0x5A) && abd_test_is_all(p, size, 0) &&
	       abd_test_is_all(p + size, shift, 0x5A);
}

static void check_span(const struct abd_zero_kernel *kernel, size_t size, size_t shift)
{
	memset(rooms[0], 0x5A, ROOM);
	kernel->span(rooms[0] + ROOM - size - shift, size, shift % 2 != 0 ? rooms[1] : NULL);
	abd_zero_finish(kernel);
	abd_test_check(
		is_zeroed(0, size, shift), "%s: %zu bytes, shift %zu", kernel->name, size, shift);
}

/* Lane i ends (i + 1) * shift bytes ahead of its room's end. */
static void check_lanes(const struct abd_zero_kernel *kernel, size_t size, size_t shift)
{
	struct abd_lanes lanes = {{0}, {0}};

	for (size_t i = 0; i < ABD_LANES; i++) {
		lanes.a[i] = rooms[i] + ROOM - size - (i + 1) * shift;
		memset(rooms[i], 0x5A, ROOM);
	}
	kernel->lanes(&lanes, size, &lanes);
	abd_zero_finish(kernel);
	for (size_t i = 0; i < ABD_LANES; i++)
		abd_test_check(i < kernel->lane_count ? is_zeroed(i, size, (i + 1) * shift)
						      : abd_test_is_all(rooms[i], ROOM, 0x5A),
			"%s: lane %zu, %zu bytes, shift %zu", kernel->name, i, size, shift);
}

Test(abd_zero_span, every_byte_of_a_span_is_zeroed_and_nothing_else)
{
	rooms_make();
	ABD_TEST_EACH(abd_zero_kernel, kernel, abd_zero_kernels) {
		for (size_t size = 1; size <= 1100; size += size < 300 ? 1 : 13)
			for (size_t shift = 0; shift < 64; shift += 21)
				check_span(kernel, size, shift);
		for (size_t shift = 0; shift < 64; shift++)
			check_span(kernel, 4096, shift);
	}
	rooms_end();
}

Test(abd_zero_span, every_lane_is_zeroed_whole_and_nothing_else)
{
	rooms_make();
	for (size_t k = 0; abd_zero_kernels[k] != NULL; k++) {
		const struct abd_zero_kernel *kernel = abd_zero_kernels[k];

		cr_assert((kernel->lanes != NULL) == (kernel->lane_count > 0));
		if (kernel->lanes == NULL || !kernel->supported())
			continue;
		for (size_t size = ABD_LANE_MIN; size <= ABD_LANE_MIN + 600; size += 13)
			for (size_t shift = 0; shift < 64; shift += 21)
				check_lanes(kernel, size, shift);
		for (size_t shift = 0; shift < 64; shift++)
			check_lanes(kernel, 4096, shift);
	}
	rooms_end();
}
