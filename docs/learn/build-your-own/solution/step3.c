/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 3: large runs first, and what came out as one run is linear. */
#include "mini.h"

bool mini_is_linear(const struct mini *buffer)
{
	return buffer->count == 1;
}

/* The largest power of two that is at most n. */
static size_t power_of_two(size_t n)
{
	size_t power = 1;

	while (power <= n / 2)
		power *= 2;
	return power;
}

struct mini *mini_alloc(size_t size)
{
	if (size < 1536)
		return mini_alloc_linear(size);

	size_t pages = (size + PAGE - 1) / PAGE, largest = pages, bytes = 0;
	struct mini *all = mini_new(pages); /* there can't be more runs than pages */
	if (all == NULL)
		return NULL;
	all->end = mini_end_runs;
	all->count = 0;
	all->size = size;
	while (pages > 0) {
		size_t want = power_of_two(pages < largest ? pages : largest);
		char *run = mem_run(want);

		if (run != NULL) {
			size_t len = want * PAGE < size - bytes ? want * PAGE : size - bytes;

			all->piece[all->count++] = (struct piece){.addr = run, .len = len};
			bytes += len;
			pages -= want;
		} else if (want > 1) {
			largest = want / 2; /* refused: smaller ones for the rest of this buffer */
		} else {
			break;
		}
	}

	/* Now it is known how many there are: a struct of that size. */
	struct mini *buffer = pages > 0 ? NULL : mini_new(all->count);
	if (buffer != NULL) {
		buffer->size = size;
		buffer->end = mini_end_runs;
		for (size_t i = 0; i < all->count; i++)
			buffer->piece[i] = all->piece[i];
	} else {
		all->end(all);
	}
	all->end = NULL;
	all->count = (size + PAGE - 1) / PAGE; /* what it was made with */
	mini_free(all);
	return buffer;
}
