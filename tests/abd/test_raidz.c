/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raidz iteration: every piece once, on all sides at once, in whole sectors; data that ends before
 * the parity does, or after it.
 */
#include "abd_test_fixture.h"

/*
 * Different shapes of the same size: one run, single pages, two orders, linear, a gang split at
 * sectors.
 */
static abd_t *shape(size_t which, size_t size)
{
	static const char *const max_order[] = {"10", "0", "1", "10"};
	abd_t *abd;

	if (which % 5 < 4) {
		abd_tuning_set("max_order", max_order[which % 5]);
		abd = which % 5 == 3 ? abd_alloc_linear(size, false) : abd_alloc(size, false);
		abd_tuning_set("max_order", "10");
		return abd;
	}
	abd = abd_alloc_gang();
	if (size > 1536)
		cr_assert_eq(abd_gang_add(abd, abd_alloc_linear(1536, false), true), 0);
	cr_assert_eq(abd_gang_add(abd, abd_alloc(size - (size > 1536 ? 1536 : 0), false), true), 0);
	return abd;
}

static struct {
	unsigned parity;
	size_t bytes, data, pieces;
	const unsigned *mul;
	bool odd, wrong;
} seen;

/*
 * Parity i becomes the data times i + 1, plus one; where there is no data, its bytes are flipped.
 */
static void gen(void **c, const void *d, size_t csize, size_t dsize)
{
	seen.wrong |= seen.odd || csize == 0 || dsize > csize || (d == NULL) != (dsize == 0);
	seen.odd = csize % 512 != 0;
	for (unsigned i = 0; i < seen.parity; i++)
		for (size_t k = 0; k < csize; k++)
			((uint8_t *)c[i])[k] =
				k < dsize ? (uint8_t)(((const uint8_t *)d)[k] * (i + 1) + 1)
					  : (uint8_t) ~((uint8_t *)c[i])[k];
	seen.bytes += csize;
	seen.data += dsize;
	seen.pieces++;
}

static void check_gen(size_t shapes, unsigned parity, size_t off, size_t csize, size_t dsize)
{
	size_t size = off + csize, data_size = off + (dsize > csize ? dsize : csize);
	size_t used = dsize < csize ? dsize : csize;
	uint8_t *d = malloc(data_size), *c = malloc(size);
	abd_t *cabds[3], *dabd = shape(shapes, data_size);
	uint64_t seed = shapes + csize;

	abd_test_random_fill(&seed, d, data_size);
	abd_copy_from_buf(dabd, d, data_size);
	for (unsigned i = 0; i < parity; i++) {
		cabds[i] = shape(shapes / 5 + i, size);
		abd_zero(cabds[i], size);
	}
	memset(&seen, 0, sizeof(seen));
	seen.parity = parity;
	abd_raidz_gen_iterate(cabds, dsize > 0 ? dabd : NULL, off, csize, dsize, parity, gen);
	abd_test_check(!seen.wrong && seen.bytes == csize && seen.data == used,
		"%u parity, %zu from %zu, %zu of data: met %zu and %zu", parity, csize, off, dsize,
		seen.bytes, seen.data);
	for (unsigned i = 0; i < parity; i++) {
		memset(c, 0, size);
		for (size_t k = 0; k < csize; k++)
			c[off + k] = k < used ? (uint8_t)(d[off + k] * (i + 1) + 1) : 0xff;
		abd_test_check(abd_cmp_buf(cabds[i], c, size) == 0, "parity %u of %u, %zu of data",
			i, parity, dsize);
		abd_free(cabds[i]);
	}
	abd_free(dabd);
	free(d);
	free(c);
}

TestSuite(abd_raidz, .init = begin, .fini = end);

Test(abd_raidz, parity_is_made_over_every_shape)
{
	size_t csizes[] = {512, 1024, 4096, 4608, 16384, 20480, 12288 + 100};

	for (unsigned parity = 1; parity <= 3; parity++)
		for (size_t shapes = 0; shapes < 25; shapes++)
			for (size_t i = 0; i < 7; i++) {
				size_t csize = csizes[i];

				check_gen(shapes, parity, 0, csize, csize);
				check_gen(shapes, parity, 512, csize, csize);
				check_gen(shapes, parity, 0, csize, 0);
				check_gen(shapes, parity, 1024, csize, csize / 2 / 512 * 512);
				check_gen(shapes, parity, 0, csize, csize > 512 ? 512 : 0);
			}
}

Test(abd_raidz, data_behind_the_parity_is_not_looked_at)
{
	size_t csizes[] = {512, 1536, 4096, 4608, 12288 + 100};
	size_t more[] = {1, 100, 512, 4096, 20480};

	for (unsigned parity = 1; parity <= 3; parity++)
		for (size_t shapes = 0; shapes < 25; shapes++)
			for (size_t i = 0; i < 25; i++) {
				size_t csize = csizes[i / 5];

				check_gen(shapes, parity, 0, csize, csize + more[i % 5]);
				check_gen(shapes, parity, 1536, csize, csize + more[i % 5]);
			}
}

/* Data that is there and that is not, as the engine names its columns: NULL, or a buffer with dsize
 * 0. */
