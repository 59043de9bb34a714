/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of buffers of every kind, against the same checksums over flat bytes and against
 * published values.
 */
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_test.h"
#include "abd_xxh3.h"

#define XXH_VECTOR 0 /* scalar: none of the kernels that x86-64 and Arm have */
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The definition, word by word. */
static void fletcher_reference(const uint8_t *bytes, size_t size, bool byteswap, uint64_t sum[4])
{
	memset(sum, 0, 4 * sizeof(sum[0]));
	for (size_t i = 0; i < size; i += 4) {
		uint8_t padded[4] = {0};
		uint32_t word;

		memcpy(padded, bytes + i, size - i < 4 ? size - i : 4);
		memcpy(&word, padded, sizeof(word));
		sum[0] += byteswap ? __builtin_bswap32(word) : word;
		sum[1] += sum[0];
		sum[2] += sum[1];
		sum[3] += sum[2];
	}
}

/* The definition, bit by bit. */
static uint32_t crc32c_reference(const uint8_t *bytes, size_t size, uint32_t seed)
{
	uint32_t crc = ~seed;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static void check_range(const struct abd_test_buffer *buffer, size_t off, size_t size)
{
	uint64_t sum[4], want[4];

	abd_fletcher_4(buffer->abd, off, size, sum);
	fletcher_reference(buffer->model + off, size, false, want);
	cr_assert_arr_eq(sum, want, sizeof(sum), "%s fletcher_4 %zu +%zu", buffer->kind, off, size);
	abd_fletcher_4_swapped(buffer->abd, off, size, sum);
	fletcher_reference(buffer->model + off, size, true, want);
	cr_assert_arr_eq(sum, want, sizeof(sum), "%s byteswap %zu +%zu", buffer->kind, off, size);
	cr_assert_eq(abd_crc32c(buffer->abd, off, size, 7),
		crc32c_reference(buffer->model + off, size, 7), "%s crc32c %zu +%zu", buffer->kind,
		off, size);
	cr_assert_eq(abd_xxh3(buffer->abd, off, size, 9),
		XXH3_64bits_withSeed(buffer->model + off, size, 9), "%s xxh3 %zu +%zu",
		buffer->kind, off, size);
}

Test(abd_checksum, every_kind_gives_what_its_bytes_give)
{
	abd_test_provider_begin();
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer buffer;
		size_t offsets[ABD_TEST_OFFSETS];

		abd_test_build(&buffer, kind, 42 + kind);

		size_t count = abd_test_offsets(&buffer, offsets);

		for (size_t i = 0; i < count; i++) {
			check_range(&buffer, offsets[i], buffer.size - offsets[i]);
			check_range(&buffer, 0, offsets[i]);
			check_range(&buffer, offsets[i], (buffer.size - offsets[i]) / 2);
		}
		abd_test_drop(&buffer);
	}
	abd_test_provider_end();
}

static uint64_t *fletcher_of(const struct abd_fletcher_kernel *kernel, uint8_t *bytes, size_t size,
	bool swap, uint64_t sum[4])
{
	struct abd_fletcher_state state;

	abd_fletcher_begin(&state, kernel, swap);
	abd_fletcher_add(&state, &(struct iovec){bytes, size}, 1);
	abd_fletcher_end(&state, sum);
	return sum;
}

/* Words 1 2 3 4, by hand: a 1 3 6 10, b 1 4 10 20, c 1 5 15 35, d 1 6 21 56. Then sizes of any
 * alignment, each an allocation of its own; the last is of enough words for all sums to wrap. */
