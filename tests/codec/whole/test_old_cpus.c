/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that lack features: the kernels chosen by default give right results, and kernels that the
 * CPU can't run can't be forced. From the newest CPU to one with only the features that every
 * machine has.
 */
#include "abd_cpu.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_flush_kernel.h"
#include "abd_lz4_decode.h"
#include "abd_test.h"

#define bit(feature) (1u << ABD_CPU_##feature)
#define expect(condition) abd_test_child_expect(condition)

enum {
	SIZE = 100000,
	LINES = bit(CLFLUSH) | bit(CLFLUSHOPT) | bit(CLWB),
};

static uint8_t data[SIZE], other[SIZE];

static int comparing(abd_t *a, abd_t *b)
{
	for (size_t n = 1; n < SIZE; n = n * 3 / 2 + 1) {
		expect(abd_equal_off(a, b, 0, 0, n) && abd_diff_off(a, b, 0, 0, n) == n);
		expect(abd_equal_buf_off(a, data + SIZE - n, SIZE - n, n));
		expect(abd_key_equal(data, other, n));
		other[n - 1] ^= 1;
		abd_copy_from_buf_off(b, other, 0, SIZE);
		expect(!abd_equal_off(a, b, 0, 0, n) && abd_diff_off(a, b, 0, 0, n) == n - 1);
		expect((abd_cmp(a, b) < 0) == (data[n - 1] < other[n - 1]));
		expect(!abd_key_equal(data, other, n));
		other[n - 1] ^= 1;
		abd_copy_from_buf_off(b, other, 0, SIZE);
	}
	abd_zero(b, SIZE);
	expect(abd_cmp_zero(b, SIZE) == 0);
	abd_copy_from_buf_off(b, "\1", SIZE - 1, 1);
	expect(abd_cmp_zero(b, SIZE) != 0);
	return 0;
}

static int flushing(abd_t *a, abd_t *b)
{
	for (size_t n = 1; n < SIZE; n = n * 2 + 1) {
		abd_zero(b, SIZE);
		abd_flush_copy_off(b, a, 3, 1, n - n / 3, ABD_FLUSH_AUTO);
		expect(abd_equal_off(a, b, 1, 3, n - n / 3));
		abd_flush_copy_off(b, a, 64, 0, n - n / 3, ABD_FLUSH_EXCLUSIVE);
		expect(abd_equal_off(a, b, 0, 64, n - n / 3));
	}
	abd_flush_drain();
	return 0;
}

static int coding(abd_t *a, abd_t *b)
{
	uint64_t sum[4] = {0}, got[4];
	ssize_t size = abd_lz4_compress(b, a, 0, 0, SIZE / 2);

	expect(size > 0);
	abd_zero_off(a, SIZE / 2, SIZE / 2);
	expect(abd_lz4_decompress(a, b, SIZE / 2, SIZE / 2, 0, (size_t)size) == SIZE / 2);
	expect(abd_equal_buf_off(a, data, SIZE / 2, SIZE / 2));
	expect(abd_lz4_decompress_to_buf(other, b, SIZE, 0, (size_t)size) == SIZE / 2);
	expect(memcmp(other, data, SIZE / 2) == 0);
	/* crc32c's test vector of nine digits, RFC 3720 */
	abd_copy_from_buf_off(b, "123456789", 4090, 9);
	expect(abd_crc32c(b, 4090, 9, 0) == 0xe3069283);
	for (size_t i = 0; i < SIZE / 2 / 4; i++) {
		uint32_t word;

		memcpy(&word, data + 4 * i, 4);
		sum[0] += word;
		sum[1] += sum[0];
		sum[2] += sum[1];
		sum[3] += sum[2];
	}
	abd_fletcher_4(a, 0, SIZE / 2, got);
	expect(memcmp(sum, got, sizeof(sum)) == 0);
	return 0;
}