Test(abd_raidz, a_column_without_data_is_not_looked_at)
{
	abd_t *parity = abd_alloc(8192, false), *zeros = abd_get_zeros(512);

	memset(&seen, 0, sizeof(seen));
	seen.parity = 1;
	abd_raidz_gen_iterate(&parity, zeros, 0, 8192, 0, 1, gen);
	abd_raidz_gen_iterate(&parity, zeros, 4096, 4096, 0, 1, gen);
	abd_raidz_gen_iterate(&parity, NULL, 0, 8192, 0, 1, gen);
	cr_assert(!seen.wrong && seen.bytes == 8192 + 4096 + 8192 && seen.data == 0);
	abd_raidz_gen_iterate(&parity, zeros, 0, 512, 512, 1, gen);
	cr_assert(!seen.wrong && seen.data == 512);
	abd_free(zeros);
	abd_free(parity);
}

Test(abd_raidz, nothing_to_do_calls_nothing)
{
	abd_t *abd = abd_alloc(4096, false);

	memset(&seen, 0, sizeof(seen));
	abd_raidz_gen_iterate(&abd, NULL, 4096, 0, 0, 1, gen);
	cr_assert_eq(seen.pieces, 0);
	abd_free(abd);
}

/* Target i becomes parity i times mul[i]. */
static void rec(void **t, const size_t tsize, void **c, const unsigned *mul)
{
	seen.wrong |= seen.odd || tsize == 0 || mul != seen.mul;
	seen.odd = tsize % 512 != 0;
	for (unsigned i = 0; i < seen.parity; i++)
		for (size_t k = 0; k < tsize; k++)
			((uint8_t *)t[i])[k] = (uint8_t)(((uint8_t *)c[i])[k] * mul[i]);
	seen.bytes += tsize;
}

static void check_rec(size_t shapes, unsigned parity, size_t size)
{
	static const unsigned mul[] = {3, 5, 7};
	uint8_t *c = malloc(size);
	abd_t *cabds[3], *tabds[3];

	for (unsigned i = 0; i < parity; i++) {
		uint64_t seed = i;

		cabds[i] = shape(shapes + i, size);
		tabds[i] = shape(shapes / 5 + i, size);
		abd_test_random_fill(&seed, c, size);
		abd_copy_from_buf(cabds[i], c, size);
	}
	memset(&seen, 0, sizeof(seen));
	seen.parity = parity;
	seen.mul = mul;
	abd_raidz_rec_iterate(cabds, tabds, size, parity, rec, mul);
	abd_test_check(!seen.wrong && seen.bytes == size, "%u parity, %zu of %zu", parity,
		seen.bytes, size);
	for (unsigned i = 0; i < parity; i++) {
		uint64_t seed = i;

		abd_test_random_fill(&seed, c, size);
		for (size_t k = 0; k < size; k++)
			c[k] = (uint8_t)(c[k] * mul[i]);
		abd_test_check(abd_cmp_buf(tabds[i], c, size) == 0, "target %u", i);
		abd_free(cabds[i]);
		abd_free(tabds[i]);
	}
	free(c);
}

Test(abd_raidz, targets_are_rebuilt_over_every_shape)
{
	size_t sizes[] = {512, 4096, 16384, 20480, 12288 + 100};

	for (unsigned parity = 1; parity <= 3; parity++)
		for (size_t shapes = 0; shapes < 25; shapes++)
			for (size_t i = 0; i < 5; i++)
				check_rec(shapes, parity, sizes[i]);
}

static void rec_sums(void **t, const size_t tsize, void **c, const unsigned *mul)
{
	for (size_t k = 0; k < tsize; k++)
		((uint8_t *)t[0])[k] = (uint8_t)(1 + ((const uint8_t *)c[0])[k]);
}

/* A column that was filled up with zeros is read as any other. */
Test(abd_raidz, parity_is_only_read_while_targets_are_rebuilt)
{
	abd_t *zeros = abd_get_zeros(16384), *target = abd_alloc(8192, false);
	uint8_t *ones = malloc(8192);

	memset(ones, 1, 8192);
	abd_raidz_rec_iterate(&zeros, &target, 8192, 1, rec_sums, NULL);
	cr_assert_eq(abd_cmp_buf(target, ones, 8192), 0);
	free(ones);
	abd_free(target);
	abd_free(zeros);
}

static void no_gen(void **c, const void *d, size_t csize, size_t dsize)
{
}

static void no_rec(void **t, const size_t size, void **c, const unsigned *mul)
{
}

Test(abd_raidz, what_is_written_is_no_other_side_too)
{
	abd_t *a = abd_alloc(4096, false), *b = abd_alloc(4096, false), *c = abd_alloc(4096, false);
	abd_t *two[] = {a, b}, *twice[] = {a, a}, *others[] = {c, c}, *crossed[] = {c, a};

	abd_test_expect_contract(abd_raidz_gen_iterate(twice, c, 0, 4096, 4096, 2, no_gen),
		"abd_raidz_gen_iterate: cabds[0] and cabds[1] are one buffer");
	abd_test_expect_contract(abd_raidz_gen_iterate(two, b, 0, 4096, 4096, 2, no_gen),
		"abd_raidz_gen_iterate: cabds[1] is also read from");
	abd_test_expect_contract(abd_raidz_rec_iterate(others, twice, 4096, 2, no_rec, NULL),
		"abd_raidz_rec_iterate: tabds[0] and tabds[1] are one buffer");
	abd_test_expect_contract(abd_raidz_rec_iterate(crossed, two, 4096, 2, no_rec, NULL),
		"abd_raidz_rec_iterate: tabds[0] is also read from");
	/* What is only read may be one buffer, and an empty column is not read. */
	abd_raidz_rec_iterate(others, two, 4096, 2, no_rec, NULL);
	abd_raidz_gen_iterate(two, b, 0, 4096, 0, 2, no_gen);
	abd_free(a);
	abd_free(b);
	abd_free(c);
}
