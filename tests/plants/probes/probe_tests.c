/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests that fail, compiled for both runners, to check that the runners report them and exit with a
 * code other than 0. Each runs alone, by name, and so does "passes", which must pass.
 */
#include <criterion/criterion.h>

#include <abd/abd.h>

#include <limits.h>
#include <signal.h>
#include <stdlib.h>

static void *volatile sink;

Test(probe, passes)
{
	abd_t *abd = abd_alloc(3 * 4096, false);

	cr_assert_not_null(abd);
	abd_free(abd);
}

Test(probe, asserts)
{
	cr_assert_eq(abd_get_size(abd_get_zeros(7)), 8, "planted assertion");
}

Test(probe, expects)
{
	cr_expect(sink != NULL, "planted expectation");
}

Test(probe, crashes)
{
	abort();
}

Test(probe, survives, .signal = SIGABRT)
{
	cr_assert(sink == NULL);
}

static __attribute__((noinline)) void forget(void)
{
	sink = abd_alloc(3 * 4096, false);
	sink = NULL;
}

Test(probe, leaks)
{
	volatile char over[512];

	forget();
	memset((char *)over, 0, sizeof(over));
}

Test(probe, overflows)
{
	volatile int x = INT_MAX;

	x = x + 1;
}
