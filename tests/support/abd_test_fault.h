/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making memory run out: every allocation of the library, wherever its memory comes from, is a site
 * that can be refused. Magazines answer without a site, so tests that count sites run with
 * thread_cache_bytes 0.
 */
#ifndef ABD_TEST_FAULT_H
#define ABD_TEST_FAULT_H

#include <stddef.h>

/** Count the sites met from here on, and refuse none. */
void abd_test_fault_count(void);

/** Refuse the n-th site from here on, the first being 0, and no other. */
void abd_test_fault_at(size_t n);

/** Refuse the n-th site from here on and all that follow. */
void abd_test_fault_from(size_t n);

/** Refuse nothing more. Returns the sites met since the call above. */
size_t abd_test_fault_end(void);

#endif
