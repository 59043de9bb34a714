/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index over liburcu's lock-free hash table.
 *
 * Never CDS_LFHT_AUTO_RESIZE: in liburcu before 0.14 (b047e7a) destroying such a table inside a section deadlocks, and its worker
 * thread would be one the host knows nothing of. So abd_arc_put() resizes, outside of sections.
 * liburcu aborts when it finds no memory for a table, so we ask for that much first and go on with the old table if refused.
 */
#include "abd_arc_impl.h"

#include <abd/key.h>

#include <stdlib.h>

/* struct abd_arc_index is only ever a cds_lfht. */
static struct cds_lfht *abd_arc_index_table(struct abd_arc_index *index)
{
	return (struct cds_lfht *)(void *)index;
}

static struct abd_arc_entry *abd_arc_index_entry(struct cds_lfht_node *node)
{
	return node != NULL ? caa_container_of(node, struct abd_arc_entry, node.lfht) : NULL;
}

static int abd_arc_index_match(struct cds_lfht_node *node, const void *key)
{
	const struct abd_arc_entry *entry = caa_container_of(node, struct abd_arc_entry, node.lfht);

	return abd_key_equal(&entry->key, key, sizeof(entry->key));
}

size_t abd_arc_index_bytes(size_t buckets)
{
	return buckets * sizeof(struct cds_lfht_node);
}

static bool abd_arc_index_memory(size_t buckets)
{
	void *probe = abd_mem_refused() ? NULL : malloc(abd_arc_index_bytes(buckets));

	free(probe);
	return probe != NULL;
}

struct abd_arc_index *abd_arc_index_new(size_t buckets)
{
	/* The table's own struct is below 4 KiB; so is a bucket table of the smallest index. */
	if (!abd_arc_index_memory(buckets + 256))
		return NULL;
	return (struct abd_arc_index *)(void *)cds_lfht_new_flavor(
		buckets, 1, 0, 0, &urcu_bp_flavor, NULL);
}

void abd_arc_index_free(struct abd_arc_index *index)
{
	int error = cds_lfht_destroy(abd_arc_index_table(index), NULL);

	assert(error == 0);
	(void)error;
}

struct abd_arc_entry *abd_arc_index_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(
		abd_arc_index_table(index), (unsigned long)hash, abd_arc_index_match, key, &iter);
	return abd_arc_index_entry(cds_lfht_iter_get_node(&iter));
}

struct abd_arc_entry *abd_arc_index_put(
	struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry)
{
	struct cds_lfht_node *old;

	cds_lfht_node_init(&entry->node.lfht);
	abd_rcu_read_lock();
	old = cds_lfht_add_replace(abd_arc_index_table(index), (unsigned long)hash,
		abd_arc_index_match, &entry->key, &entry->node.lfht);
	abd_rcu_read_unlock();
	return abd_arc_index_entry(old);
}

void abd_arc_index_remove(struct abd_arc_index *index, struct abd_arc_entry *entry)
{
	abd_rcu_read_lock();
	int error = cds_lfht_del(abd_arc_index_table(index), &entry->node.lfht);

	abd_rcu_read_unlock();
	assert(error == 0);
	(void)error;
}

void abd_arc_index_resize(struct abd_arc_index *index, size_t buckets)
{
	if (abd_arc_index_memory(buckets))
		cds_lfht_resize(abd_arc_index_table(index), buckets);
}
