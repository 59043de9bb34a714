/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries calls of abd-perf that may end the program. The linker sends abd_perf_say_die() and argp's
 * exits here (--wrap), and they jump back. Memory that such a call has allocated is not freed, as
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

/** Run the statement. True if it came to its end, false if it tried to end the program. */
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
