/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations by lanes, on buffers: whatever the pieces are, the first difference is found and each
 * byte is copied. The model is flat memory. Every kernel that has lanes does all of it.
 */
#include "abd_compare_kernel.h"
#include "abd_copy_span.h"
#include "abd_test.h"
#include "abd_walk.h"
#include "abd_zero_span.h"

enum { SIZE = 80 << 10, SLACK = 8192 };

static char flat[SIZE + SLACK];

static abd_t *filled(abd_t *abd)
{
	cr_assert_not_null(abd);
	abd_copy_from_buf(abd, flat, abd_get_size(abd));
	return abd;
}

static abd_t *members(size_t size)
{
	abd_t *gang = abd_alloc_gang();

	for (size_t done = 0; done < SIZE + SLACK; done += size)
		cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(size, false), true), 0);
	return gang;
}

/* Runs of 4 KiB, linear memory, and gangs of short and of mixed members. */
static abd_t *make(unsigned kind)
{
	switch (kind) {
	case 0:
		return abd_alloc(SIZE + SLACK, false);
	case 1:
		return abd_alloc_linear(SIZE + SLACK, false);
	case 2:
		return members(512);
	default:
		return members(11264);
	}
}

enum { KINDS = 4 };

static void begin(void)
{
	uint64_t random = 4;

	for (size_t i = 0; i < sizeof(flat); i++)
		flat[i] = (char)abd_test_random(&random);
	abd_tuning_set("max_order", "0");
}

static void end(void)
{
	abd_test_tunables_restore();
}

/* Two bytes become others; the first of them counts. */
static void check_differences(abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size,
	size_t first, size_t second)
{
	char was[2] = {flat[a_off + first], flat[a_off + second]};
	char other[2] = {(char)(was[0] + 1), (char)(was[1] - 1)};
	int order = (unsigned char)other[0] < (unsigned char)was[0] ? -1 : 1;

	abd_copy_from_buf_off(a, &other[1], a_off + second, 1);
	abd_copy_from_buf_off(a, &other[0], a_off + first, 1);
	abd_test_check(abd_diff_off(a, b, a_off, b_off, size) == first, "%zu and %zu: %zu", first,
		second, abd_diff_off(a, b, a_off, b_off, size));
	abd_test_check(!abd_equal_off(a, b, a_off, b_off, size), "%zu", first);
	abd_test_check(!abd_equal_buf_off(a, flat + a_off, a_off, size), "%zu", first);
	abd_test_check(
		abd_cmp_buf_off(a, flat + a_off, a_off, size) * order > 0, "%zu: order", first);
	abd_copy_from_buf_off(a, &was[1], a_off + second, 1);
	abd_copy_from_buf_off(a, &was[0], a_off + first, 1);
}

static void check_pair(abd_t *a, const abd_t *b, size_t shift, size_t size, uint64_t *random)
{
	/* b holds at off what a holds at off + shift */
	abd_test_check(abd_equal_off(a, b, shift, 0, size), "shift %zu", shift);
	abd_test_check(abd_diff_off(a, b, shift, 0, size) == size, "shift %zu", shift);
	abd_test_check(abd_equal_buf_off(a, flat + shift, shift, size), "shift %zu", shift);
	abd_test_check(abd_cmp_buf_off(a, flat + shift, shift, size) == 0, "shift %zu", shift);
	for (unsigned i = 0; i < 12; i++) {
		size_t one = abd_test_random_below(random, size);
		size_t two = abd_test_random_below(random, size);

		check_differences(
			a, b, shift, 0, size, one < two ? one : two, one < two ? two : one);
	}
	check_differences(a, b, shift, 0, size, size - 1, size - 1);
	check_differences(a, b, shift, 0, size, 4096, 8192);
	check_differences(a, b, shift, 0, size, 4096 + 4095, 8192);
}

static const size_t shifts[] = {0, 1, 64, 512, 1024, 2048, 3072};

static void compare_by(const char *kernel)
{
	uint64_t random = 5;

	cr_assert_eq(abd_tuning_set("compare", kernel), 0);
	for (unsigned kind = 0; kind < KINDS * KINDS; kind++) {
		abd_t *a = filled(make(kind / KINDS)), *b = make(kind % KINDS);

		for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
			abd_copy_from_buf(b, flat + shifts[i], SIZE);
			check_pair(a, b, shifts[i], SIZE, &random);
			check_pair(a, b, shifts[i], SIZE - 4096 - 77, &random);
		}
		abd_free(a);
		abd_free(b);
	}
}

TestSuite(abd_walk_lanes, .init = begin, .fini = end);

Test(abd_walk_lanes, the_first_difference_counts_though_a_later_lane_has_one)
{
	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++)
		if (abd_compare_kernels[i]->lanes != NULL && abd_compare_kernels[i]->supported())
			compare_by(abd_compare_kernels[i]->name);
}

