/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarantine, in checked builds: freed blocks are filled with ABD_POISON, marked for
 * AddressSanitizer, and kept for a while. A use after free, or after return, then finds poison and
 * not the data of another user.
 * Invariant: a block that leaves the quarantine is still all poison. If not, somebody wrote to it,
 * which breaks the contract.
 */
#include "abd_quarantine.h"
#include "abd_contract.h"

#include <pthread.h>
#include <string.h>

#define ABD_QUARANTINE_BLOCKS 256
#define ABD_QUARANTINE_BYTES ((size_t)16 << 20)

struct abd_quarantined {
	const struct abd_source *source;
	void *block;
	size_t size;
	unsigned tag;
};

static pthread_mutex_t abd_quarantine_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_quarantined abd_quarantine_ring[ABD_QUARANTINE_BLOCKS];
static size_t abd_quarantine_first, abd_quarantine_count, abd_quarantine_bytes;

static size_t abd_quarantine_damage(const unsigned char *block, size_t size)
{
	size_t i = 0;

	while (i < size && block[i] == ABD_POISON)
		i++;
	return i;
}

/*
 * Give the oldest block back. The lock is dropped meanwhile, because the source may call the
 * library.
 */
static void abd_quarantine_leave(void)
{
	struct abd_quarantined old = abd_quarantine_ring[abd_quarantine_first];

	abd_quarantine_first = (abd_quarantine_first + 1) % ABD_QUARANTINE_BLOCKS;
	abd_quarantine_count--;
	abd_quarantine_bytes -= old.size;
	pthread_mutex_unlock(&abd_quarantine_lock);

	abd_asan_unpoison(old.block, old.size);
	size_t damage = abd_quarantine_damage(old.block, old.size);

	ABD_REQUIRE_IN("memory check", damage == old.size,
		"byte %zu of a block of %zu bytes at %p was written after the block was freed or returned",
		damage, old.size, old.block);
	old.source->free(&old.block, 1, old.size, old.tag);
	pthread_mutex_lock(&abd_quarantine_lock);
}

void abd_quarantine_guard(void *block, size_t used, size_t size)
{
	char *slack = (char *)block + used;

	memset(slack, ABD_POISON, size - used);
	abd_asan_poison(slack, size - used);
}

void abd_quarantine_unguard(void *block, size_t used, size_t size)
{
	unsigned char *slack = (unsigned char *)block + used;

	abd_asan_unpoison(slack, size - used);

	size_t damage = abd_quarantine_damage(slack, size - used);

	ABD_REQUIRE_IN("memory check", damage == size - used,
		"byte %zu of a block of %zu bytes at %p was written", used + damage, used, block);
}

void abd_quarantine_put(const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	memset(block, ABD_POISON, size);
	abd_asan_poison(block, size);

	pthread_mutex_lock(&abd_quarantine_lock);
	while (abd_quarantine_count > 0 &&
		(abd_quarantine_count == ABD_QUARANTINE_BLOCKS ||
			abd_quarantine_bytes + size > ABD_QUARANTINE_BYTES))
		abd_quarantine_leave();

	size_t place = (abd_quarantine_first + abd_quarantine_count) % ABD_QUARANTINE_BLOCKS;

	abd_quarantine_ring[place] = (struct abd_quarantined){source, block, size, tag};
	abd_quarantine_count++;
	abd_quarantine_bytes += size;
	pthread_mutex_unlock(&abd_quarantine_lock);
}

void abd_quarantine_empty(void)
{
	pthread_mutex_lock(&abd_quarantine_lock);
	while (abd_quarantine_count > 0)
		abd_quarantine_leave();
	pthread_mutex_unlock(&abd_quarantine_lock);
}
