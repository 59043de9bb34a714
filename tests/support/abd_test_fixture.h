/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fixture of tests that leave nothing behind. begin() installs the test provider, which can
 * refuse. end() checks that all gauges are as before and that all runs have been freed. A test file
 * includes it in place of abd_test.h.
 */
#ifndef ABD_TEST_FIXTURE_H
#define ABD_TEST_FIXTURE_H

#include "abd_test.h"

static struct abd_stats before;

static void begin(void)
{
	abd_test_provider_begin();
	before = abd_test_stats();
}

static void end(void)
{
	struct abd_stats after = abd_test_stats();

	cr_assert(abd_test_gauges_equal(&before, &after));
	cr_assert_eq(abd_test_runs_out_all(), 0);
	abd_test_provider_end();
}

#endif
