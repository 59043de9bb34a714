/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunk provider "test": refuses orders on request, and counts the runs that are not freed yet.
 * Invariant: each run is freed once, with the order that it was allocated with; a call that breaks
 * this aborts.
 * While this provider is in use threads keep no reserves, because magazines would answer instead of
 * it.
 */
#ifndef ABD_TEST_PROVIDER_H
#define ABD_TEST_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Switch to this provider, with nothing refused, max_order 10 and thread_cache_bytes 0. */
void abd_test_provider_begin(void);

/** Switch back to the default provider and the default tunables. */
void abd_test_provider_end(void);

/** Set all tunables to what they are in a new process. */
void abd_test_tunables_restore(void);

/** Refuse order n if bit n of mask is set. Calls add up, until abd_test_refuse_nothing(). */
void abd_test_refuse_orders(uint32_t mask);

/**
 * Answer the next requests as script says, one character each: 'x' refuses, any other grants.
 * script must stay valid while it is used.
 */
void abd_test_refuse_script(const char *script);

/** Refuse percent of the requests above order 0. */
void abd_test_refuse_random(uint64_t seed, unsigned percent);

void abd_test_refuse_nothing(void);

/**
 * Whether runs that are allocated one after the other lie next to each other in memory (as long as
 * the region has room).
 */
void abd_test_runs_adjacent(bool adjacent);

/**
 * How many runs are not freed yet, of one order and of all. Both calls first empty the quarantine
 * of checked builds.
 */
size_t abd_test_runs_out(unsigned order);
size_t abd_test_runs_out_all(void);

/** Refusals since abd_test_provider_begin(). */
uint64_t abd_test_refusals(void);

#endif
