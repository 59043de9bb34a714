/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features on x86. The compiler's run-time library reports vector features; it also checks that
 * the operating system saves the registers. It does not report cache line instructions, so these
 * come from CPUID leaves 1 and 7.
 */
#include "abd_cpu.h"

#include <cpuid.h>

struct abd_cpuid {
	unsigned a, b, c, d;
};

static struct abd_cpuid abd_cpuid_leaf(unsigned leaf)
{
	struct abd_cpuid r = {0, 0, 0, 0};

	__get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d);
	return r;
}

/* No && here: it would branch, and on any one CPU tests can cover only one way of each branch. */
static bool abd_cpu_has_avx512bw(void)
{
	bool f = __builtin_cpu_supports("avx512f"), bw = __builtin_cpu_supports("avx512bw"),
	     vl = __builtin_cpu_supports("avx512vl");

	return f & bw & vl;
}

static bool abd_cpu_has_pclmulqdq(void)
{
	bool mul = __builtin_cpu_supports("pclmul"), crc = __builtin_cpu_supports("sse4.2");

	return mul & crc;
}

static bool abd_cpu_has_vpclmulqdq(void)
{
	bool mul = __builtin_cpu_supports("vpclmulqdq"), wide = abd_cpu_has_avx512bw(),
	     rest = abd_cpu_has_pclmulqdq();

	return mul & wide & rest;
}

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	__builtin_cpu_init();
	switch (feature) {
	case ABD_CPU_SSE2:
		return __builtin_cpu_supports("sse2");
	case ABD_CPU_SSE42:
		return __builtin_cpu_supports("sse4.2");
	case ABD_CPU_PCLMULQDQ:
		return abd_cpu_has_pclmulqdq();
	case ABD_CPU_AVX2:
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		       __builtin_cpu_supports("bmi2");
	case ABD_CPU_BMI2:
		return __builtin_cpu_supports("bmi2");
	case ABD_CPU_AVX512BW:
		return abd_cpu_has_avx512bw();
	case ABD_CPU_VPCLMULQDQ:
		return abd_cpu_has_vpclmulqdq();
	case ABD_CPU_CLFLUSH:
		return (abd_cpuid_leaf(1).d & (1u << 19)) != 0;
	case ABD_CPU_CLFLUSHOPT:
		return (abd_cpuid_leaf(7).b & (1u << 23)) != 0;
	case ABD_CPU_CLWB:
		return (abd_cpuid_leaf(7).b & (1u << 24)) != 0;
	case ABD_CPU_MOVDIR64B:
		return (abd_cpuid_leaf(7).c & (1u << 28)) != 0;
	case ABD_CPU_NEON:
	default:
		return false;
	}
}

/*
 * The extended family and model are 0 in processors that don't use them, so adding them needs no
 * condition.
 */
void abd_cpu_identify(struct abd_cpu_identity *cpu)
{
	struct abd_cpuid vendor = abd_cpuid_leaf(0), version = abd_cpuid_leaf(1);
	unsigned letters[4] = {vendor.b, vendor.d, vendor.c, 0};

	memcpy(cpu->vendor, letters, sizeof(letters));
	cpu->family = (version.a >> 8 & 0xF) + (version.a >> 20 & 0xFF);
	cpu->model = (version.a >> 4 & 0xF) | (version.a >> 12 & 0xF0);
}
