/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk, by bodies that record what they are given: each byte of both sides comes once, in
 * order, with its place and with true hints, whatever the sides and whatever lanes() leaves. The
 * model is a position for each byte.
 */
#include "abd_test.h"
#include "abd_walk.h"

enum { SIZE = 11 * 4096 + 100, SIDES = 9 };

static uint32_t flat[SIZE / sizeof(uint32_t)];

/*
 * Runs of 4 KiB, of 8, of 32, 8 and 4 KiB; linear, a gang, zeros; views of the first two; runs of
 * 4 KiB that lie as they come, in most cases side by side.
 */
static abd_t *side[SIDES];

static abd_t *of_order(const char *order)
{
	cr_assert_eq(abd_tuning_set("max_order", order), 0);
	return abd_alloc(SIZE, false);
}

/* Order the full runs by address, the highest first: none is the neighbour of the one before. */
static abd_t *scattered(abd_t *abd)
{
	struct iovec *runs = ABD_SCATTER(abd).abd_runs;

	for (size_t i = 0; i + 2 < ABD_SCATTER(abd).abd_run_count; i++)
		for (size_t j = i + 1; j + 1 < ABD_SCATTER(abd).abd_run_count; j++)
			if ((uintptr_t)runs[j].iov_base > (uintptr_t)runs[i].iov_base) {
				struct iovec run = runs[i];

				runs[i] = runs[j];
				runs[j] = run;
			}
	return abd;
}

static void begin(void)
{
	for (uint32_t i = 0; i < SIZE / sizeof(uint32_t); i++)
		flat[i] = i;
	side[0] = scattered(of_order("0"));
	side[1] = scattered(of_order("1"));
	side[2] = of_order("3");
	side[3] = abd_alloc_linear(SIZE, false);
	for (unsigned i = 0; i < 4; i++)
		abd_copy_from_buf(side[i], flat, SIZE);
	side[4] = abd_alloc_gang();
	cr_assert_eq(abd_gang_add(side[4], of_order("0"), true), 0);
	abd_copy_from_buf(side[4], flat, SIZE);
	side[5] = abd_get_zeros(SIZE);
	side[6] = abd_get_offset_size(side[0], 4096 + 64, SIZE - 4096 - 64);
	side[7] = abd_get_offset_size(side[1], 8192 + 4096 + 64, SIZE - 8192 - 4096 - 64);
	side[8] = of_order("0");
	abd_copy_from_buf(side[8], flat, SIZE);
	for (unsigned i = 0; i < SIDES; i++)
		cr_assert_not_null(side[i]);
}

static void end(void)
{
	for (unsigned i = SIDES; i-- > 0;)
		abd_free(side[i]);
	abd_test_tunables_restore();
}

TestSuite(abd_walk, .init = begin, .fini = end);

/* The order of all its runs; -1: they have several, or it is no scatter buffer with memory. */
static int order_of(unsigned i)
{
	static const int orders[SIDES] = {0, 1, -1, -1, -1, -1, 0, 1, 0};

	return orders[i];
}

/* Where in side[i] lies the byte that it was filled with from this position of flat? */
static size_t place_of(unsigned i)
{
	return i == 6 ? 4096 + 64 : i == 7 ? 8192 + 4096 + 64 : 0;
}

/* Whether the run of the byte at off is followed by its neighbour in memory. */
static bool has_neighbour(unsigned i, size_t off, size_t run_size)
{
	const struct iovec *run = ABD_SCATTER(side[i]).abd_runs + (place_of(i) + off) / run_size;

	return (char *)run[0].iov_base + run_size == run[1].iov_base;
}

static bool should_be_in_step(unsigned a, unsigned b, size_t a_off, size_t b_off)
{
	size_t run = order_of(a) < 0 ? 1 : (size_t)4096 << order_of(a);
	size_t within = (place_of(a) + a_off) % run;

	if (order_of(a) < 0 || order_of(a) != order_of(b) || within != (place_of(b) + b_off) % run)
		return false;
	return !has_neighbour(a, a_off, run) || !has_neighbour(b, b_off, run);
}

