/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted bug: a record of the cache is read after the read-side section that found it.
 * usage: probe_rcu plant|clean
 *
 * The reader has read before the writer removes the record: the threads wait for each other with
 * relaxed atomics, which give an order in time but none in the memory model. So a checker must find
 * the missing order; it can't rely on a lucky crash. The reader stays until the writer is done: a
 * thread that ends takes the list's lock, which would give an order.
 */
#include "abd_arc_impl.h"
#include "abd_arc_rcu.h"

#include <abd/abd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 5000 };

static abd_arc_t *arc;
static const abd_arc_key_t key = {1, {2, 3}, 4};
static atomic_bool has_looked, is_freed;
static volatile unsigned char seen;

static void look(struct abd_arc_entry *entry)
{
	unsigned char byte;

	abd_copy_to_buf(&byte, abd_arc_entry_abd(entry), 1);
	seen = byte;
}

static void *read_record(void *plant)
{
	abd_arc_rcu_read_lock();
	struct abd_arc_entry *entry = abd_arc_index_find(arc->index, abd_arc_hash(arc, &key), &key);

	if (entry == NULL)
		abort();
	if (plant == NULL)
		look(entry);
	abd_arc_rcu_read_unlock();
	if (plant != NULL)
		look(entry);
	atomic_store_explicit(&has_looked, true, memory_order_relaxed);
	while (!atomic_load_explicit(&is_freed, memory_order_relaxed))
		usleep(1000);
	return NULL;
}

int main(int argc, char **argv)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
	char record[SIZE] = "record";
	pthread_t thread;

	if (argc != 2)
		return 2;
	/* Freed memory goes back at once. */
	abd_tuning_set("thread_cache_bytes", "0");
	arc = abd_arc_create(&config);
	if (arc == NULL || abd_arc_put(arc, &key, record, SIZE) != 0 ||
		pthread_create(&thread, NULL, read_record,
			strcmp(argv[1], "plant") == 0 ? argv : NULL) != 0)
		abort();
	while (!atomic_load_explicit(&has_looked, memory_order_relaxed))
		usleep(1000);
	if (abd_arc_remove(arc, &key) != 0 || abd_arc_resize(arc, ABD_ARC_CAPACITY_MIN) != 0)
		abort();
	atomic_store_explicit(&is_freed, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	abd_arc_destroy(arc);
	return 0;
}
