/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the targets share that turn bytes into calls: taking numbers from the input. An input that
 * has ended gives zeros.
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

/** A number below limit, of two bytes of input. */
static inline size_t fuzz_below(struct fuzz_input *in, size_t limit)
{
	size_t low = fuzz_byte(in);

	return (low | (size_t)fuzz_byte(in) << 8) % limit;
}

/**
 * For a model's loops over bytes: the fuzzer has nothing to learn there, and reporting every
 * comparison to it took 60 % of the time of fuzz_arc. Memory is checked by what is
 * called, not by the model.
 */
#define FUZZ_UNSEEN __attribute__((noinline, no_sanitize("coverage", "address", "undefined")))

/** A finding: the fuzzer keeps the input. */
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