Test(abd_checksum, every_fletcher_kernel_equals_the_definition_at_any_size)
{
	static const uint32_t words[4] = {1, 2, 3, 4};
	static const uint64_t by_hand[4] = {10, 20, 35, 56};
	uint64_t seed = 2, got[4], want[4];

	fletcher_reference((const uint8_t *)words, sizeof(words), false, want);
	cr_assert_arr_eq(want, by_hand, sizeof(want));
	for (size_t size = 0; size <= 1 << 20; size += size < 1200 ? 1 : (1 << 20) - 1200) {
		size_t at = size % 9;
		uint8_t *bytes = malloc(at + size);

		for (size_t i = 0; i < at + size; i++)
			bytes[i] = (uint8_t)(abd_test_random(&seed) | (size > 1200 ? 0xf0 : 0));
		ABD_TEST_EACH(abd_fletcher_kernel, kernel, abd_fletcher_kernels) {
			fletcher_reference(bytes + at, size, true, want);
			fletcher_of(kernel, bytes + at, size, true, got);
			cr_assert_arr_eq(got, want, sizeof(got), "%s %zu", kernel->name, size);
			fletcher_reference(bytes + at, size, false, want);
			fletcher_of(kernel, bytes + at, size, false, got);
			cr_assert_arr_eq(got, want, sizeof(got), "%s %zu", kernel->name, size);
			kernel->whole(got, &(struct iovec){bytes + at, size}, 1);
			cr_assert_arr_eq(got, want, sizeof(got), "%s %zu", kernel->name, size);
		}
		free(bytes);
	}
}

static uint32_t crc32c_of(
	const struct abd_crc32c_kernel *kernel, uint8_t *bytes, size_t size, uint32_t seed)
{
	return ~kernel->add(~seed, &(struct iovec){bytes, size}, 1);
}

Test(abd_checksum, crc32c_has_the_published_values_in_every_kernel)
{
	uint8_t zeros[32] = {0}, ones[32], rising[32], falling[32], digits[] = "123456789";

	memset(ones, 0xff, sizeof(ones));
	for (uint8_t i = 0; i < 32; i++) {
		rising[i] = i;
		falling[i] = (uint8_t)(31 - i);
	}
	ABD_TEST_EACH(abd_crc32c_kernel, kernel, abd_crc32c_kernels) {
		/* RFC 3720, appendix B.4; and the check value of "123456789". */
		cr_assert_eq(crc32c_of(kernel, zeros, 32, 0), 0x8a9136aau, "%s", kernel->name);
		cr_assert_eq(crc32c_of(kernel, ones, 32, 0), 0x62a8ab43u, "%s", kernel->name);
		cr_assert_eq(crc32c_of(kernel, rising, 32, 0), 0x46dd794eu, "%s", kernel->name);
		cr_assert_eq(crc32c_of(kernel, falling, 32, 0), 0x113fdb5cu, "%s", kernel->name);
		cr_assert_eq(crc32c_of(kernel, digits, 9, 0), 0xe3069283u, "%s", kernel->name);
	}
}

Test(abd_checksum, crc32c_continues_from_a_result)
{
	char text[] = "a record in two parts";
	abd_t abd;

	abd_get_from_buf_struct(&abd, text, sizeof(text));
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		uint32_t first = abd_crc32c(&abd, 0, cut, 0);

		cr_assert_eq(abd_crc32c(&abd, cut, sizeof(text) - cut, first),
			abd_crc32c(&abd, 0, sizeof(text), 0));
	}
	abd_free(&abd);
}

Test(abd_checksum, every_crc32c_kernel_equals_the_definition_at_any_alignment)
{
	/* A step takes 8, 256 or 768 bytes: all sizes to two of the largest steps. */
	uint8_t bytes[1600];
	uint64_t seed = 3;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)abd_test_random(&seed);
	for (size_t i = 0; abd_crc32c_kernels[i] != NULL; i++)
		for (size_t off = 0; off < 16 && abd_crc32c_kernels[i]->supported(); off++) {
			uint32_t want = 5;

			for (size_t size = 0; size < sizeof(bytes) - off; size++) {
				cr_assert_eq(crc32c_of(abd_crc32c_kernels[i], bytes + off, size, 5),
					want, "%s %zu +%zu", abd_crc32c_kernels[i]->name, off,
					size);
				want = crc32c_reference(bytes + off + size, 1, want);
			}
		}
}

