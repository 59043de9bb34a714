/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From bytes to contents, and back: dedupe with proof, and the miss path. A block that is read and
 * not cached is fetched once, into the cache's own memory, however many readers want it.
 *
 * Order: nobody waits for a fill under a map lock; who fills may take one. While the file is read
 * no lock is held. So writes of the block go on, and overtake the fill.
 */
#include "device.h"

#include "nbdkit_api.h"

#include <inttypes.h>
#include <string.h>

/* ---- bytes to content ------------------------------------------------------------------------ */

/* Bytes [from, from + size) of a content, out of the log, which may not have it (any more). */
static int load_from_log(
	struct device *device, const struct content *content, void *dst, size_t from, size_t size)
{
	bool compressed;
	abd_t payload;
	int error = log_pin(&device->log, content, &payload, &compressed);

	if (error != 0)
		return error;
	if (!compressed)
		abd_copy_to_buf_off(dst, &payload, from, size);
	else if (abd_lz4_decompress_range_to_buf(
			 dst, &payload, from, size, 0, abd_get_size(&payload)) != (ssize_t)size)
		error = -EBADMSG;
	log_unpin(&device->log, &payload);
	return error;
}

/*
 * Prove the guess that a checksum makes: compare all bytes, from the cache or the log. If neither
 * has them, there is no proof.
 */
static bool content_is(struct device *device, const struct content *content, const abd_t *block)
{
	size_t size = device->block_size;
	abd_t *plain = abd_alloc_linear(size, false);
	abd_arc_key_t key = cache_key(content->id);
	bool same;

	if (plain == NULL)
		return false;
	same = abd_arc_read(device->arc, &key, abd_to_buf(plain), 0, size) >= 0 ||
	       load_from_log(device, content, abd_to_buf(plain), 0, size) == 0;
	same = same && abd_equal(plain, block);
	abd_free(plain);
	return same;
}

static struct content *find_same(struct device *device, uint64_t checksum, const abd_t *block)
{
	struct content *content = content_find(&device->contents, checksum);

	if (content == NULL)
		return NULL;
	if (content_is(device, content, block)) {
		atomic_fetch_add_explicit(&device->dedupe_hits, 1, memory_order_relaxed);
		return content;
	}
	atomic_fetch_add_explicit(&device->dedupe_refuted, 1, memory_order_relaxed);
	device_put_content(device, content);
	return NULL;
}

/* One that is there, or a new one under id, which is not listed yet. NULL: no memory. */
static struct content *content_of(struct device *device, const abd_t *block, uint64_t id)
{
	struct content *content;
	uint64_t checksum;

	if (abd_cmp_zero(block, device->block_size) == 0)
		return &device->contents.zero;
	checksum = abd_xxh3(block, 0, device->block_size, 0);
	content = find_same(device, checksum, block);
	return content != NULL ? content : content_new(&device->contents, checksum, id);
}

struct content *device_content(struct device *device, void *bytes)
{
	struct content *content;
	abd_t block;

	abd_get_from_buf_struct(&block, bytes, device->block_size);
	content = content_of(device, &block, contents_next_id(&device->contents));
	if (content != NULL && !content->is_listed) {
		abd_arc_key_t key = cache_key(content->id);

		/* what does not fit is not cached */
		(void)abd_arc_put(device->arc, &key, bytes, device->block_size);
		content_list(&device->contents, content);
	}
	abd_free(&block);
	return content;
}

/*
 * Let the map know what the backing file holds of a block. Under its map lock; for reading will do,
 * because only the one thread that fills in the block's first content learns it.
 */
static void learn(struct device *device, uint64_t block, const abd_t *bytes)
{
	struct content *content = content_of(device, bytes, content_first_id(block));

	/* without memory it stays unknown */
	atomic_store(&device->map.entry[block].content, content);
	if (content != NULL && !content->is_listed)
		content_list(&device->contents, content);
}

/* ---- content to bytes ------------------------------------------------------------------------ */

/* The id under which a block is cached, if it is; 0: it holds zeroes. Under its map lock. */
static uint64_t id_of(struct device *device, uint64_t block)
{
	const struct content *content = atomic_load(&device->map.entry[block].content);

	return content != NULL ? content->id : content_first_id(block);
}

/* The log's form goes into the cache as it is: lz4, if *stored_size is less than the block's. */
static int fetch_from_log(
	struct device *device, const struct content *content, abd_t *dst, size_t *stored_size)
{
	bool compressed;
	abd_t payload;
	int error = log_pin(&device->log, content, &payload, &compressed);

	if (error != 0)
		return error;
	*stored_size = abd_get_size(&payload);
	abd_copy_off(dst, &payload, 0, 0, *stored_size);
	log_unpin(&device->log, &payload);
	atomic_fetch_add_explicit(&device->fetches_log, 1, memory_order_relaxed);
	return 0;
}

static int fetch_from_file(struct device *device, uint64_t block, abd_t *dst)
{
	size_t bytes = device_block_bytes(device, block);
	int error = backing_read(&device->backing, dst, block * device->block_size, bytes);

	if (error == 0 && bytes < device->block_size)
		abd_zero_off(dst, bytes, device->block_size - bytes);
	atomic_fetch_add_explicit(&device->fetches_file, 1, memory_order_relaxed);
	return error;
}

