/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fletcher_4 kernels against the definition, on spans cut in every way.
 * Invariant: every test runs every kernel that this CPU has, in both byte orders.
 */
#include "abd_fletcher.h"

#include "abd_test.h"

enum { SIZE = 20000 };

static uint8_t bytes[SIZE];

static void bytes_fill(uint64_t seed)
{
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(seed >> 56);
	}
}

/* Byte by byte: the least significant of a word is first when little is true. */
static void model(uint64_t sum[4], const uint8_t *p, size_t size, bool little)
{
	memset(sum, 0, 4 * sizeof(*sum));
	for (size_t i = 0; i < size; i += 4) {
		for (size_t j = 0; j < 4 && i + j < size; j++)
			sum[0] += (uint64_t)p[i + j] << 8 * (little ? j : 3 - j);
		sum[1] += sum[0];
		sum[2] += sum[1];
		sum[3] += sum[2];
	}
}

static bool machine_is_little(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1;
}

/*
 * The checksum of [at, at + size), cut into spans of `span` bytes (0: one span), each an allocation
 * of its own.
 */
static void expect_model(
	const struct abd_fletcher_kernel *kernel, size_t at, size_t size, size_t span)
{
	for (int swap = 0; swap < 2; swap++) {
		struct abd_fletcher_state state;
		uint64_t expected[4], got[4];

		model(expected, bytes + at, size, machine_is_little() != (swap != 0));
		abd_fletcher_begin(&state, kernel, swap != 0);
		for (size_t done = 0; done < size;) {
			size_t piece = span == 0 || span > size - done ? size - done : span;
			uint8_t *copy = malloc(piece);

			memcpy(copy, bytes + at + done, piece);
			abd_fletcher_add(&state, &(struct iovec){copy, piece}, 1);
			free(copy);
			done += piece;
		}
		abd_fletcher_end(&state, got);
		cr_assert(memcmp(got, expected, sizeof(got)) == 0,
			"%s: at %zu size %zu span %zu swap %d", kernel->name, at, size, span, swap);
		if (span != 0 || swap != 0)
			continue;

		uint8_t *copy = malloc(size);

		memcpy(copy, bytes + at, size);
		kernel->whole(got, &(struct iovec){copy, size}, 1);
		free(copy);
		cr_assert(memcmp(got, expected, sizeof(got)) == 0, "%s: whole, at %zu size %zu",
			kernel->name, at, size);
	}
}

Test(abd_fletcher, every_size_gives_the_definition)
{
	bytes_fill(1);
	for (size_t i = 0; abd_fletcher_kernels[i] != NULL; i++)
		for (size_t size = 0; abd_fletcher_kernels[i]->supported() && size < 1200; size++)
			expect_model(abd_fletcher_kernels[i], size % 9, size, 0);
}

Test(abd_fletcher, words_across_spans_count_once)
{
	bytes_fill(2);
	for (size_t i = 0; abd_fletcher_kernels[i] != NULL; i++)
		for (size_t span = 1; abd_fletcher_kernels[i]->supported() && span < 700; span++)
			expect_model(abd_fletcher_kernels[i], span % 5, 5000 + span % 4, span);
}

Test(abd_fletcher, sums_wrap_as_64_bits_do)
{
	memset(bytes, 255, SIZE);
	for (size_t i = 0; abd_fletcher_kernels[i] != NULL; i++)
		if (abd_fletcher_kernels[i]->supported())
			expect_model(abd_fletcher_kernels[i], 0, SIZE, 0);
}

/* Enough words for every sum to have wrapped. */
Test(abd_fletcher, spans_of_many_mebibytes_give_the_definition)
{
	size_t size = ((size_t)9 << 20) + 4;
	uint8_t *big = malloc(size);
	uint64_t expected[4], got[4];

	bytes_fill(3);
	for (size_t i = 0; i < size; i++)
		big[i] = (uint8_t)(bytes[i % SIZE] + i / SIZE);
	model(expected, big, size, machine_is_little());
	for (size_t i = 0; abd_fletcher_kernels[i] != NULL; i++) {
		struct abd_fletcher_state state;

		if (!abd_fletcher_kernels[i]->supported())
			continue;
		abd_fletcher_begin(&state, abd_fletcher_kernels[i], false);
		abd_fletcher_add(&state, &(struct iovec){big, size}, 1);
		abd_fletcher_end(&state, got);
		cr_assert(memcmp(got, expected, sizeof(got)) == 0, "%s",
			abd_fletcher_kernels[i]->name);
	}
	free(big);
}

/* Words 1 2 3 4, by hand: a 1 3 6 10, b 1 4 10 20, c 1 5 15 35, d 1 6 21 56. */
Test(abd_fletcher, four_words_by_hand)
{
	uint32_t words[4] = {1, 2, 3, 4};
	struct abd_fletcher_state state;
	uint64_t got[4];

	abd_fletcher_begin(&state, abd_fletcher_for(0), false);
	abd_fletcher_add(&state, &(struct iovec){words, sizeof(words)}, 1);
	abd_fletcher_end(&state, got);
	cr_assert_eq(got[0], 10);
	cr_assert_eq(got[1], 20);
	cr_assert_eq(got[2], 35);
	cr_assert_eq(got[3], 56);
}
