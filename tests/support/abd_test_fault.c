/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fault hook: it numbers the sites in the order in which they are reached, and refuses those
 * from first to last.
 */
#include "abd_test.h"

#include "abd_mem.h"

static atomic_size_t met;
static size_t first, last;

static bool fault(void)
{
	size_t n = atomic_fetch_add(&met, 1);

	return n >= first && n <= last;
}

static void begin(size_t from, size_t to)
{
	atomic_store(&abd_mem_fault, NULL);
	atomic_store(&met, 0);
	first = from;
	last = to;
	atomic_store(&abd_mem_fault, fault);
}

void abd_test_fault_count(void)
{
	begin(1, 0);
}

void abd_test_fault_at(size_t n)
{
	begin(n, n);
}

void abd_test_fault_from(size_t n)
{
	begin(n, SIZE_MAX);
}

size_t abd_test_fault_end(void)
{
	atomic_store(&abd_mem_fault, NULL);
	return atomic_load(&met);
}
