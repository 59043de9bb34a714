/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking in step: who is, and that both sides are met byte by byte. What is not in step must be
 * refused: operations then iterate. The model is a position for each byte.
 */
#include "abd_step.h"
#include "abd_test.h"

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

TestSuite(abd_step, .init = begin, .fini = end);

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

static bool should_be_in_step(unsigned a, unsigned b, size_t a_off, size_t b_off, size_t size)
{
	size_t run = order_of(a) < 0 ? 1 : (size_t)4096 << order_of(a);
	size_t within = (place_of(a) + a_off) % run;

	if (order_of(a) < 0 || order_of(a) != order_of(b) || within != (place_of(b) + b_off) % run)
		return false;
	return size > 0 && (size <= run - within || !has_neighbour(a, a_off, run) ||
				   !has_neighbour(b, b_off, run));
}

static bool holds(const char *at, size_t position, size_t len)
{
	return memcmp(at, (const char *)flat + position, len) == 0;
}

static void check(unsigned a, unsigned b, size_t a_off, size_t b_off, size_t size)
{
	size_t done = 0, pieces = 0;
	struct abd_step step;
	bool in_step = abd_step_begin(&step, side[a], side[b], a_off, b_off, size);

	abd_test_check(in_step == should_be_in_step(a, b, a_off, b_off, size),
		"%u and %u at %zu and %zu: %d", a, b, a_off, b_off, in_step);
	if (!in_step)
		return;
	for (; step.len > 0; abd_step_advance(&step)) {
		size_t at = place_of(a) + a_off + done, at2 = place_of(b) + b_off + done;
		bool last = done + step.len == size;

		abd_test_check(done + step.len <= size && step.left == size - done, "%zu", done);
		abd_test_check(holds(abd_step_a(&step), at, step.len), "a at %zu", at);
		abd_test_check(holds(abd_step_b(&step), at2, step.len), "b at %zu", at2);
		abd_test_check((abd_step_next_a(&step) == NULL) == last, "%zu: next of a", at);
		abd_test_check((abd_step_next_b(&step) == NULL) == last, "%zu: next of b", at);
		abd_test_check(last || (holds(abd_step_next_a(&step), at + step.len, 4) &&
					       holds(abd_step_next_b(&step), at2 + step.len, 4)),
			"%zu: what is next", at);
		done += step.len;
		pieces++;
	}
	abd_test_check(done == size && pieces <= size / 4096 + 2, "%zu of %zu bytes", done, size);
}

Test(abd_step, pairs_in_step_are_walked_and_all_others_are_refused)
{
	static const size_t offs[] = {0, 1, 64, 4032, 4095, 4096, 4160, 8192, 12224};
	static const size_t sizes[] = {0, 1, 100, 4096, 4097, 12288, 20000};

	for (unsigned pair = 0; pair < SIDES * SIDES; pair++)
		for (unsigned i = 0; i < 9 * 9; i++)
			for (unsigned k = 0; k < 7; k++)
				check(pair / SIDES, pair % SIDES, offs[i / 9], offs[i % 9],
					sizes[k]);
}
