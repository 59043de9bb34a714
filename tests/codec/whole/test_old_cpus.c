/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that lack features: kernels that the CPU can't run can't be forced. From the newest CPU to
 * one with only the features that every machine has. That what is chosen instead gives right
 * results is what tests/gates/kernels asks of all tests, and tests of the kernels of each by name.
 */
#include "abd_cpu.h"
#include "abd_test.h"

#define bit(feature) (1u << ABD_CPU_##feature)
#define expect(condition) abd_test_child_expect(condition)

enum { LINES = bit(CLFLUSH) | bit(CLFLUSHOPT) | bit(CLWB) };

static int can_not_be_forced(uint32_t hidden)
{
	static const struct {
		uint32_t feature;
		const char *tunable, *value;
	} needs[] = {
		{bit(AVX512), "compare", "avx512"},
		{bit(AVX2), "compare", "avx2"},
		{bit(SSE2), "compare", "sse2"},
		{bit(AVX512), "lz4", "avx512"},
		{bit(AVX2), "lz4", "avx2"},
		{bit(MOVDIR64B), "flush", "movdir64b"},
		{bit(CLWB), "flush", "clwb"},
		{bit(CLWB), "flush_line", "clwb"},
		{bit(AVX512), "copy", "avx512"},
		{bit(AVX512), "copy", "nt-avx512"},
		{bit(VPCLMUL), "crc32c", "vpclmul"},
		{bit(PCLMUL), "crc32c", "pclmul"},
		{bit(AVX512), "xxh3", "avx512"},
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

	abd_test_cpu_hide(hidden);
	expect(can_not_be_forced(hidden) == 0);
	/* Durable is more than any of these lines reach when none can be written back. */
	if ((hidden & LINES) == LINES && abd_tuning_set("flush", "cvac") != 0)
		expect(abd_flush_durability() == ABD_FLUSH_DURABILITY_NONE);
	expect(abd_tuning_set("compare", "scalar") == 0 && abd_tuning_set("compare", "auto") == 0);
	return 0;
}

Test(abd_old_cpus, what_they_lack_can_not_be_forced)
{
	static const uint32_t lacks[] = {
		0,
		bit(MOVDIR64B),
		bit(MOVDIR64B) | bit(AVX512),
		bit(MOVDIR64B) | bit(AVX512) | bit(CLWB),
		bit(MOVDIR64B) | bit(AVX512) | bit(CLWB) | bit(CLFLUSHOPT),
		bit(MOVDIR64B) | bit(AVX512) | bit(CLWB) | bit(AVX2),
		bit(MOVDIR64B) | bit(AVX512) | LINES | bit(AVX2),
		~0u,
	};

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		char variable[64];

		snprintf(variable, sizeof(variable), "HIDDEN=%x", (unsigned)lacks[i]);
		abd_test_child_passes("old_cpu", (const char *const[]){variable, NULL});
	}
}