Test(abd_walk, buffers_of_like_runs_are_in_step_and_no_others)
{
	static const size_t offs[] = {0, 1, 64, 4032, 4095, 4096, 4160, 8192, 12224};

	for (unsigned i = 0; i < SIDES * SIDES * 9 * 9; i++) {
		unsigned a = i / 81 / SIDES, b = i / 81 % SIDES;
		struct abd_side x = abd_side(side[a], offs[i % 9]);
		struct abd_side y = abd_side(side[b], offs[i / 9 % 9]);
		struct abd_step step;

		abd_test_check(
			abd_step_begin(&step, &x, &y) == should_be_in_step(a, b, x.off, y.off),
			"%u at %zu and %u at %zu", a, x.off, b, y.off);
	}
	for (unsigned i = 0; i < SIDES; i++) {
		struct abd_side x = abd_side(side[i], 0), y = abd_side_from(flat);
		struct abd_step step;

		abd_test_check(!abd_step_begin(&step, &x, &y) && !abd_step_begin(&step, &y, &x),
			"%u and memory", i);
	}
}

/* ---- a body that records ---- */

struct record {
	size_t size, a_at, b_at; /* of the walk; where its bytes stand in flat */
	bool two, zeros_a, zeros_b;
	size_t done;       /* bytes that came in order */
	size_t stop_after; /* segments */
	size_t segments;
	size_t leave; /* bytes that lanes() leaves in each lane */
	/* Where the next segment is said to be. Between lanes, that may be one that they have done.
	 */
	const char *hint_a, *hint_b;
	bool by_lanes, wrong;
	uint8_t seen[SIZE];
};

static bool holds(const char *at, size_t position, size_t len, bool zeros)
{
	for (size_t i = 0; zeros && i < len; i++)
		if (at[i] != 0)
			return false;
	return zeros || memcmp(at, (const char *)flat + position, len) == 0;
}

static void see(struct record *r, const char *a, const char *b, size_t at, size_t size)
{
	r->wrong |= size == 0 || at + size > r->size || !holds(a, r->a_at + at, size, r->zeros_a) ||
		    (b != NULL) != r->two ||
		    (b != NULL && !holds(b, r->b_at + at, size, r->zeros_b));
	for (size_t i = at; i < at + size && i < SIZE; i++)
		r->seen[i]++;
}

static bool segment(void *op, const struct abd_segment *s)
{
	struct record *r = op;

	see(r, s->a, s->b, s->at, s->size);
	r->wrong |= s->at < r->done || (r->hint_a != NULL && r->hint_a != s->a) ||
		    (r->hint_b != NULL && r->hint_b != s->b);
	r->done = s->at + s->size;
	r->hint_a = r->by_lanes ? NULL : s->next_a;
	r->hint_b = r->by_lanes ? NULL : s->next_b;
	return ++r->segments != r->stop_after;
}

/* Where a lane is, the words of its side a say. */
static size_t lanes(
	void *op, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	struct record *r = op;

	r->by_lanes = true;
	r->hint_a = r->hint_b = NULL;
	r->wrong |= size < ABD_LANE_MIN || next == NULL || next->a[0] == NULL;
	if (r->leave == SIZE_MAX)
		return ABD_WALK_STOP;
	for (unsigned i = 0; i < ABD_LANES && r->leave < size; i++) {
		const uint32_t *words = (const void *)((uintptr_t)(now->a[i] + 3) & ~(uintptr_t)3);
		size_t skip = (size_t)((const char *)words - now->a[i]);

		see(r, now->a[i], now->b[i], words[0] * sizeof(flat[0]) - skip - r->a_at,
			size - r->leave);
	}
	return size - r->leave;
}

static const struct abd_body recording = {.segment = segment, .lanes = lanes};

static void begin_record(struct record *r, unsigned a, unsigned b, size_t a_off, size_t b_off)
{
	*r = (struct record){
		.a_at = place_of(a) + a_off,
		.b_at = b < SIDES ? place_of(b) + b_off : b_off,
		.two = true,
		.zeros_a = a == 5,
		.zeros_b = b == 5,
		.size = SIZE - 4 * 4096 - 200 - (a_off > b_off ? a_off : b_off) % 4096,
	};
}

static void check_seen(const struct record *r, unsigned a, unsigned b)
{
	bool once = true;

	for (size_t i = 0; i < r->size; i++)
		once &= r->seen[i] == 1;
	abd_test_check(!r->wrong && once, "%u at %zu and %u at %zu: %zu bytes of %zu", a, r->a_at,
		b, r->b_at, r->done, r->size);
}

static const size_t offs[] = {0, 1, 64, 2048, 4032, 4095, 4096, 4160};

