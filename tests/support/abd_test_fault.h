/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes memory run out. Each allocation of the library is a site that can refuse, wherever the
 * memory comes from. Magazines answer without reaching a site, so tests that count sites set
 * thread_cache_bytes to 0.
 */
#ifndef ABD_TEST_FAULT_H
#define ABD_TEST_FAULT_H

#include <stddef.h>

/** From here on count the sites that are reached, and refuse none. */
void abd_test_fault_count(void);

/** From here on refuse only the n-th site that is reached. The first has number 0. */
void abd_test_fault_at(size_t n);

/** From here on refuse the n-th site that is reached and all that follow. */
void abd_test_fault_from(size_t n);

/** Stop refusing. Returns how many sites were reached since one of the calls above. */
size_t abd_test_fault_end(void);

#endif
