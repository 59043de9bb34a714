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

/*
 * Each set is what cmake/AbdLayer.cmake compiles files for: every instruction set that those flags
 * let the compiler use is asked for (tests/layers/cpu_sets.py compares). A hypervisor may hide any
 * of them.
 */
static bool abd_cpu_has_sse42(void)
{
	return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
	       __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
	       __builtin_cpu_supports("popcnt");
}

static bool abd_cpu_has_pclmul(void)
{
	return abd_cpu_has_sse42() && __builtin_cpu_supports("pclmul");
}

static bool abd_cpu_has_avx2(void)
{
	return abd_cpu_has_sse42() && __builtin_cpu_supports("avx") &&
	       __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2");
}

static bool abd_cpu_has_avx512(void)
{
	return abd_cpu_has_avx2() && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl");
}

static bool abd_cpu_has_vpclmul(void)
{
	return abd_cpu_has_avx512() && abd_cpu_has_pclmul() && __builtin_cpu_supports("vpclmulqdq");
}

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	__builtin_cpu_init();
	switch (feature) {
	case ABD_CPU_SSE2:
		return __builtin_cpu_supports("sse2");
	case ABD_CPU_PCLMUL:
		return abd_cpu_has_pclmul();
	case ABD_CPU_AVX2:
		return abd_cpu_has_avx2();
	case ABD_CPU_AVX512:
		return abd_cpu_has_avx512();
	case ABD_CPU_VPCLMUL:
		return abd_cpu_has_vpclmul();
	case ABD_CPU_CLFLUSH:
		return (abd_cpuid_leaf(1).d & (1u << 19)) != 0;
	case ABD_CPU_CLFLUSHOPT:
		return (abd_cpuid_leaf(7).b & (1u << 23)) != 0;
	case ABD_CPU_CLWB:
		return (abd_cpuid_leaf(7).b & (1u << 24)) != 0;
	case ABD_CPU_MOVDIR64B:
		return (abd_cpuid_leaf(7).c & (1u << 28)) != 0;
	case ABD_CPU_NEON:
	case ABD_CPU_DCPOP:
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
