/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guess whether a record might save an eighth: what it must never refuse, what it must see, and
 * that it depends on the bytes alone.
 */
#include "test_lz4_block.h"

enum { SIZE_MOST = 1 << 20 };

static const size_t sizes[] = {65536, 65537, 98313, 131072, 200001, SIZE_MOST};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static uint8_t record[SIZE_MOST];

static bool might_pay(size_t size)
{
	abd_t *src = abd_get_from_buf(record, size);
	bool might = abd_lz4_might_pay(src, 0, size);

	abd_free(src);
	return might;
}

Test(abd_lz4_might_pay, noise_is_refused)
{
	uint64_t seed = 1;
	size_t cases = abd_test_share(300), refused = 0;
	abd_t *src = abd_get_from_buf(record, SIZE_MOST);

	abd_test_random_fill(&seed, record, SIZE_MOST);
	for (size_t i = 0; i < cases; i++) {
		size_t size = sizes[i % SIZES];

		refused += !abd_lz4_might_pay(
			src, abd_test_random_below(&seed, SIZE_MOST - size + 1), size);
	}
	cr_assert_geq(refused, cases - cases / 50, "%zu of %zu", refused, cases);
	abd_free(src);
}

Test(abd_lz4_might_pay, small_records_are_not_sampled)
{
	uint64_t seed = 2;
	abd_t *src = abd_get_from_buf(record, 65536);

	abd_test_random_fill(&seed, record, 65536);
	cr_assert(abd_lz4_might_pay(src, 1, 65535));
	cr_assert(abd_lz4_might_pay(src, 5, 1));
	cr_assert_not(abd_lz4_might_pay(src, 5, 0));
	cr_assert_not(abd_lz4_might_pay(src, 0, 65536));
	abd_free(src);
}

Test(abd_lz4_might_pay, an_eighth_of_zeros_in_noise_is_seen_wherever_it_lies)
{
	static uint8_t noise[SIZE_MOST];
	uint64_t seed = 3;

	abd_test_random_fill(&seed, noise, SIZE_MOST);
	memcpy(record, noise, SIZE_MOST);
	for (size_t i = 0; i < SIZES; i++)
		for (size_t at = 0; at + sizes[i] / 8 <= sizes[i]; at += sizes[i] / 50) {
			memset(record + at, 0, sizes[i] / 8);
			abd_test_check(might_pay(sizes[i]), "%zu: zeros at %zu", sizes[i], at);
			memcpy(record + at, noise + at, sizes[i] / 8);
		}
}

/* Where every other field is random, samples must not fall into these alone. */
Test(abd_lz4_might_pay, fields_of_any_power_of_two_are_seen)
{
	uint64_t seed = 7;

	for (size_t i = 0; i < SIZES; i++)
		for (size_t field = 8; field <= 1024; field *= 2) {
			abd_test_random_fill(&seed, record, sizes[i]);
			for (size_t at = 0; at < sizes[i]; at++)
				record[at] = at / field % 2 == 0 ? record[at] : 'x';
			abd_test_check(might_pay(sizes[i]), "%zu: fields of %zu", sizes[i], field);
		}
}

/* Also fio's: each 4 KiB begin with 1,392 bytes of noise, and go on with a pattern. */
Test(abd_lz4_might_pay, what_lz4_makes_smaller_is_not_refused)
{
	uint64_t seed = 4;

	for (size_t i = 0; i < SIZES; i++) {
		for (unsigned kind = 0; kind < 5; kind++) {
			test_record_fill(record, sizes[i], kind, i);
			abd_test_check(
				kind == 2 || might_pay(sizes[i]), "%zu: kind %u", sizes[i], kind);
		}
		abd_test_random_fill(&seed, record, sizes[i]);
		for (size_t at = 0; at < sizes[i]; at++)
			record[at] = at % 4096 < 1392 ? record[at] : (uint8_t)(at % 4 * 77);
		abd_test_check(might_pay(sizes[i]), "%zu: fio's", sizes[i]);
	}
}

/* Pages of noise, all the same: seen where samples lie a multiple of the page apart. */
Test(abd_lz4_might_pay, noise_that_repeats_by_pages_is_seen_in_records_of_whole_powers)
{
	uint64_t seed = 5;

	for (size_t size = 65536; size <= SIZE_MOST; size *= 2) {
		abd_test_random_fill(&seed, record, 4096);
		for (size_t at = 4096; at < size; at++)
			record[at] = record[at - 4096];
		cr_assert(might_pay(size), "%zu", size);
	}
}

Test(abd_lz4_might_pay, the_answer_depends_on_the_bytes_alone)
{
	uint64_t seed = 6;
	size_t cases = abd_test_share(50);

	for (size_t i = 0; i < cases; i++) {
		size_t size = 65536 + abd_test_random_below(&seed, 50000);
		size_t noise = size - abd_test_random_below(&seed, size / 16);
		abd_t *src;

		memset(record, 7, size);
		abd_test_random_fill(&seed, record, noise);
		src = test_record_in_pieces(record, size, 100 + 150 * i, &seed);
		cr_assert_eq(abd_lz4_might_pay(src, 0, size), might_pay(size), "%zu", size);
		abd_free(src);
	}
}
