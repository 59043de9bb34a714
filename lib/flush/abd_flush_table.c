/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flush kernels of this build, the built-in plans with the measurements behind them, and what a
 * plan promises.
 */
#include "abd_flush_table.h"

const struct abd_flush_kernel *const abd_flush_kernels[] = {
#if ABD_ON_X86
	&abd_flush_movdir64b,
	&abd_flush_avx512,
	&abd_flush_avx2,
	&abd_flush_sse2,
	&abd_flush_movnti,
	&abd_flush_clwb,
	&abd_flush_clflushopt,
	&abd_flush_clflush,
#endif
#if ABD_ON_ARM64
	&abd_flush_cvap,
	&abd_flush_cvac,
#endif
	&abd_flush_portable,
	NULL,
};

/* How many of them copy around the cache; those behind them write back lines. */
enum { ABD_FLUSH_AROUND = ABD_ON_X86 ? 5 : 0 };

/*
 * What a process starts with; abd_flush_calibrate() and the tunables replace it.
 *
 * With movdir64b, the plan is the same for every intent. Measured to ordinary memory on an Intel
 * server CPU that has it (2 cores of a virtual machine, 2 MiB of L2 each): when a fence follows
 * each copy, movdir64b is level with the vector stores around the cache at all sizes, and 1 to 3 %
 * ahead from 64 KiB. It starts slower: without a fence, copies of 64 bytes reach 6.8 GB/s with it
 * and 7.9 with nt-avx512, which therefore has the sizes up to 256. clwb reaches 0.93 of them at 64
 * bytes, 0.73 at 1 KiB, 0.29 from 64 KiB (abd-perf run flush).
 *
 * Without movdir64b, the widest vectors copy around the cache. On an AMD Zen 5 server CPU they beat
 * cached stores + clwb at every size: 11.4 against 6.6 GB/s at 4 KiB, 24 against 9.8 at 64 KiB. On
 * Optane they win when there are many writers: 2.8 against 1.7 GB/s with three, 2.5 against 0.8
 * with five (the source's figures). A single writer to Optane is the exception: cached stores +
 * write-back won from 1 KiB up, with 1.1 GB/s against 725 MB/s at 2 KiB, and lost at 512 bytes,
 * with 373 against 496 MB/s (the source's figures). CPUs that drive Optane have clwb and, except
 * for the last generation, no movdir64b; there EXCLUSIVE uses clwb above 512 bytes.
 * Source: linux-kernel, "x86: introduce memcpy_flushcache_clflushopt", April 2020.
 *
 * emeraldrapids: 2 cores of a virtual machine, 300 MiB of L3. In four tunes movdir64b was level
 * with nt-avx512 at 4 KiB, or took 1.05 times as long; at 64 KiB 1.06 to 1.13 times, at 1 MiB 1.10
 * to 1.29 times. clwb with a fence after each copy takes 0.75 of the time at 64 bytes, 0.85 at
 * 256, and 1.05 times as long at 512; but where 16 copies of 64 bytes share a drain 1.3 times, 64
 * of them 1.9 times. What follows a copy is not known here, so small ones go around the cache too.
 *
 * zen5: 2 cores of a virtual machine; clwb takes 1.6 times as long at 4 KiB, 2 times at 1 MiB.
 */
static const struct abd_plan_built_in abd_flush_built_in[] = {
#if ABD_ON_X86
	{"emeraldrapids", {{SIZE_MAX, &abd_flush_avx512.kernel}}},
	{NULL, {{256, &abd_flush_avx512.kernel}, {SIZE_MAX, &abd_flush_movdir64b.kernel}}},
	{NULL, {{256, &abd_flush_avx2.kernel}, {SIZE_MAX, &abd_flush_movdir64b.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};
static const struct abd_plan_built_in abd_flush_built_in_exclusive[] = {
#if ABD_ON_X86
	{"emeraldrapids", {{SIZE_MAX, &abd_flush_avx512.kernel}}},
	{"zen5", {{SIZE_MAX, &abd_flush_avx512.kernel}}},
	{NULL, {{256, &abd_flush_avx512.kernel}, {SIZE_MAX, &abd_flush_movdir64b.kernel}}},
	{NULL, {{256, &abd_flush_avx2.kernel}, {SIZE_MAX, &abd_flush_movdir64b.kernel}}},
	{NULL, {{512, &abd_flush_avx512.kernel}, {SIZE_MAX, &abd_flush_clwb.kernel}}},
	{NULL, {{512, &abd_flush_avx2.kernel}, {SIZE_MAX, &abd_flush_clwb.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};

struct abd_choice abd_flush_choices[ABD_FLUSH_INTENTS] = {
	[ABD_FLUSH_AUTO] = ABD_CHOICE(
		"flush_auto", abd_flush_kernels, .group = "flush", .built_in = abd_flush_built_in),
	[ABD_FLUSH_SHARED] = ABD_CHOICE("flush_shared", abd_flush_kernels, .group = "flush",
		.built_in = abd_flush_built_in),
	[ABD_FLUSH_EXCLUSIVE] = ABD_CHOICE("flush_exclusive", abd_flush_kernels, .group = "flush",
		.built_in = abd_flush_built_in_exclusive),
};

struct abd_choice abd_flush_line_choice =
	ABD_CHOICE("flush_line", abd_flush_kernels + ABD_FLUSH_AROUND, .built_in = NULL);

size_t abd_flush_supported(const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; abd_flush_kernels[i] != NULL; i++)
		if (abd_flush_kernels[i]->supported())
			kernels[count++] = abd_flush_kernels[i];
	return count;
}

enum abd_flush_durability abd_flush_durability_of(const struct abd_flush_kernel *kernel)
{
	return kernel->flush != NULL ? kernel->durability : abd_flush_line()->durability;
}

/* The weakest promise of all rows: it holds for any flags and any size. */
enum abd_flush_durability abd_flush_durability(void)
{
	enum abd_flush_durability weakest = ABD_FLUSH_DURABILITY_PERSISTENCE;

	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++) {
		struct abd_plan plan;

		abd_choice_plan_get(&abd_flush_choices[intent], true, &plan);
		for (size_t i = 0; i < plan.count; i++) {
			enum abd_flush_durability durability = abd_flush_durability_of(
				(const struct abd_flush_kernel *)plan.rows[i].kernel);

			if (durability < weakest)
				weakest = durability;
		}
	}
	return weakest;
}
