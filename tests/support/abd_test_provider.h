/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunk provider "test": refuses orders on command, and knows of each run that is out.
 * Invariant: a run comes back once, with the order it was taken with; anything else aborts at that
 * call.
 * While it is in use threads keep nothing in reserve, since magazines would answer in its place.
 */
#ifndef ABD_TEST_PROVIDER_H
#define ABD_TEST_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Make it the provider in use: nothing refused, max_order 10, thread_cache_bytes 0. */
void abd_test_provider_begin(void);

/** Back to the default provider and the default tunables. */
void abd_test_provider_end(void);

/** Tunables as a fresh process has them. */
void abd_test_tunables_restore(void);

/**
 * Refuse order n where bit n is set. The commands add up; abd_test_refuse_nothing() takes them
 * back.
 */
void abd_test_refuse_orders(uint32_t mask);

/**
 * Answer the next requests by this text: 'x' refuses, anything else grants. The text must live as
 * long.
 */
void abd_test_refuse_script(const char *script);

/** Refuse percent of the requests above order 0. */
void abd_test_refuse_random(uint64_t seed, unsigned percent);

void abd_test_refuse_nothing(void);

/**
 * Whether runs that follow each other lie next to each other in memory (as far as there is room for
 * that).
 */
void abd_test_runs_adjacent(bool adjacent);

/** Runs that are out, of one order and of all. Empties the quarantine of checked builds first. */
size_t abd_test_runs_out(unsigned order);
size_t abd_test_runs_out_all(void);

/** Refusals since abd_test_provider_begin(). */
uint64_t abd_test_refusals(void);

#endif
