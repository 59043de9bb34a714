/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of abd-perf that end the program, tried: the linker sends abd_perf_say_die() and argp's way
 * out here (--wrap), and they lead back. What a call that ended so had allocated is left to it, as
 * at the end of a program.
 */
#ifndef FUZZ_PERF_DIE_H
#define FUZZ_PERF_DIE_H

#include <setjmp.h>
#include <stdbool.h>

extern jmp_buf fuzz_perf_end;
extern bool fuzz_perf_ended;

void __lsan_disable(void);
void __lsan_enable(void);

/** Whether the statement came to its end. */
#define fuzz_perf_try(statement)                \
	({                                      \
		fuzz_perf_ended = false;        \
		__lsan_disable();               \
		if (setjmp(fuzz_perf_end) == 0) \
			statement;              \
		else                            \
			fuzz_perf_ended = true; \
		__lsan_enable();                \
		!fuzz_perf_ended;               \
	})

#endif