Test(abd_walk_lanes, whole_buffers_are_ordered_by_lanes)
{
	abd_t *a = filled(abd_alloc(SIZE, false)), *b = filled(abd_alloc(SIZE, false));
	char byte = (char)(flat[5000] ^ 0x80);

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		if (abd_tuning_set("compare", abd_compare_kernels[i]->name) != 0)
			continue;
		cr_assert_eq(abd_cmp(a, b), 0);
		abd_copy_from_buf_off(b, &byte, 5000, 1);
		cr_assert((abd_cmp(a, b) > 0) == ((byte & 0x80) == 0));
		cr_assert((abd_cmp(b, a) < 0) == ((byte & 0x80) == 0));
		abd_copy_from_buf_off(b, &flat[5000], 5000, 1);
	}
	abd_free(a);
	abd_free(b);
}

static void check_copy(abd_t *to, const abd_t *from, size_t shift, size_t size)
{
	static char back[SIZE + SLACK];

	abd_zero(to, SIZE + SLACK);
	abd_copy_off(to, from, shift, 0, size);
	abd_test_check(abd_cmp_buf_off(to, flat, shift, size) == 0, "shift %zu", shift);
	abd_test_check(abd_cmp_zero_off(to, 0, shift) == 0 &&
			       abd_cmp_zero_off(to, shift + size, SLACK - shift) == 0,
		"shift %zu: around", shift);
	memset(back, 0, sizeof(back));
	abd_copy_to_buf_off(back + 1, to, shift, size);
	abd_test_check(memcmp(back + 1, flat, size) == 0 && back[0] == 0 && back[size + 1] == 0,
		"shift %zu: to memory", shift);
	abd_zero(to, SIZE + SLACK);
	abd_copy_from_buf_off(to, flat + shift, shift, size);
	abd_test_check(abd_cmp_buf_off(to, flat + shift, shift, size) == 0 &&
			       abd_cmp_zero_off(to, shift + size, SLACK - shift) == 0,
		"shift %zu: from memory", shift);
}

static void copy_by(const char *kernel)
{
	cr_assert_eq(abd_tuning_set("copy", kernel), 0);
	for (unsigned kind = 0; kind < KINDS * KINDS; kind++) {
		abd_t *to = make(kind / KINDS), *from = filled(make(kind % KINDS));

		for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
			check_copy(to, from, shifts[i], SIZE);
		abd_free(to);
		abd_free(from);
	}
}

Test(abd_walk_lanes, each_byte_is_copied_whatever_the_pieces)
{
	for (size_t i = 0; abd_copy_kernels[i] != NULL; i++)
		if (abd_copy_kernels[i]->lanes != NULL && abd_copy_kernels[i]->supported())
			copy_by(abd_copy_kernels[i]->name);
}

/* Bytes [shift, shift + size) of a filled buffer are zeroed; any byte that is not is found. */
static void check_zero(abd_t *abd, size_t shift, size_t size, uint64_t *random)
{
	static const char ones[2] = {1, 1};

	abd_copy_from_buf(abd, flat, SIZE + SLACK);
	abd_copy_from_buf_off(abd, ones, shift + size, 1);
	if (shift > 0)
		abd_copy_from_buf_off(abd, ones, shift - 1, 1);
	abd_zero_off(abd, shift, size);
	abd_test_check(abd_cmp_buf_off(abd, flat + shift + size + 1, shift + size + 1,
			       SIZE + SLACK - shift - size - 1) == 0,
		"shift %zu: behind", shift);
	abd_test_check(abd_cmp_zero_off(abd, shift, size) == 0, "shift %zu", shift);
	abd_test_check(abd_cmp_zero_off(abd, shift, size + 1) == 1, "shift %zu", shift);
	abd_test_check(shift == 0 || abd_cmp_zero_off(abd, shift - 1, size) == 1, "%zu", shift);
	for (unsigned i = 0; i < 12; i++) {
		size_t at = shift + abd_test_random_below(random, size);

		abd_copy_from_buf_off(abd, ones, at, 1);
		abd_test_check(abd_cmp_zero_off(abd, shift, size) == 1, "%zu", at);
		abd_zero_off(abd, at, 1);
	}
	abd_test_check(abd_cmp_zero_off(abd, shift, size) == 0, "shift %zu: again", shift);
}

static void zero_by(const char *tunable, const char *kernel)
{
	uint64_t random = 6;

	cr_assert_eq(abd_tuning_set(tunable, kernel), 0);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		abd_t *abd = make(kind);

		for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
			check_zero(abd, shifts[i], SIZE, &random);
			check_zero(abd, shifts[i], SIZE - 4096 - 77, &random);
		}
		abd_free(abd);
	}
	cr_assert_eq(abd_tuning_set(tunable, "auto"), 0);
}

Test(abd_walk_lanes, each_byte_is_zeroed_and_found_zero_whatever_the_pieces)
{
	for (size_t i = 0; abd_zero_kernels[i] != NULL; i++)
		if (abd_zero_kernels[i]->supported())
			zero_by("zero", abd_zero_kernels[i]->name);
	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++)
		if (abd_compare_kernels[i]->lanes != NULL && abd_compare_kernels[i]->supported())
			zero_by("compare", abd_compare_kernels[i]->name);
}

