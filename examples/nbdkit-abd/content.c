/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of contents: a hash table with chains. Its number of buckets follows from the device's
 * size, and each of CONTENT_LOCKS locks serves an equal share of them. The buckets are mapped
 * memory, so unused ones cost nothing.
 */
#include "content.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct content **bucket_of(struct contents *contents, uint64_t checksum)
{
	return &contents->bucket[checksum & (contents->bucket_count - 1)];
}

static pthread_mutex_t *lock_of(struct contents *contents, uint64_t checksum)
{
	return &contents->lock[checksum & (CONTENT_LOCKS - 1)];
}

static size_t bucket_bytes(const struct contents *contents)
{
	return (size_t)contents->bucket_count * sizeof(struct content *);
}

int contents_init(struct contents *contents, uint64_t blocks)
{
	uint64_t count = CONTENT_LOCKS;

	while (count < blocks)
		count *= 2;
	*contents = (struct contents){
		.bucket_count = count, .next_id = content_first_id(blocks), .zero.is_listed = true};
	contents->bucket = mmap(NULL, bucket_bytes(contents), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (contents->bucket == MAP_FAILED) {
		contents->bucket = NULL;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < CONTENT_LOCKS; i++)
		pthread_mutex_init(&contents->lock[i], NULL);
	return 0;
}

static void free_chains(struct contents *contents)
{
	for (uint64_t i = 0; i < contents->bucket_count && contents->count > 0; i++)
		while (contents->bucket[i] != NULL) {
			struct content *content = contents->bucket[i];

			contents->bucket[i] = content->next;
			free(content);
			contents->count--;
		}
}

void contents_fini(struct contents *contents)
{
	if (contents->bucket == NULL)
		return;
	free_chains(contents);
	munmap(contents->bucket, bucket_bytes(contents));
	contents->bucket = NULL;
	for (unsigned i = 0; i < CONTENT_LOCKS; i++)
		pthread_mutex_destroy(&contents->lock[i]);
}

uint64_t contents_next_id(struct contents *contents)
{
	return atomic_fetch_add_explicit(&contents->next_id, 1, memory_order_relaxed);
}

struct content *content_new(struct contents *contents, uint64_t checksum, uint64_t id)
{
	struct content *content = calloc(1, sizeof(*content));

	if (content == NULL)
		return NULL;
	content->id = id;
	content->checksum = checksum;
	content->refs = 1;
	atomic_fetch_add_explicit(&contents->count, 1, memory_order_relaxed);
	return content;
}

void content_list(struct contents *contents, struct content *content)
{
	struct content **bucket = bucket_of(contents, content->checksum);
	pthread_mutex_t *lock = lock_of(contents, content->checksum);

	pthread_mutex_lock(lock);
	content->next = *bucket;
	*bucket = content;
	content->is_listed = true;
	pthread_mutex_unlock(lock);
}

struct content *content_find(struct contents *contents, uint64_t checksum)
{
	pthread_mutex_t *lock = lock_of(contents, checksum);
	struct content *content;

	pthread_mutex_lock(lock);
	content = *bucket_of(contents, checksum);
	while (content != NULL && content->checksum != checksum)
		content = content->next;
	if (content != NULL)
		content->refs++;
	pthread_mutex_unlock(lock);
	return content;
}

void content_get(struct contents *contents, struct content *content)
{
	if (content == &contents->zero)
		return;
	pthread_mutex_lock(lock_of(contents, content->checksum));
	content->refs++;
	pthread_mutex_unlock(lock_of(contents, content->checksum));
}

/* The caller holds the bucket's lock. */
static void unlist(struct contents *contents, struct content *content)
{
	struct content **link = bucket_of(contents, content->checksum);

	while (*link != content)
		link = &(*link)->next;
	*link = content->next;
}

uint64_t content_put(struct contents *contents, struct content *content)
{
	pthread_mutex_t *lock;
	bool ended;
	uint64_t id = 0;

	if (content == NULL || content == &contents->zero)
		return 0;
	lock = lock_of(contents, content->checksum);
	pthread_mutex_lock(lock);
	ended = --content->refs == 0;
	if (ended && content->is_listed)
		unlist(contents, content);
	pthread_mutex_unlock(lock);
	if (ended) {
		id = content->id;
		free(content);
		atomic_fetch_sub_explicit(&contents->count, 1, memory_order_relaxed);
	}
	return id;
}
