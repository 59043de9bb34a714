/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dc cvap, on CPUs that have it and on those that don't. Debian 12's qemu-user 7.2 reports it for
 * its newer models (HWCAP_DCPOP) but treats it as illegal, because it implements the instruction
 * only for whole systems. So a signal handler stands in for the CPU: it decodes the instruction,
 * notes its address, and continues the program behind it.
 * Invariant: any other illegal instruction still ends the program; if the CPU knows dc cvap,
 * nothing is noted.
 */
#ifdef __aarch64__

#include "abd_flush_arm64.h"
#include "abd_flush_span.h"
#include "abd_test.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

extern const struct abd_flush_kernel abd_flush_cvap;

#define DC_CVAP 0xd50b7c20u /* its last five bits are the register that holds the address */
#define LINES 33

static uintptr_t cleaned[4 * LINES];
static size_t cleaned_count;

static void on_illegal(int signal_number, siginfo_t *info, void *context)
{
	mcontext_t *cpu = &((ucontext_t *)context)->uc_mcontext;
	uint32_t instruction = *(const uint32_t *)(uintptr_t)cpu->pc;

	if ((instruction & ~31u) != DC_CVAP) {
		signal(signal_number, SIG_DFL);
		return;
	}
	if (cleaned_count < sizeof(cleaned) / sizeof(cleaned[0]))
		cleaned[cleaned_count] = cpu->regs[instruction & 31];
	cleaned_count++;
	cpu->pc += sizeof(instruction);
}

/* For all tests of this program: policies go by what the system says the CPU has. */
static __attribute__((constructor)) void stand_in(void)
{
	struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};

	if (sigaction(SIGILL, &action, NULL) != 0)
		abort();
}

/* 0: the CPU did it itself. */
static void check_cleaned(const uint8_t *line, size_t count)
{
	size_t step = abd_flush_arm64_step();

	if (cleaned_count == 0)
		return;
	abd_test_check(cleaned_count == count * ABD_LINE_SIZE / step, "%zu lines: %zu cleaned",
		count, cleaned_count);
	for (size_t i = 0; i < cleaned_count; i++)
		abd_test_check(cleaned[i] == (uintptr_t)line + i * step,
			"%zu lines: place %zu of %zu is off", count, i, cleaned_count);
}

Test(flush_cvap, each_line_is_cleaned_once_and_nothing_changes)
{
	static uint8_t lines[LINES * ABD_LINE_SIZE] __attribute__((aligned(ABD_LINE_SIZE)));
	static uint8_t model[sizeof(lines)];

	for (size_t i = 0; i < sizeof(lines); i++)
		model[i] = lines[i] = (uint8_t)(i * 7);
	for (size_t count = 1; count <= LINES; count++) {
		cleaned_count = 0;
		abd_flush_cvap.flush(lines, count);
		check_cleaned(lines, count);
	}
	cr_assert(memcmp(lines, model, sizeof(lines)) == 0);
}

Test(flush_cvap, whole_copies_are_cleaned_where_the_system_says_so)
{
	static uint8_t dst[4 * ABD_LINE_SIZE] __attribute__((aligned(ABD_LINE_SIZE))),
		src[sizeof(dst)];
	bool has = abd_flush_cvap.supported();

	cr_assert((abd_tuning_set("flush", "cvap") == 0) == has);
	if (!has)
		return;
	memset(src, 9, sizeof(src));
	cleaned_count = 0;

	struct abd_flush_walk walk;

	abd_flush_begin(&walk, __func__, sizeof(dst), 0);
	abd_flush_span(&walk, dst, src, sizeof(dst));
	abd_flush_end(&walk, 0);
	check_cleaned(dst, 4);
	cr_assert(memcmp(dst, src, sizeof(dst)) == 0);
	cr_assert(abd_flush_durability() == ABD_FLUSH_DURABILITY_PERSISTENCE);
	cr_assert(abd_tuning_set("flush", "auto") == 0);
}

#else

/* Other machines have other policies; a file must declare something. */
typedef int abd_flush_cvap_is_arm64s;

#endif
