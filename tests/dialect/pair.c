/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The natural pair: the engine's zio_buf_alloc() and zio_buf_free() as they are, in the place of
 * the library's memory. OpenZFS's caches have sizes of half powers of two, each aligned to the
 * lowest bit of its size. This one refuses every 5th request once, which no caller may notice.
 * Linked with a program of this folder.
 */
#include <abd/buffer.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ulong asked, refused, unpaired;

static void *pair_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	size_t room = 512, align;
	char *start;

	(void)alignment, (void)is_metadata, (void)arg;
	if (++asked % 5 == 0) {
		refused++;
		return NULL;
	}
	while (room < size)
		room += room < 1024 ? 512 : (size_t)1 << (62 - __builtin_clzll(room));
	align = room % 4096 == 0 ? 4096 : room & -room;
	start = aligned_alloc(2 * align, (room + 3 * align - 1) / (2 * align) * (2 * align));
	if (start == NULL)
		return NULL;
	unpaired++;
	((void **)(void *)(start + align))[-1] = start;
	return start + align; /* a multiple of align, and of no more */
}

static void pair_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	(void)size, (void)is_metadata, (void)arg;
	unpaired--;
	free(((void **)buf)[-1]);
}

static __attribute__((constructor)) void pair_begin(void)
{
	const struct abd_allocator pair = {pair_alloc, pair_free, NULL};

	if (abd_allocator_set(&pair) != 0)
		abort();
}

static __attribute__((destructor)) void pair_end(void)
{
	printf("%lu of %lu requests refused, %lu not given back\n", refused, asked, unpaired);
	if (refused == 0 || unpaired != 0)
		abort();
}
