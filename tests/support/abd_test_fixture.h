/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fixture of tests that leave nothing behind: begin() puts the refusing provider in place,
 * end() looks that every gauge is as it was and no run is out. To be included once per file, behind
 * criterion's header.
 */
#ifndef ABD_TEST_FIXTURE_H
#define ABD_TEST_FIXTURE_H

#include "abd_test.h"
#include "abd_test_provider.h"

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
