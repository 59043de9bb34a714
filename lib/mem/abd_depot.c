/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lock, and a list of batches for each magazine number. Blocks that leave go back to their
 * source after the lock is dropped.
 */
#include "abd_depot.h"
#include "abd_mem.h"
#include "abd_thread.h"

#include <pthread.h>

static pthread_mutex_t abd_depot_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abd_depot_batch *abd_depot_list[ABD_MAGAZINE_COUNT];
static atomic_size_t abd_depot_bytes_of[ABD_MAGAZINE_COUNT]; /* changed under the lock */
static size_t abd_depot_bytes;

atomic_size_t abd_depot_reserve = 64 << 20;

struct abd_depot_batch *abd_depot_batch_make(
	const struct abd_source *source, size_t size, unsigned tag)
{
	struct abd_depot_batch *batch = abd_mem_alloc(sizeof(*batch), 64);

	if (batch != NULL) {
		batch->source = source;
		batch->size = size;
		batch->tag = tag;
		batch->count = 0;
		batch->old = false;
	}
	return batch;
}

void abd_depot_batch_end(struct abd_depot_batch *batch)
{
	if (batch->count > 0)
		batch->source->free(batch->slot, batch->count, batch->size, batch->tag);
	abd_mem_free(batch, sizeof(*batch), 64);
}

static void abd_depot_end_all(struct abd_depot_batch *batch)
{
	while (batch != NULL) {
		struct abd_depot_batch *next = batch->next;

		abd_depot_batch_end(batch);
		batch = next;
	}
}

/* Take the batch *link out of its list. Under the lock. */
static struct abd_depot_batch *abd_depot_unlink(unsigned index, struct abd_depot_batch **link)
{
	struct abd_depot_batch *batch = *link;
	size_t bytes = batch->count * batch->size;

	*link = batch->next;
	abd_depot_bytes_of[index] -= bytes;
	abd_depot_bytes -= bytes;
	return batch;
}

/* The magazine number with most bytes in the depot. Under the lock. */
static unsigned abd_depot_largest(void)
{
	unsigned largest = 0;

	for (unsigned i = 1; i < ABD_MAGAZINE_COUNT; i++)
		if (abd_depot_bytes_of[i] > abd_depot_bytes_of[largest])
			largest = i;
	return largest;
}

void abd_depot_put(unsigned index, struct abd_depot_batch *batch)
{
	size_t bytes = batch->count * batch->size, limit = abd_depot_reserve_bytes() / 2;
	struct abd_depot_batch *leaving = NULL;

	if (bytes > limit) {
		abd_depot_batch_end(batch);
		return;
	}
	pthread_mutex_lock(&abd_depot_lock);
	while (abd_depot_bytes + bytes > limit) {
		unsigned largest = abd_depot_largest();
		struct abd_depot_batch *out = abd_depot_unlink(largest, &abd_depot_list[largest]);

		out->next = leaving;
		leaving = out;
	}
	batch->old = false;
	batch->next = abd_depot_list[index];
	abd_depot_list[index] = batch;
	abd_depot_bytes_of[index] += bytes;
	abd_depot_bytes += bytes;
	pthread_mutex_unlock(&abd_depot_lock);
	abd_depot_end_all(leaving);
}

struct abd_depot_batch *abd_depot_get(unsigned index)
{
	struct abd_depot_batch *batch = NULL;

	pthread_mutex_lock(&abd_depot_lock);
	if (abd_depot_list[index] != NULL)
		batch = abd_depot_unlink(index, &abd_depot_list[index]);
	pthread_mutex_unlock(&abd_depot_lock);
	return batch;
}

struct abd_depot_batch *abd_depot_get_any(unsigned index)
{
	if (atomic_load_explicit(&abd_depot_bytes_of[index], memory_order_relaxed) == 0)
		return NULL;
	return abd_depot_get(index);
}

static bool abd_depot_belongs(
	const struct abd_depot_batch *batch, const struct abd_source *source, unsigned group)
{
	return source == NULL || (batch->source == source && batch->tag >> 8 == group);
}

bool abd_depot_drain(const struct abd_source *source, unsigned group)
{
	struct abd_depot_batch *leaving = NULL;

	pthread_mutex_lock(&abd_depot_lock);
	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++)
		/* All batches of one list have the same source and tag. */
		while (abd_depot_list[i] != NULL &&
			abd_depot_belongs(abd_depot_list[i], source, group)) {
			struct abd_depot_batch *out = abd_depot_unlink(i, &abd_depot_list[i]);

			out->next = leaving;
			leaving = out;
		}
	pthread_mutex_unlock(&abd_depot_lock);
	bool any = leaving != NULL;

	abd_depot_end_all(leaving);
	return any;
}

void abd_depot_age(void)
{
	struct abd_depot_batch *leaving = NULL;

	pthread_mutex_lock(&abd_depot_lock);
	for (unsigned i = 0; i < ABD_MAGAZINE_COUNT; i++)
		for (struct abd_depot_batch **link = &abd_depot_list[i]; *link != NULL;) {
			if (!(*link)->old) {
				(*link)->old = true;
				link = &(*link)->next;
				continue;
			}
			struct abd_depot_batch *out = abd_depot_unlink(i, link);

			out->next = leaving;
			leaving = out;
		}
	pthread_mutex_unlock(&abd_depot_lock);
	abd_depot_end_all(leaving);
}

void abd_depot_fork_begin(void)
{
	pthread_mutex_lock(&abd_depot_lock);
}

void abd_depot_fork_end(void)
{
	pthread_mutex_unlock(&abd_depot_lock);
}