Test(abd_checksum, every_xxh3_kernel_equals_xxhash_at_any_size_and_cut)
{
	/* 64 bytes are a stripe, 16 of them a block; xxHash keeps 256 between spans. */
	uint8_t bytes[2600];
	uint64_t seed = 4;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)abd_test_random(&seed);
	for (size_t i = 0; abd_xxh3_kernels[i] != NULL; i++) {
		const struct abd_xxh3_kernel *kernel = abd_xxh3_kernels[i];

		for (size_t size = 0; size < sizeof(bytes) - 1 && kernel->supported(); size++) {
			size_t cut = abd_test_random(&seed) % (size + 1);
			size_t next = cut + abd_test_random(&seed) % (size - cut + 1) % 70;
			uint64_t want = XXH3_64bits_withSeed(bytes + 1, size, size % 2);
			struct abd_xxh3_state state;

			cr_assert_eq(kernel->whole(bytes + 1, size, size % 2), want, "%s %zu",
				kernel->name, size);
			kernel->begin(&state, size % 2);
			kernel->add(&state, &(struct iovec){bytes + 1, cut}, 1);
			kernel->add(&state,
				(struct iovec[]){{bytes + 1 + cut, next - cut},
					{bytes + 1 + next, size - next}},
				2);
			cr_assert_eq(kernel->end(&state), want, "%s %zu cut at %zu and %zu",
				kernel->name, size, cut, next);
		}
	}
}

/* Spans, each an allocation of its own, and the same bytes joined. */
struct spans {
	struct iovec span[40];
	size_t count, size;
	uint8_t joined[40 * 4096];
};

/* Lengths are multiples of what some kernel takes at once, or any. */
static void spans_make(struct spans *spans, uint64_t *seed)
{
	static const size_t units[] = {1024, 1024, 256, 64, 1};

	spans->size = 0;
	spans->count = 1 + abd_test_random(seed) % 40;
	for (size_t i = 0; i < spans->count; i++) {
		size_t unit = units[abd_test_random(seed) % 5];
		size_t size = abd_test_random(seed) % 4097 / unit * unit;
		uint8_t *span = malloc(size);

		for (size_t j = 0; j < size; j++)
			span[j] = spans->joined[spans->size + j] = (uint8_t)abd_test_random(seed);
		spans->span[i] = (struct iovec){span, size};
		spans->size += size;
	}
}

static void expect_fletcher(const struct spans *spans, bool swap)
{
	uint64_t got[4], want[4];

	fletcher_reference(spans->joined, spans->size, swap, want);
	ABD_TEST_EACH(abd_fletcher_kernel, kernel, abd_fletcher_kernels) {
		struct abd_fletcher_state state;

		abd_fletcher_begin(&state, kernel, swap);
		abd_fletcher_add(&state, spans->span, spans->count);
		abd_fletcher_end(&state, got);
		cr_assert_arr_eq(got, want, sizeof(got), "%s", kernel->name);
	}
}

/* Whole steps, and a last span of any length. */
static void expect_fletcher_whole(const struct spans *spans)
{
	uint64_t got[4], want[4];
	size_t count = 0, size = spans->span[0].iov_len;

	while (count + 1 < spans->count && spans->span[count].iov_len % ABD_FLETCHER_STEP_MAX == 0)
		size += spans->span[++count].iov_len;
	fletcher_reference(spans->joined, size, false, want);
	ABD_TEST_EACH(abd_fletcher_kernel, kernel, abd_fletcher_kernels) {
		kernel->whole(got, spans->span, count + 1);
		cr_assert_arr_eq(got, want, sizeof(got), "%s", kernel->name);
	}
}

static void expect_crc32c(const struct spans *spans)
{
	uint32_t want = crc32c_reference(spans->joined, spans->size, 3);

	for (size_t i = 0; abd_crc32c_kernels[i] != NULL; i++)
		if (abd_crc32c_kernels[i]->supported())
			cr_assert_eq(~abd_crc32c_kernels[i]->add(~3u, spans->span, spans->count),
				want, "%s", abd_crc32c_kernels[i]->name);
}

