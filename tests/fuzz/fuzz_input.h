/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the targets that turn bytes into calls: taking numbers from the input. When the input
 * has ended, all numbers are zero.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct fuzz_input {
	const uint8_t *next, *end;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	return in->next < in->end ? *in->next++ : 0;
}

/** A number below limit, from two bytes of input. */
static inline size_t fuzz_below(struct fuzz_input *in, size_t limit)
{
	size_t low = fuzz_byte(in);

	return (low | (size_t)fuzz_byte(in) << 8) % limit;
}

/**
 * For loops over bytes in a model: the fuzzer learns nothing from them, and reporting each
 * comparison to it took 60 % of the time of fuzz_arc. The checkers watch the library that is
 * called, not the model.
 */
#define FUZZ_UNSEEN __attribute__((noinline, no_sanitize("coverage", "address", "undefined")))

/** If the condition is false: a finding, and the fuzzer keeps the input. */
#define fuzz_check(condition, ...)                                                              \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, __VA_ARGS__);                                           \
			fprintf(stderr, "\n");                                                  \
			abort();                                                                \
		}                                                                               \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