/* The file must still have the bytes whose checksum is known. */
static int check(struct device *device, uint64_t block, const abd_t *bytes)
{
	const struct content *content = atomic_load(&device->map.entry[block].content);

	if (content == NULL || abd_xxh3(bytes, 0, device->block_size, 0) == content->checksum)
		return 0;
	return -EBADMSG;
}

/* ---- through the cache ----------------------------------------------------------------------- */

/* Under the map lock, which is given up while the file is read. -ESTALE: as read_kept(). */
static int fill_from_file(struct device *device, uint64_t block, uint64_t id, abd_t *dst)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	const struct map_entry *entry = &device->map.entry[block];
	int error;

	pthread_rwlock_unlock(lock);
	error = fetch_from_file(device, block, dst);
	pthread_rwlock_rdlock(lock);
	/* A write came meanwhile, perhaps with a checkpoint, which changes the file. */
	if (id_of(device, block) != id || entry->dirty != 0)
		return -ESTALE;
	if (error == 0)
		error = check(device, block, dst);
	if (error == 0 && entry->content == NULL)
		learn(device, block, dst);
	/* It has another content if that was there already. */
	return error != 0 || id_of(device, block) == id ? error : -ESTALE;
}

static int fill_in(struct device *device, uint64_t block, uint64_t id, abd_arc_fill_t *fill,
	abd_arc_hold_t *hold)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	const struct map_entry *entry = &device->map.entry[block];
	size_t size = device->block_size, stored_size = size;
	int error = -ESTALE;

	pthread_rwlock_rdlock(lock);
	if (id_of(device, block) == id)
		error = entry->dirty != 0
				? fetch_from_log(device, entry->content, fill->abd, &stored_size)
				: fill_from_file(device, block, id, fill->abd);
	pthread_rwlock_unlock(lock);
	if (error == 0)
		return abd_arc_fill_commit(
			fill, stored_size, size, stored_size < size ? ABD_ARC_STORED : 0, hold);
	abd_arc_fill_abandon(fill);
	return error;
}

/* -ESTALE: the block holds something else than the content of id by now. */
static int read_kept(
	struct device *device, uint64_t block, uint64_t id, void *dst, size_t from, size_t size)
{
	abd_arc_key_t key = cache_key(id);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	int error = abd_arc_hold_or_fill(device->arc, &key, device->block_size, 0, &hold, &fill);
	ssize_t got;

	if (error == 1)
		error = fill_in(device, block, id, &fill, &hold);
	if (error != 0)
		return error;
	got = abd_arc_hold_read(&hold, dst, from, size);
	abd_arc_release(&hold);
	return got < 0 ? (int)got : 0;
}

int device_read_block(struct device *device, uint64_t block, void *dst, size_t from, size_t size)
{
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	int error = -ESTALE;

	while (error == -ESTALE) {
		uint64_t id;

		pthread_rwlock_rdlock(lock);
		id = id_of(device, block);
		pthread_rwlock_unlock(lock);
		if (id == 0)
			memset(dst, 0, size);
		error = id == 0 ? 0 : read_kept(device, block, id, dst, from, size);
	}
	/* The cache can't, or what it got was wrong: look again, under the lock. */
	if (error != 0) {
		pthread_rwlock_rdlock(lock);
		error = device_load(device, block, dst, from, size);
		pthread_rwlock_unlock(lock);
	}
	return error;
}

void device_read_ahead(struct device *device, uint64_t offset, uint64_t size)
{
	uint64_t block = offset / device->block_size;
	pthread_rwlock_t *lock = map_lock_of(&device->map, block);
	abd_arc_key_t key;
	bool is_clean;

	pthread_rwlock_rdlock(lock);
	key = cache_key(id_of(device, block));
	is_clean = device->map.entry[block].dirty == 0;
	pthread_rwlock_unlock(lock);
	if (is_clean && key.dva[0] != 0 && !abd_arc_contains(device->arc, &key))
		backing_read_ahead(&device->backing, offset, size);
}

/* ---- beside the cache ------------------------------------------------------------------------ */

static int load_from_file(
	struct device *device, uint64_t block, void *dst, size_t from, size_t size)
{
	abd_t *whole = abd_alloc_linear(device->block_size, false);
	int error = whole != NULL ? fetch_from_file(device, block, whole) : -ENOMEM;

	if (error == 0)
		error = check(device, block, whole);
	if (error == 0)
		abd_copy_to_buf_off(dst, whole, from, size);
	abd_free(whole);
	return error;
}

int device_load(struct device *device, uint64_t block, void *dst, size_t from, size_t size)
{
	const struct map_entry *entry = &device->map.entry[block];
	abd_arc_key_t key = cache_key(id_of(device, block));
	int error = 0;

	if (key.dva[0] == 0)
		memset(dst, 0, size);
	else if (abd_arc_read_flags(device->arc, &key, dst, from, size, ABD_ARC_NO_TOUCH) < 0)
		error = entry->dirty != 0 ? load_from_log(device, entry->content, dst, from, size)
					  : load_from_file(device, block, dst, from, size);
	if (error == -EBADMSG || error == -ENOENT) {
		nbdkit_error("%s: block %" PRIu64 " is not what was written",
			entry->dirty != 0 ? device->log.path : device->backing.path, block);
		error = -EIO;
	}
	return error;
}