static void expect_xxh3(const struct spans *spans)
{
	uint64_t want = XXH3_64bits_withSeed(spans->joined, spans->size, 6);

	ABD_TEST_EACH(abd_xxh3_kernel, kernel, abd_xxh3_kernels) {
		struct abd_xxh3_state state;

		kernel->begin(&state, 6);
		kernel->add(&state, spans->span, spans->count);
		cr_assert_eq(kernel->end(&state), want, "%s %zu", kernel->name, spans->size);
	}
}

Test(abd_checksum, every_kernel_sums_many_spans_of_any_length_at_once)
{
	static struct spans spans;
	uint64_t seed = 8;

	for (int round = 0; round < 150; round++) {
		spans_make(&spans, &seed);
		expect_fletcher(&spans, round % 2 == 0);
		expect_fletcher_whole(&spans);
		expect_crc32c(&spans);
		expect_xxh3(&spans);
		for (size_t i = 0; i < spans.count; i++)
			free(spans.span[i].iov_base);
	}
}

/* The last stripe but one may be the end of a span: it is needed when the last bytes have come. */
Test(abd_checksum, xxh3_keeps_the_stripe_before_the_last_bytes)
{
	static struct spans spans;
	uint64_t seed = 10;

	for (size_t tail = 0; tail < 130; tail++) {
		spans.count = 3;
		spans.size = 3072 + tail;
		for (size_t i = 0; i < spans.size; i++)
			spans.joined[i] = (uint8_t)abd_test_random(&seed);
		spans.span[0] = (struct iovec){spans.joined, 1024};
		spans.span[1] = (struct iovec){spans.joined + 1024, 2048};
		spans.span[2] = (struct iovec){spans.joined + 3072, tail};
		expect_xxh3(&spans);
	}
}

/* More spans than kernels are given in one call, whole steps first. */
Test(abd_checksum, many_members_are_summed_to_the_last)
{
	enum { MEMBERS = 100, MEMBER = 1024 };
	static uint8_t model[MEMBERS * MEMBER];
	struct abd_test_buffer buffer = {
		.abd = abd_alloc_gang(), .model = model, .kind = "gang of many"};
	uint64_t seed = 9;

	for (size_t i = 0; i < MEMBERS; i++) {
		size_t size = i < 70 ? MEMBER : 1 + abd_test_random(&seed) % MEMBER;
		abd_t *member = abd_alloc_linear(size, false);

		for (size_t j = 0; j < size; j++)
			model[buffer.size + j] = (uint8_t)abd_test_random(&seed);
		abd_copy_from_buf(member, model + buffer.size, size);
		buffer.size += size;
		abd_gang_add(buffer.abd, member, true);
	}
	for (size_t size = buffer.size - 200; size <= buffer.size; size++)
		check_range(&buffer, 0, size);
	check_range(&buffer, 1, buffer.size - 1);
	check_range(&buffer, 0, (size_t)64 * MEMBER);
	abd_free(buffer.abd);
}

Test(abd_checksum, ranges_past_the_end_are_broken_contracts)
{
	char bytes[64] = {0};
	uint64_t sum[4];
	abd_t abd;

	abd_get_from_buf_struct(&abd, bytes, sizeof(bytes));
	abd_test_expect_contract(abd_fletcher_4(&abd, 1, 64, sum), "abd_fletcher_4");
	abd_test_expect_contract(
		abd_fletcher_4_swapped(&abd, 65, 0, sum), "abd_fletcher_4_swapped");
	abd_test_expect_contract((void)abd_crc32c(&abd, 2, SIZE_MAX, 0), "abd_crc32c");
	abd_test_expect_contract((void)abd_xxh3(&abd, 0, 65, 0), "abd_xxh3");
	abd_test_expect_contract(abd_fletcher_4(&abd, 0, 64, NULL), "NULL");
	abd_free(&abd);
}
