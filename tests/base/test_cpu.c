/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features: the library's answers against what the operating system lists in /proc/cpuinfo.
 */
#include "abd_cpu.h"
#include "abd_test.h"

static char flags[8192]; /* " fpu vme ... " of the first CPU; empty where there are none */

static void flags_read(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[sizeof(flags) - 2];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "flags", 5) == 0 && strchr(line, ':') != NULL) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(flags, sizeof(flags), "%s ", strchr(line, ':') + 1);
			break;
		}
	if (file != NULL)
		fclose(file);
}

static bool listed(const char *flag)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", flag);
	return strstr(flags, word) != NULL;
}

/*
 * Valgrind and emulators show programs a lesser CPU than the kernel lists, and ABD_TEST_CPU shows
 * the library one.
 */
static bool is_shown_all(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return getenv("ABD_TEST_CPU") == NULL && getenv("ABD_TEST_EMULATOR") == NULL &&
	       (preload == NULL || strstr(preload, "vgpreload") == NULL);
}

Test(abd_cpu, the_library_sees_what_the_kernel_lists)
{
	static const struct {
		enum abd_cpu_feature feature;
		bool (*runs)(void);
		const char *flags[3];
	} features[] = {
		{ABD_CPU_SSE2, abd_cpu_runs_sse2, {"sse2"}},
		{ABD_CPU_PCLMUL, abd_cpu_runs_pclmul, {"pclmulqdq", "sse4_2"}},
		{ABD_CPU_AVX2, abd_cpu_runs_avx2, {"avx2", "bmi1", "bmi2"}},
		{ABD_CPU_AVX512, abd_cpu_runs_avx512, {"avx512f", "avx512bw", "avx512vl"}},
		{ABD_CPU_VPCLMUL, abd_cpu_runs_vpclmul, {"vpclmulqdq"}},
		{ABD_CPU_CLFLUSH, abd_cpu_runs_clflush, {"clflush"}},
		{ABD_CPU_CLFLUSHOPT, abd_cpu_runs_clflushopt, {"clflushopt"}},
		{ABD_CPU_CLWB, abd_cpu_runs_clwb, {"clwb"}},
		{ABD_CPU_MOVDIR64B, abd_cpu_runs_movdir64b, {"movdir64b"}},
		{ABD_CPU_NEON, abd_cpu_runs_neon, {"no x86 has it"}},
		{ABD_CPU_DCPOP, abd_cpu_runs_dcpop, {"nor this"}},
	};

	flags_read();
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		bool has = abd_cpu_has(features[i].feature), lists = true;

		cr_assert_eq(features[i].runs(), has);
		if (!ABD_TEST_X86 || flags[0] == '\0') /* asked all the same */
			continue;
		for (size_t k = 0; k < 3 && features[i].flags[k] != NULL; k++)
			lists = lists && listed(features[i].flags[k]);
		cr_assert(!has || lists, "%s is not listed", features[i].flags[0]);
		cr_assert(has || !lists || !is_shown_all(), "%s is not seen", features[i].flags[0]);
	}
	cr_assert(abd_cpu_runs_any() && !abd_cpu_has((enum abd_cpu_feature)31));
}
