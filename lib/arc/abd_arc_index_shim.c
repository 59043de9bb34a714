/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index for ThreadSanitizer and MemorySanitizer: chains of C11 atomics, every access of which they see. Built only for them;
 * see abd_rcu.h.
 * Invariant: writers are alone (the cache's lock); a link is stored with release once what it leads to is whole.
 */
#include "abd_arc_impl.h"

#include <abd/key.h>

#include <stdlib.h>

pthread_rwlock_t abd_rcu_shim = PTHREAD_RWLOCK_INITIALIZER;

#define ABD_ARC_INDEX_CHAINS 4096

struct abd_arc_index {
	struct abd_arc_node *_Atomic chain[ABD_ARC_INDEX_CHAINS];
};

typedef struct abd_arc_node *_Atomic abd_arc_index_link;

static struct abd_arc_entry *abd_arc_index_entry(struct abd_arc_node *node)
{
	return (struct abd_arc_entry *)(void *)((char *)node -
						offsetof(struct abd_arc_entry, node));
}

size_t abd_arc_index_bytes(size_t buckets)
{
	return buckets * 16;
}

struct abd_arc_index *abd_arc_index_new(size_t buckets)
{
	(void)buckets;
	return abd_mem_refused() ? NULL : calloc(1, sizeof(struct abd_arc_index));
}

void abd_arc_index_free(struct abd_arc_index *index)
{
	free(index);
}

static abd_arc_index_link *abd_arc_index_link_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	abd_arc_index_link *link = &index->chain[hash % ABD_ARC_INDEX_CHAINS];
	struct abd_arc_node *node;

	while ((node = atomic_load_explicit(link, memory_order_acquire)) != NULL) {
		if (node->hash == hash &&
			abd_key_equal(&abd_arc_index_entry(node)->key, key, sizeof(*key)))
			break;
		link = &node->next;
	}
	return link;
}

struct abd_arc_entry *abd_arc_index_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_node *node = atomic_load_explicit(
		abd_arc_index_link_find(index, hash, key), memory_order_acquire);

	return node != NULL ? abd_arc_index_entry(node) : NULL;
}

struct abd_arc_entry *abd_arc_index_put(
	struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry)
{
	abd_arc_index_link *link = abd_arc_index_link_find(index, hash, &entry->key);
	struct abd_arc_node *old = atomic_load(link);

	entry->node.hash = hash;
	atomic_store_explicit(&entry->node.next, old != NULL ? atomic_load(&old->next) : NULL,
		memory_order_relaxed);
	atomic_store_explicit(link, &entry->node, memory_order_release);
	return old != NULL ? abd_arc_index_entry(old) : NULL;
}

void abd_arc_index_remove(struct abd_arc_index *index, struct abd_arc_entry *entry)
{
	abd_arc_index_link *link = abd_arc_index_link_find(index, entry->node.hash, &entry->key);

	assert(atomic_load(link) == &entry->node);
	atomic_store_explicit(link, atomic_load(&entry->node.next), memory_order_release);
}

void abd_arc_index_resize(struct abd_arc_index *index, size_t buckets)
{
	(void)index, (void)buckets;
}