/* The zeros' one run repeats: lanes over it lie at the same address. */
Test(abd_walk_lanes, zeros_and_linear_memory_are_even_too)
{
	abd_t *zeros = abd_get_zeros(1 << 20), *abd = abd_alloc(1 << 20, false);
	char byte = 1;

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		if (abd_tuning_set("compare", abd_compare_kernels[i]->name) != 0)
			continue;
		abd_zero(abd, 1 << 20);
		cr_assert(
			abd_equal(zeros, abd) && abd_equal(abd, zeros) && abd_equal(zeros, zeros));
		cr_assert_eq(abd_cmp_zero(zeros, 1 << 20), 0);
		abd_copy_from_buf_off(abd, &byte, 777777, 1);
		cr_assert_eq(abd_diff_off(zeros, abd, 0, 0, 1 << 20), 777777);
		cr_assert_eq(abd_cmp_zero(abd, 1 << 20), 1);
	}
	abd_free(zeros);
	abd_free(abd);
}

Test(abd_walk_lanes, copies_that_overlap_by_lanes_break_the_contract)
{
	abd_t *abd = abd_alloc(SIZE, false);

	for (size_t i = 0; abd_copy_kernels[i] != NULL; i++) {
		if (abd_tuning_set("copy", abd_copy_kernels[i]->name) != 0)
			continue;
		abd_test_expect_contract(abd_copy_off(abd, abd, 0, 4096, 3 * 4096), "overlap");
	}
	abd_free(abd);
}

Test(abd_walk_lanes, pieces_come_in_order_and_short_ones_take_no_lane)
{
	abd_t *a = abd_alloc(SIZE, false), *b = abd_alloc(SIZE, false);
	struct abd_walk_batch batch;
	struct abd_iter ia, ib;
	size_t total = 0;

	abd_walk_begin(&ia, abd_side(a, 64), SIZE - 64, NULL);
	abd_walk_begin(&ib, abd_side(b, 0), SIZE - 64, NULL);
	for (abd_walk_take(&batch, &ia, &ib, 4); batch.count > 0;
		abd_walk_take(&batch, &ia, &ib, 4)) {
		cr_assert(batch.lane_count <= 4 && batch.count <= ABD_WALK_PIECES);
		abd_walk_list(&batch);
		for (size_t i = 0; i < batch.count; i++) {
			cr_assert_eq(batch.piece[i].lane, batch.piece[i].size >= ABD_LANE_MIN);
			total += batch.piece[i].size;
		}
		cr_assert(batch.lane_count == 0 || batch.common >= ABD_LANE_MIN);
	}
	cr_assert_eq(total, SIZE - 64);
	abd_free(a);
	abd_free(b);
}

static size_t stop_lanes(
	void *op, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	return ABD_WALK_STOP;
}

static bool count_segment(void *op, const struct abd_segment *segment)
{
	size_t *stop_at = op;

	return --*stop_at > 0;
}

Test(abd_walk_lanes, a_body_ends_the_walk_and_nothing_follows)
{
	static const struct abd_body body = {.segment = count_segment, .lanes = stop_lanes};
	abd_t *a = make(3), *b = make(3), *c = make(1);
	struct abd_side x = abd_side(a, 0),
			others[] = {abd_side(b, 0), abd_side(b, 1024), abd_side(c, 0)};

	for (size_t i = 0; i < 3; i++) {
		size_t left = 3;

		cr_assert_not(abd_walk(NULL, &x, &others[i], SIZE, 0, body, &left));
		cr_assert_eq(left, 0);
		left = 3;
		cr_assert_not(abd_walk(NULL, &x, &others[i], SIZE, 4, body, &left));
		cr_assert_eq(left, 3, "lanes have ended it");
	}
	abd_free(c);
	abd_free(b);
	abd_free(a);
}

static bool has_neighbour(const abd_t *abd)
{
	const struct iovec *run = ABD_SCATTER(abd).abd_runs;

	return (char *)run[0].iov_base + 4096 == run[1].iov_base;
}

/* Most runs of fresh buffers are neighbours, which cursors make one span of. */
Test(abd_walk_lanes, runs_go_in_step_unless_both_sides_have_neighbours)
{
	abd_t *abd[8];

	for (size_t i = 0; i < 8; i++)
		abd[i] = make(0);
	for (size_t i = 0; i < 8; i += 2) { /* holes, which later buffers fill */
		abd_free(abd[i]);
		abd[i] = make(0);
	}
	for (size_t i = 0; i < 64; i++) {
		const abd_t *a = abd[i / 8], *b = abd[i % 8];
		struct abd_side x = abd_side(a, 5), y = abd_side(b, 5), other = abd_side(b, 6);
		struct abd_step step;

		abd_test_check(
			abd_step_begin(&step, &x, &y) == !(has_neighbour(a) && has_neighbour(b)),
			"%zu", i);
		abd_test_check(!abd_step_begin(&step, &x, &other), "%zu", i);
	}
	for (size_t i = 0; i < 8; i++)
		abd_free(abd[i]);
}
