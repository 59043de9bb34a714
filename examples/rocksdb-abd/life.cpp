/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RocksDB's block caches under the phases of `abd-perf run arc-life`, by --cache: LRUCache, or with
 * ABD_LIFE_CLOCK the HyperClockCache. As RocksDB does it, a record is memory of malloc, charged by
 * its usable size, and the cache charges its own tables too.
 */
#include "abd_perf_life.h"

#include <rocksdb/cache.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>

namespace
{
using rocksdb::Cache;
using rocksdb::Slice;
using shared = std::shared_ptr<Cache>;

Cache *of(abd_arc_t *arc)
{
	return reinterpret_cast<shared *>(arc)->get();
}

/* HyperClockCache takes keys of 16 bytes only. */
struct short_key {
	uint64_t word[2];
	explicit short_key(const abd_arc_key_t &key) : word{key.pool, key.dva[0]} {}
	Slice slice() const { return {reinterpret_cast<const char *>(word), sizeof(word)}; }
};

abd_arc_t *create(size_t capacity)
{
#ifdef ABD_LIFE_CLOCK
	/* A record of arc-life takes 2 to 32 KiB on average, by phase; too low is better than too
	 * high. */
	shared cache = rocksdb::HyperClockCacheOptions(capacity, 4096).MakeSharedCache();
#else
	shared cache = rocksdb::NewLRUCache(capacity);
#endif
	return cache ? reinterpret_cast<abd_arc_t *>(new shared(cache)) : nullptr;
}

int put(abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size)
{
	void *record = std::malloc(size);

	if (record == nullptr)
		return -ENOMEM;
	std::memcpy(record, buf, size);
	auto end = [](const Slice &, void *value) { std::free(value); };
	return of(arc)->Insert(short_key(*key).slice(), record, malloc_usable_size(record), end)
			       .ok()
		       ? 0
		       : -ENOMEM;
}

ssize_t read(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t len)
{
	Cache::Handle *handle = of(arc)->Lookup(short_key(*key).slice());

	if (handle == nullptr)
		return -ENOENT;
	std::memcpy(dst, static_cast<const char *>(of(arc)->Value(handle)) + off, len);
	of(arc)->Release(handle);
	return static_cast<ssize_t>(len);
}

int hold(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold)
{
	hold->entry = of(arc)->Lookup(short_key(*key).slice());
	hold->abd = reinterpret_cast<const abd_t *>(arc);
	return hold->entry != nullptr ? 0 : -ENOENT;
}

void release(abd_arc_hold_t *hold)
{
	of(reinterpret_cast<abd_arc_t *>(const_cast<abd_t *>(hold->abd)))
		->Release(static_cast<Cache::Handle *>(hold->entry));
}

int resize(abd_arc_t *arc, size_t capacity_bytes)
{
	of(arc)->SetCapacity(capacity_bytes);
	return 0;
}

int stats_get(abd_arc_t *arc, struct abd_arc_stats *stats, size_t)
{
	stats->capacity_bytes = of(arc)->GetCapacity();
	stats->used_bytes = of(arc)->GetUsage();
	return 0;
}

void destroy(abd_arc_t *arc)
{
	delete reinterpret_cast<shared *>(arc);
}
} // namespace

const struct abd_perf_life_cache abd_perf_life_cache = {
	create, put, read, hold, release, resize, stats_get, destroy};