static int can_not_be_forced(uint32_t hidden)
{
	static const struct {
		uint32_t feature;
		const char *tunable, *value;
	} needs[] = {
		{bit(AVX512BW), "compare", "avx512"},
		{bit(AVX2), "compare", "avx2"},
		{bit(SSE2), "compare", "sse2"},
		{bit(AVX512BW), "lz4", "avx512"},
		{bit(AVX2), "lz4", "avx2"},
		{bit(MOVDIR64B), "flush", "movdir64b"},
		{bit(CLWB), "flush", "clwb"},
		{bit(CLWB), "flush_line", "clwb"},
		{bit(AVX512BW), "copy", "avx512"},
		{bit(AVX512BW), "copy", "nt-avx512"},
		{bit(VPCLMULQDQ), "crc32c", "vpclmul"},
		{bit(PCLMULQDQ), "crc32c", "pclmul"},
		{bit(SSE42), "crc32c", "sse42"},
		{bit(AVX512BW), "xxh3", "avx512"},
		{bit(AVX2), "xxh3", "avx2"},
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if ((hidden & needs[i].feature) != 0 &&
			abd_tuning_set(needs[i].tunable, needs[i].value) == 0) {
			fprintf(stderr, "%s could be forced\n", needs[i].value);
			return 1;
		}
	expect((hidden & bit(AVX2)) == 0 || abd_tuning_set("fletcher", "avx2") == -EINVAL);
	expect(abd_tuning_set("fletcher", "none") == -EINVAL &&
		abd_tuning_set("lz4", "none") == -EINVAL);
	return 0;
}

ABD_TEST_CHILD(old_cpu)
{
	uint32_t hidden = (uint32_t)strtoul(getenv("HIDDEN"), NULL, 16);
	uint64_t random = 1;
	abd_t *a, *b;

	abd_test_cpu_hide(hidden);
	expect(can_not_be_forced(hidden) == 0);
	abd_test_random_fill(&random, data, SIZE);
	for (size_t i = 0; i < SIZE; i += 3)
		data[i] = 'x'; /* lz4 has something to do */
	memset(data + 1000, 0, 2000);
	memcpy(other, data, SIZE);
	abd_tuning_set("max_order", "0");
	a = abd_alloc(SIZE, false);
	b = abd_alloc(SIZE, false);
	expect(a != NULL && b != NULL);
	abd_copy_from_buf(a, data, SIZE);
	abd_copy(b, a, SIZE);
	expect(comparing(a, b) == 0 && flushing(a, b) == 0 && coding(a, b) == 0);
	/* Durable is more than any of these lines reach when none can be written back. */
	if ((hidden & LINES) == LINES && abd_tuning_set("flush", "cvac") != 0)
		expect(abd_flush_durability() == ABD_FLUSH_DURABILITY_NONE);
	expect(abd_tuning_set("compare", "scalar") == 0 && abd_tuning_set("compare", "auto") == 0);
	abd_free(a);
	abd_free(b);
	return 0;
}

Test(abd_old_cpus, each_chooses_what_it_can_run_and_gets_it_right)
{
	static const uint32_t lacks[] = {
		0,
		bit(MOVDIR64B),
		bit(MOVDIR64B) | bit(AVX512BW),
		bit(MOVDIR64B) | bit(AVX512BW) | bit(CLWB),
		bit(MOVDIR64B) | bit(AVX512BW) | bit(CLWB) | bit(CLFLUSHOPT),
		bit(MOVDIR64B) | bit(AVX512BW) | bit(CLWB) | bit(AVX2) | bit(SSE42),
		bit(MOVDIR64B) | bit(AVX512BW) | LINES | bit(AVX2) | bit(SSE42),
		~0u,
	};

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		char variable[64];

		snprintf(variable, sizeof(variable), "HIDDEN=%x", (unsigned)lacks[i]);
		abd_test_child_passes("old_cpu", (const char *const[]){variable, NULL});
	}
}