Test(abd_walk, each_byte_of_two_sides_comes_once_in_order)
{
	static struct record r;

	/* Side SIDES is memory. */
	for (unsigned i = 0; i < (SIDES + 1) * (SIDES + 1) * 8 * 8; i++) {
		unsigned a = i / 64 / (SIDES + 1), b = i / 64 % (SIDES + 1);
		size_t a_off = offs[i % 8], b_off = offs[i / 8 % 8];
		struct abd_side x = a < SIDES ? abd_side(side[a], a_off)
					      : abd_side_from((const char *)flat + a_off);
		struct abd_side y = b < SIDES ? abd_side(side[b], b_off)
					      : abd_side_from((const char *)flat + b_off);

		if (a == SIDES && b == SIDES)
			continue;
		begin_record(&r, a < SIDES ? a : 3, b, a_off, b_off);
		abd_test_check(
			abd_walk(NULL, &x, &y, r.size, 0, recording, &r), "%u and %u: ended", a, b);
		check_seen(&r, a, b);
	}
}

Test(abd_walk, each_byte_of_one_side_comes_once_in_order)
{
	static struct record r;

	for (unsigned i = 0; i < SIDES * 8; i++) {
		struct abd_side x = abd_side(side[i / 8], offs[i % 8]);

		begin_record(&r, i / 8, 0, offs[i % 8], 0);
		r.two = false;
		abd_test_check(
			abd_walk(NULL, &x, NULL, r.size, 0, recording, &r), "%u: ended", i / 8);
		check_seen(&r, i / 8, SIDES);
	}
}

Test(abd_walk, what_lanes_leave_comes_in_order)
{
	static const size_t left[] = {0, 1, 64, 2048};
	static struct record r;

	for (unsigned i = 0; i < SIDES * SIDES * 8 * 4; i++) {
		unsigned a = i / 32 / SIDES, b = i / 32 % SIDES;
		struct abd_side x = abd_side(side[a], offs[i % 8]), y = abd_side(side[b], 0);

		if (a == 5)
			continue;
		begin_record(&r, a, b, offs[i % 8], 0);
		r.leave = left[i / 8 % 4];
		abd_test_check(
			abd_walk(NULL, &x, &y, r.size, 4, recording, &r), "%u and %u: ended", a, b);
		check_seen(&r, a, b);
	}
}

Test(abd_walk, a_body_ends_the_walk)
{
	static struct record r;
	struct abd_side x = abd_side(side[0], 0), y = abd_side(side[0], 0),
			z = abd_side(side[1], 0);

	for (unsigned i = 0; i < 4; i++) {
		begin_record(&r, 0, i < 2 ? 0 : 1, 0, 0);
		r.stop_after = i % 2 == 0 ? 2 : 1;
		cr_assert_not(abd_walk(NULL, &x, i < 2 ? &y : &z, r.size, 0, recording, &r));
		cr_assert(r.segments == r.stop_after && r.done == 4096 * r.stop_after);
	}
	begin_record(&r, 0, 0, 0, 0);
	r.leave = SIZE_MAX;
	cr_assert_not(abd_walk(NULL, &x, &y, r.size, 4, recording, &r));
	cr_assert_eq(r.segments, 0);
}

Test(abd_walk, nothing_is_walked_over_0_bytes)
{
	static struct record r;
	struct abd_side x = abd_side(NULL, 0), y = abd_side(side[0], SIZE);

	cr_assert(abd_walk(NULL, &x, &y, 0, 0, recording, &r));
	cr_assert(abd_walk(NULL, &y, NULL, 0, 0, recording, &r));
	cr_assert_eq(r.segments, 0);
}

/* What is called contiguous is where the walk finds it; what lies in one run is called so. */
Test(abd_walk, a_range_within_a_run_is_contiguous)
{
	static const size_t sizes[] = {1, 64, 65, 4096, 4097, 8192};

	for (unsigned i = 0; i < SIDES * 8 * 6; i++) {
		unsigned s = i / 48;
		size_t off = offs[i % 8], size = sizes[i / 8 % 6];
		size_t run = order_of(s) < 0 ? SIZE : (size_t)4096 << order_of(s);
		size_t within = (place_of(s) + off) % run;
		char *at;
		bool is = abd_contiguous(side[s], off, size, &at);

		abd_test_check(is == ((order_of(s) >= 0 || s == 3) && size <= run - within),
			"%u at %zu: %zu bytes", s, off, size);
		abd_test_check(
			!is || holds(at, place_of(s) + off, size, false), "%u at %zu", s, off);
	}
}
