/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slow side of magazines: making, emptying and limiting them.
 */
#include "abd_magazine.h"
#include "abd_mem.h"
#include "abd_tunable.h"

#include <stdio.h>

atomic_uint abd_magazine_epoch;

/*
 * The tunable thread_cache_bytes. 8 MiB: 128 KiB buffers come and go by the dozen without a visit
 * to the source, and 64 threads keep half a GiB at most.
 */
static atomic_size_t abd_magazine_limit = 8 << 20;

void abd_magazine_start(struct abd_thread *thread)
{
	thread->reap_epoch = atomic_load(&abd_magazine_epoch);
	thread->room = atomic_load(&abd_magazine_limit);
}

/* Oldest first: what was freed last is warm and stays. */
static void abd_magazine_flush(struct abd_thread *thread, struct abd_magazine *magazine, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		magazine->source->free(magazine->slot[i], magazine->size, magazine->tag);
	for (unsigned i = n; i < magazine->count; i++)
		magazine->slot[i - n] = magazine->slot[i];
	magazine->count -= n;
	thread->room += n * magazine->size;
}

void abd_magazine_flush_all(struct abd_thread *thread)
{
	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++) {
		struct abd_magazine *magazine = thread->magazine[i];

		if (magazine == NULL)
			continue;
		abd_magazine_flush(thread, magazine, magazine->count);
		thread->magazine[i] = NULL;
		abd_mem_free(magazine, sizeof(*magazine), 64);
	}
}

void abd_magazine_reap(void)
{
	struct abd_thread *thread = abd_thread_current;

	atomic_fetch_add(&abd_magazine_epoch, 1);
	if (thread != NULL) {
		abd_magazine_flush_all(thread);
		abd_magazine_start(thread);
	}
	abd_quarantine_empty();
}

bool abd_magazine_relieve(void)
{
	struct abd_thread *thread = abd_thread_current;
	bool any = false;

	for (unsigned i = 0; thread != NULL && i < ABD_MAGAZINE_COUNT; i++)
		any |= thread->magazine[i] != NULL && thread->magazine[i]->count > 0;
	if (any)
		abd_magazine_reap();
	return any;
}

static struct abd_magazine *abd_magazine_make(
	const struct abd_source *source, size_t size, unsigned tag)
{
	struct abd_magazine *magazine = abd_mem_alloc(sizeof(*magazine), 64);

	if (magazine != NULL) {
		magazine->source = source;
		magazine->size = size;
		magazine->tag = tag;
		magazine->count = 0;
	}
	return magazine;
}

/* False: the block is still the caller's. */
bool abd_magazine_put_slow(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	struct abd_thread *thread = abd_thread_self();

	if (thread == NULL)
		return false;
	if (thread->reap_epoch != atomic_load_explicit(&abd_magazine_epoch, memory_order_relaxed)) {
		abd_magazine_flush_all(thread);
		abd_magazine_start(thread);
	}
	if (thread->magazine[index] == NULL && size <= thread->room)
		thread->magazine[index] = abd_magazine_make(source, size, tag);

	struct abd_magazine *magazine = thread->magazine[index];

	if (magazine == NULL)
		return false;
	if (magazine->count == ABD_MAGAZINE_SLOTS || size > thread->room)
		abd_magazine_flush(thread, magazine, (magazine->count + 1) / 2);
	if (size > thread->room)
		return false;
	thread->room -= size;
	magazine->slot[magazine->count++] = block;
	return true;
}

static int abd_magazine_limit_set(const char *value)
{
	uint64_t limit;

	if (!abd_tunable_parse(value, 0, SIZE_MAX, &limit))
		return -EINVAL;
	atomic_store(&abd_magazine_limit, (size_t)limit);
	abd_magazine_reap();
	return 0;
}

static const char *abd_magazine_limit_get(char *text, size_t size)
{
	snprintf(text, size, "%zu", atomic_load(&abd_magazine_limit));
	return text;
}

static const struct abd_tunable abd_base_tunable_table[] = {
	{"thread_cache_bytes", abd_magazine_limit_set, abd_magazine_limit_get},
};

static void abd_base_tunables_apply(void)
{
	abd_tunable_from_environment(&abd_base_tunables);
}

static void abd_base_tunables_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_base_tunables_apply);
}

const struct abd_tunables abd_base_tunables = {
	abd_base_tunable_table,
	sizeof(abd_base_tunable_table) / sizeof(abd_base_tunable_table[0]),
	abd_base_tunables_start,
};
