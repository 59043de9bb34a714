/* SPDX-License-Identifier: BSD-2-Clause */
/* From bytes to contents, and back: dedupe with proof, and where a block's bytes come from. */
#include "device.h"

#include "nbdkit_api.h"

#include <inttypes.h>

/* ---- bytes to content ------------------------------------------------------------------------ */

/* Whether stored bytes, an lz4 block or plain, are those of the block. */
static bool stored_is(struct device *device, const abd_t *stored, size_t stored_size,
	bool compressed, const abd_t *block)
{
	size_t size = device->block_size;
	abd_t *plain;
	bool same;

	if (!compressed)
		return stored_size == size && abd_equal_off(stored, block, 0, 0, size);
	plain = abd_alloc_linear(size, false);
	if (plain == NULL)
		return false; /* not proven */
	same = abd_lz4_decompress(plain, stored, 0, size, 0, stored_size) == (ssize_t)size &&
	       abd_equal(plain, block);
	abd_free(plain);
	return same;
}

/*
 * Prove the guess that a checksum makes: compare all bytes, from the cache or the log. If neither
 * has them, there is no proof.
 */
static bool content_is(struct device *device, const struct content *content, const abd_t *block)
{
	abd_arc_hold_t hold;
	abd_t payload;
	bool compressed, same = false;

	if (cache_hold(&device->cache, content->id, &hold)) {
		same = stored_is(device, hold.abd, hold.stored_size, hold.compressed, block);
		abd_arc_release(&hold);
	} else if (log_pin(&device->log, content, &payload, &compressed) == 0) {
		same = stored_is(device, &payload, abd_get_size(&payload), compressed, block);
		log_unpin(&device->log, &payload);
	}
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

struct content *device_content(struct device *device, void *bytes)
{
	size_t size = device->block_size;
	struct content *content;
	uint64_t checksum;
	abd_t block;

	abd_get_from_buf_struct(&block, bytes, size);
	content = &device->contents.zero;
	if (abd_cmp_zero(&block, size) != 0) {
		checksum = abd_xxh3(&block, 0, size, 0);
		content = find_same(device, checksum, &block);
		if (content == NULL) {
			content = content_new(&device->contents, checksum);
			if (content != NULL) {
				cache_put(&device->cache, content->id, bytes, size);
				content_list(&device->contents, content);
			}
		}
	}
	abd_free(&block);
	return content;
}

/* ---- content to bytes ------------------------------------------------------------------------ */

static int load_from_log(struct device *device, const struct content *content, abd_t *dst)
{
	size_t size = device->block_size;
	bool compressed;
	abd_t payload;
	int error = log_pin(&device->log, content, &payload, &compressed);

	if (error != 0)
		return error;
	if (compressed) {
		if (abd_lz4_decompress(dst, &payload, 0, size, 0, abd_get_size(&payload)) !=
			(ssize_t)size)
			error = -EBADMSG;
	} else {
		abd_copy(dst, &payload, size);
	}
	log_unpin(&device->log, &payload);
	return error;
}

static int load_from_file(struct device *device, uint64_t block, abd_t *dst)
{
	size_t bytes = device_block_bytes(device, block);
	int error = backing_read(&device->backing, dst, block * device->block_size, bytes);

	if (error == 0 && bytes < device->block_size)
		abd_zero_off(dst, bytes, device->block_size - bytes);
	return error;
}

/*
 * Read a block whose checksum is known out of the backing file, which must still hold the same
 * bytes.
 */
static int load_known(struct device *device, uint64_t block, abd_t *dst)
{
	const struct map_entry *entry = &device->map.entry[block];
	int error;

	if (entry->dirty != 0)
		error = load_from_log(device, entry->content, dst);
	else
		error = load_from_file(device, block, dst);
	if (error == 0 && abd_xxh3(dst, 0, device->block_size, 0) != entry->content->checksum)
		error = -EBADMSG;
	if (error == -EBADMSG || error == -ENOENT) {
		nbdkit_error("%s: block %" PRIu64 " is not what was written",
			entry->dirty != 0 ? device->log.path : device->backing.path, block);
		error = -EIO;
	}
	return error;
}

static int load_unknown(struct device *device, uint64_t block, abd_t *dst)
{
	struct map_entry *entry = &device->map.entry[block];
	int error = load_from_file(device, block, dst);

	if (error == 0) /* without memory it stays unknown */
		entry->content = device_content(device, abd_to_buf(dst));
	return error;
}

int device_load(struct device *device, uint64_t block, abd_t *dst)
{
	const struct content *content = device->map.entry[block].content;
	void *bytes = abd_to_buf(dst);
	int error;

	if (content == NULL)
		return load_unknown(device, block, dst);
	if (content == &device->contents.zero) {
		abd_zero(dst, device->block_size);
		return 0;
	}
	if (cache_read(&device->cache, content->id, bytes, 0, device->block_size))
		return 0;
	error = load_known(device, block, dst);
	if (error == 0)
		cache_put(&device->cache, content->id, bytes, device->block_size);
	return error;
}
