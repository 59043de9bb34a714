/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte loop: what x86-64 Linux used for dedupe until 2021, and the reference that every other
 * kernel must equal.
 * Invariant: the code is so plain that reading it is check enough; the compiler may not turn it
 * into a call or into vectors.
 */
#include "abd_compare_kernel.h"

/*
 * An empty statement that the compiler must keep in each round: without it gcc -O3 might turn the
 * loop into vectors, and the reference's figures would be those of a vector kernel.
 */
#define KEEP_LOOP() __asm__ volatile("")

static size_t scalar_diff(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t i = 0;

	(void)next_a;
	(void)next_b;
	while (i < size && x[i] == y[i]) {
		KEEP_LOOP();
		i++;
	}
	return i;
}

static int scalar_order(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t i = scalar_diff(a, b, size, next_a, next_b);

	return i < size ? x[i] - y[i] : 0;
}

static bool scalar_equal(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	return scalar_diff(a, b, size, next_a, next_b) == size;
}

static bool scalar_zero(const void *p, size_t size, const void *next)
{
	const uint8_t *x = p;
	size_t i = 0;

	(void)next;
	while (i < size && x[i] == 0) {
		KEEP_LOOP();
		i++;
	}
	return i == size;
}

static bool scalar_key_equal(const void *a, const void *b, size_t size)
{
	return scalar_equal(a, b, size, NULL, NULL);
}

const struct abd_compare_kernel abd_compare_scalar = {
	.name = "scalar",
	.supported = abd_cpu_runs_any,
	.order = scalar_order,
	.equal = scalar_equal,
	.diff = scalar_diff,
	.zero = scalar_zero,
	.key_equal = scalar_key_equal,
};
