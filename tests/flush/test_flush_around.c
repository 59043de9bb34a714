/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * movdir64b, on CPUs that have it and on those that don't: few have it, and Debian 12's qemu-user
 * doesn't know it. If the CPU treats it as illegal, a signal handler does what the instruction
 * would have done and continues the program behind it.
 * Invariant: any other illegal instruction still ends the program; if the CPU knows movdir64b, the
 * handler does nothing.
 */
#ifdef __x86_64__

#include "abd_flush_kernel.h"
#include "abd_test.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

extern const struct abd_flush_kernel abd_flush_movdir64b;

#define LINES 33

static size_t stood_in;

/* The register numbers of an instruction, in the order of the processor's manual. */
static uintptr_t reg(const mcontext_t *cpu, unsigned number)
{
	static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI,
		REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	return (uintptr_t)cpu->gregs[order[number]];
}

/* The address in a memory operand: base, scaled index, displacement. *code is at its ModRM byte,
 * and moves behind the operand. */
static uintptr_t operand(const mcontext_t *cpu, const uint8_t **code, uint8_t rex)
{
	const uint8_t *at = *code;
	uint8_t mod = *at >> 6, base = *at & 7;
	uintptr_t address = 0;
	int32_t displacement = 0;

	at++;
	if (base == 4) { /* a SIB byte follows */
		uint8_t sib = *at++, index = (uint8_t)((sib >> 3 & 7) | (rex & 2) << 2);

		base = sib & 7;
		if (index != 4)
			address += reg(cpu, index) << (sib >> 6);
	}
	if (mod != 0 || base != 5)
		address += reg(cpu, base | (rex & 1u) << 3);
	if (mod == 1) {
		displacement = (int8_t)*at++;
	} else if (mod == 2 || base == 5) {
		memcpy(&displacement, at, sizeof(displacement));
		at += sizeof(displacement);
		if (mod == 0 && (**code & 7) == 5)
			address += (uintptr_t)at; /* relative to the next instruction */
	}
	*code = at;
	return address + (uintptr_t)(intptr_t)displacement;
}

/* 66 [REX] 0F 38 F8 /r: the register holds the destination's address, the memory operand is the
 * source. */
static void on_illegal(int signal_number, siginfo_t *info, void *context)
{
	mcontext_t *cpu = &((ucontext_t *)context)->uc_mcontext;
	const uint8_t *code = (const uint8_t *)cpu->gregs[REG_RIP];
	uint8_t rex = 0;
	uintptr_t to;

	if (*code++ != 0x66)
		goto not_ours;
	if ((*code & 0xf0) == 0x40)
		rex = *code++;
	if (code[0] != 0x0f || code[1] != 0x38 || code[2] != 0xf8)
		goto not_ours;
	code += 3;
	to = reg(cpu, (*code >> 3 & 7) | (rex & 4u) << 1);
	memmove((void *)to, (const void *)operand(cpu, &code, rex), ABD_LINE_SIZE);
	cpu->gregs[REG_RIP] = (greg_t)(uintptr_t)code;
	stood_in++;
	return;
not_ours:
	signal(signal_number, SIG_DFL);
}

Test(flush_movdir64b, copies_whole_lines_and_nothing_beside_them)
{
	static uint8_t dst[(LINES + 2) * ABD_LINE_SIZE] __attribute__((aligned(ABD_LINE_SIZE)));
	static uint8_t src[LINES * ABD_LINE_SIZE + 1], model[sizeof(dst)];
	struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO}, before;
	size_t lines = 0;

	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (uint8_t)(i * 7 + i / 256);
	stood_in = 0;
	cr_assert(sigaction(SIGILL, &action, &before) == 0);
	/* The destination is aligned; the source may lie anywhere. */
	for (size_t count = 0; count <= LINES; lines += count++) {
		memset(dst, 0xd5, sizeof(dst));
		memset(model, 0xd5, sizeof(model));
		memcpy(model + ABD_LINE_SIZE, src + count % 2, count * ABD_LINE_SIZE);
		abd_flush_movdir64b.lines(dst + ABD_LINE_SIZE, src + count % 2, count);
		cr_assert(memcmp(dst, model, sizeof(dst)) == 0);
	}
	cr_assert(sigaction(SIGILL, &before, NULL) == 0);
	abd_test_check(stood_in == 0 || stood_in == lines, "%zu lines, %zu of them by the handler",
		lines, stood_in);
}

#else

/* Other machines have other instructions; a file must declare something. */
typedef int abd_flush_movdir64b_is_x86s;

#endif
