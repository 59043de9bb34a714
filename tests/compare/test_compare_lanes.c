/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels that compare several spans of each side together, at the level of lanes: every length
 * around their blocks, every lane, unreadable memory behind each.
 */
#include "abd_compare_kernel.h"
#include "abd_test_room.h"

enum { ROOM = ABD_TEST_ROOM };

struct room {
	char *start[2 * ABD_LANES];
};

static struct room room_make(void)
{
	struct room room;

	for (size_t i = 0; i < 2 * ABD_LANES; i++) {
		room.start[i] = abd_test_room_map();
		for (size_t k = 0; k < ROOM; k++)
			room.start[i][k] = (char)((i % ABD_LANES + 1) * (k * 7 + k / 256));
	}
	return room;
}

static void room_end(const struct room *room)
{
	for (size_t i = 0; i < 2 * ABD_LANES; i++)
		abd_test_room_unmap(room->start[i]);
}

/* All lanes end where memory does, the sides shift bytes apart in their alignment. */
static struct abd_lanes lanes_at(const struct room *room, size_t size, size_t shift)
{
	struct abd_lanes lanes;

	for (size_t i = 0; i < ABD_LANES; i++) {
		lanes.a[i] = room->start[i] + ROOM - size;
		lanes.b[i] = room->start[i + ABD_LANES] + ROOM - size;
		if (shift > 0)
			memmove(room->start[i + ABD_LANES] + ROOM - size - shift, lanes.a[i], size);
		lanes.b[i] -= shift;
	}
	return lanes;
}

static void check_difference(const struct abd_compare_kernel *kernel, struct abd_lanes *lanes,
	size_t size, unsigned lane, size_t at)
{
	char *byte = lanes->a[lane] + at;
	size_t same;

	*byte ^= 1;
	same = kernel->lanes(lanes, size, lanes);
	abd_test_check(lane >= kernel->lane_count ? same == size : same <= at,
		"%s: %zu bytes, lane %u differs at %zu: %zu", kernel->name, size, lane, at, same);
	*byte ^= 1;
}

static void check_size(
	const struct abd_compare_kernel *kernel, const struct room *room, size_t size, size_t shift)
{
	struct abd_lanes lanes = lanes_at(room, size, shift), far = lanes;

	for (size_t i = 0; i < ABD_LANES; i++)
		far.a[i] = room->start[i] + ROOM; /* can't be read, only fetched */
	abd_test_check(kernel->lanes(&lanes, size, &far) == size, "%s: %zu bytes, shift %zu",
		kernel->name, size, shift);
	for (unsigned lane = 0; lane < ABD_LANES; lane++)
		for (size_t at = 0; at < size; at += at < 600 || at > size - 600 ? 37 : 509) {
			check_difference(kernel, &lanes, size, lane, at);
			check_difference(kernel, &lanes, size, lane, size - 1 - at);
		}
}

/* A byte of a lane becomes another: it is found if the kernel walks that lane, and only then. */
static void check_zero(const struct abd_compare_kernel *kernel, struct room *room, size_t size)
{
	struct abd_lanes lanes = lanes_at(room, size, 0), far = lanes;

	for (size_t i = 0; i < ABD_LANES; i++) {
		memset(lanes.a[i], 0, size);
		lanes.a[i][-1] = 1;
		far.a[i] = room->start[i] + ROOM; /* can't be read, only fetched */
	}
	abd_test_check(
		kernel->zero_lanes(&lanes, size, &far), "%s: %zu zeroes", kernel->name, size);
	for (unsigned lane = 0; lane < ABD_LANES; lane++)
		for (size_t at = 0; at < size; at += at < 600 || at > size - 600 ? 37 : 509) {
			lanes.a[lane][size - 1 - at] = 1;
			abd_test_check(kernel->zero_lanes(&lanes, size, &far) ==
					       (lane >= kernel->lane_count),
				"%s: %zu bytes, lane %u, %zu from the end", kernel->name, size,
				lane, at);
			lanes.a[lane][size - 1 - at] = 0;
		}
}

Test(abd_compare_lanes, every_lane_is_zero_to_its_end_and_no_further)
{
	struct room room = room_make();

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const struct abd_compare_kernel *kernel = abd_compare_kernels[i];

		cr_assert((kernel->zero_lanes != NULL) == (kernel->lane_count > 0));
		if (kernel->zero_lanes == NULL || !kernel->supported())
			continue;
		for (size_t size = ABD_LANE_MIN; size <= ABD_LANE_MIN + 520; size += 65)
			check_zero(kernel, &room, size);
		check_zero(kernel, &room, 4096);
		check_zero(kernel, &room, 4096 + 255);
	}
	room_end(&room);
}

Test(abd_compare_lanes, every_lane_is_compared_to_its_end_and_no_further)
{
	struct room room = room_make();
	unsigned kernels = 0;

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const struct abd_compare_kernel *kernel = abd_compare_kernels[i];

		cr_assert((kernel->lanes != NULL) == (kernel->lane_count > 0));
		if (kernel->lanes == NULL || !kernel->supported())
			continue;
		cr_assert(kernel->lane_count <= ABD_LANES);
		for (size_t size = ABD_LANE_MIN; size <= ABD_LANE_MIN + 520; size += 65)
			check_size(kernel, &room, size, 0);
		check_size(kernel, &room, 4096, 0);
		check_size(kernel, &room, 4096 + 255, 3);
		room_end(&room);
		room = room_make();
		kernels++;
	}
	room_end(&room);
	cr_assert(kernels > 0 || abd_choice_find(&abd_compare_choice, "avx2") == NULL);
}
