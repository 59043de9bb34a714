/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy kernels against a byte-by-byte model, with inaccessible memory at both ends.
 * Invariant: every test runs every kernel that this CPU has.
 */
#include "abd_copy_span.h"

#include "abd_test_room.h"

enum { ROOM = ABD_TEST_ROOM, LINE = 64, MARGIN = 256 };

static void pattern_fill(uint8_t *p, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
}

/* Copy, then look at the span byte by byte, and at what lies around it within the room. */
static void check_copy(const struct abd_copy_kernel *kernel, uint8_t *room, uint8_t *dst,
	const uint8_t *src, size_t size, void *next)
{
	size_t before = abd_min((size_t)(dst - room), MARGIN);
	size_t after = abd_min((size_t)(room + ROOM - dst) - size, MARGIN);
	size_t i = 0;

	memset(dst - before, 0xA5, before + size + after);
	kernel->span(dst, src, size, next, next);
	abd_copy_finish(kernel);
	while (i < size && dst[i] == src[i])
		i++;
	if (i < size || !abd_test_is_all(dst - before, before, (char)0xA5) ||
		!abd_test_is_all(dst + size, after, (char)0xA5))
		cr_assert(false, "%s: size %zu, dst alignment %zu, src alignment %zu: byte %zu",
			kernel->name, size, (size_t)((uintptr_t)dst % LINE),
			(size_t)((uintptr_t)src % LINE), i);
}

/* Both spans touch a guard, or one stands shift bytes off. */
static void check_places(
	const struct abd_copy_kernel *kernel, uint8_t *to, uint8_t *from, size_t size, size_t shift)
{
	uint8_t *end = to + ROOM - size, *from_end = from + ROOM - size;
	void *unreadable = to + ROOM;

	check_copy(kernel, to, end, from_end - shift, size, NULL);
	check_copy(kernel, to, end - shift, from_end, size, unreadable);
	check_copy(kernel, to, to, from + shift, size, unreadable);
	check_copy(kernel, to, to + shift, from, size, NULL);
}

Test(abd_copy_span, copies_the_span_and_touches_nothing_else)
{
	uint8_t *to = abd_test_room_map(), *from = abd_test_room_map();
	bool whole = getenv("ABD_TEST_LONG") != NULL;

	pattern_fill(from, ROOM, 1);
	ABD_TEST_EACH(abd_copy_kernel, kernel, abd_copy_kernels) {
		for (size_t size = 0; size <= 4200; size += whole || size < 600 ? 1 : 113)
			for (size_t shift = 0; shift < LINE; shift += whole ? 1 : 9)
				check_places(kernel, to, from, size, shift);
	}
	abd_test_room_unmap(to);
	abd_test_room_unmap(from);
}

Test(abd_copy_span, long_spans_are_copied_whole)
{
	uint8_t *to = abd_test_room_map(), *from = abd_test_room_map();

	pattern_fill(from, ROOM, 2);
	ABD_TEST_EACH(abd_copy_kernel, kernel, abd_copy_kernels) {
		for (size_t size = 4096; size <= ROOM; size += 511)
			check_places(kernel, to, from, size, 0);
	}
	abd_test_room_unmap(to);
	abd_test_room_unmap(from);
}

Test(abd_copy_span, there_is_a_kernel_for_every_size)
{
	for (size_t size = 1; size != 0; size <<= 1) {
		const struct abd_copy_kernel *kernel = abd_copy_for(size);

		cr_assert(kernel != NULL && kernel->span != NULL && kernel->supported());
		cr_assert(kernel == abd_copy_for(size));
	}
	cr_assert(abd_copy_for(0)->span != NULL);
}

static int finished;

static void finish(void)
{
	finished++;
}

Test(abd_copy_span, a_kernel_is_finished_once_if_there_is_something_to_finish)
{
	static const struct abd_copy_kernel with = {.finish = finish}, without = {.finish = NULL};

	finished = 0;
	abd_copy_finish(&without);
	cr_assert(finished == 0);
	abd_copy_finish(&with);
	cr_assert(finished == 1);
}

static char *rooms[2 * ABD_LANES];

/* Lane i ends i * shift bytes ahead of its room's end, its source shift bytes. */
static void check_lanes(const struct abd_copy_kernel *kernel, size_t size, size_t shift)
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

		abd_test_check(
			copied ? memcmp(lanes.a[i], lanes.b[i], size) == 0 &&
					 abd_test_is_all(lanes.a[i] - MARGIN, MARGIN, 0x5A) &&
					 abd_test_is_all(lanes.a[i] + size, i * shift, 0x5A)
			       : abd_test_is_all(lanes.a[i], size, 0x5A),
			"%s: lane %zu, %zu bytes, shift %zu", kernel->name, i, size, shift);
	}
}

Test(abd_copy_span, every_lane_is_copied_whole_and_nothing_else)
{
	for (size_t i = 0; i < 2 * ABD_LANES; i++) {
		rooms[i] = abd_test_room_map();
		pattern_fill((uint8_t *)rooms[i], ROOM, (unsigned)i << 20);
	}
	for (size_t k = 0; abd_copy_kernels[k] != NULL; k++) {
		const struct abd_copy_kernel *kernel = abd_copy_kernels[k];

		cr_assert((kernel->lanes != NULL) == (kernel->lane_count > 0));
		if (kernel->lanes == NULL || !kernel->supported())
			continue;
		for (size_t size = ABD_LANE_MIN; size <= ABD_LANE_MIN + 600; size += 13)
			for (size_t shift = 0; shift < 64; shift += 21)
				check_lanes(kernel, size, shift);
		for (size_t shift = 0; shift < 64; shift++)
			check_lanes(kernel, 4096, shift);
	}
	for (size_t i = 0; i < 2 * ABD_LANES; i++)
		abd_test_room_unmap(rooms[i]);
}
