/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RocksDB's side: a SecondaryCache whose blocks lie in an ARC of libabd, registered under abd://
 * when this shared object is loaded.
 *
 *   primary cache  -- it has no such block -->  Lookup: hold, decode once, make RocksDB's object
 *                  <-- it evicts a block ------  Insert: is it there? may it come in? then compress
 *                                                once, into the ARC's own memory
 *
 * Invariant: a key stands for the same bytes for ever, as a file's blocks do in RocksDB. So a block
 * that comes back from the primary cache and is still here is not compressed again.
 * Nothing here throws, and what can't be stored is not stored: RocksDB has the file.
 * RocksDB: SecondaryCache in include/rocksdb/secondary_cache.h, CompressedSecondaryCache.
 */
#include "admission.h"
#include "zstd_blocks.h"

#include <abd/abd.h>

#include <rocksdb/convenience.h>
#include <rocksdb/secondary_cache.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/options_type.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace
{

using namespace ROCKSDB_NAMESPACE;

struct abd_options {
	size_t capacity = 64 << 20;
	int effort = 0; /* of the search for matches, 0 to 12: abd_lz4_compress_effort() */
	int zstd = 0;   /* compress by zstd at that level; 0: by lz4 */
	size_t dictionary = 4096; /* bytes that zstd learns from the first blocks; 0: nothing */
	int admission = -1;     /* asked for so often; 0: every block; -1: as the cache can hold */
	bool erase = false;     /* what goes to the primary cache for good leaves this one */
	bool standalone = true; /* the primary cache takes a block only the second time */
	bool checksum = false;  /* verify each block's checksum at each hit */
	bool report = false;    /* the counters go to stderr when the cache ends */
};

#define OPTION(name, type)                                            \
	{                                                             \
#name,                                                \
		{                                                     \
			offsetof(abd_options, name), OptionType::type \
		}                                                     \
	}
const std::unordered_map<std::string, OptionTypeInfo> option_types = {
	OPTION(capacity, kSizeT),
	OPTION(effort, kInt),
	OPTION(zstd, kInt),
	OPTION(dictionary, kSizeT),
	OPTION(admission, kInt),
	OPTION(erase, kBoolean),
	OPTION(standalone, kBoolean),
	OPTION(checksum, kBoolean),
	OPTION(report, kBoolean),
};

class abd_secondary_cache;

/* Blocks that are looked up together. */
enum { BATCH = 32 };

/* A block that was found, or will be looked up. RocksDB takes its value and deletes the handle. */
class found final : public SecondaryCacheResultHandle
{
      public:
	bool IsReady() override { return cache == nullptr; }
	void Wait() override;
	void *Value() override { return value; }
	size_t Size() override { return charge; }

	void *value = nullptr;
	size_t charge = 0;
	/* Until it was looked up: where, and what for. */
	abd_secondary_cache *cache = nullptr;
	abd_arc_key_t key;
	Cache::CreateCallback create;
	bool advise_erase;
};

/* A key of the ARC has 32 bytes: RocksDB's own, zeroes, and its length. */
bool key_of(const Slice &from, abd_arc_key_t *key)
{
	unsigned char bytes[sizeof(*key)] = {0};

	if (from.size() >= sizeof(bytes))
		return false;
	memcpy(bytes, from.data(), from.size());
	bytes[sizeof(bytes) - 1] = static_cast<unsigned char>(from.size());
	memcpy(key, bytes, sizeof(bytes));
	return true;
}

uint64_t hash_of(const abd_arc_key_t &key)
{
	uint64_t hash = key.birth;

	for (uint64_t word : {key.pool, key.dva[0], key.dva[1]}) {
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

class abd_secondary_cache final : public SecondaryCache
{
      public:
	abd_secondary_cache() { RegisterOptions("AbdOptions", &options, &option_types); }

	~abd_secondary_cache() override
	{
		if (options.report && arc != nullptr)
			fputs(stats().c_str(), stderr);
		abd_arc_destroy(arc);
	}

	const char *Name() const override { return "abd"; }

	Status PrepareOptions(const ConfigOptions &config_options) override
	{
		struct abd_arc_config config = {};

		if (arc != nullptr)
			return Status::InvalidArgument("abd: options can't change any more");
		if (options.effort < 0 || options.effort > 12)
			return Status::InvalidArgument("abd: effort is 0 to 12");
		if (options.zstd < 0 || options.zstd > ZSTD_maxCLevel())
			return Status::InvalidArgument("abd: zstd is 0, or one of its levels");
		if (options.dictionary != 0 &&
			(options.dictionary < 1024 || options.dictionary > 1 << 20))
			return Status::InvalidArgument("abd: dictionary is 0, or 1K to 1M");
		if (options.admission < -1 || options.admission > UINT8_MAX)
			return Status::InvalidArgument("abd: admission is -1 to 255");
		config.config_size = sizeof(config);
		config.capacity_bytes = options.capacity;
		config.flags = options.checksum ? ABD_ARC_CHECKSUM : 0;
		if (options.admission != 0) /* the counts remember better */
			config.flags |= ABD_ARC_NO_GHOSTS;
		if (options.zstd > 0)
			zstd.open(options.zstd, options.dictionary);
		if (!gate.open(options.capacity / 2048))
			return Status::MemoryLimit("abd: no memory for the table of counts");
		arc = abd_arc_create(&config);
		if (arc == nullptr)
			return error_of(-errno, "abd: no cache of that capacity");
		return SecondaryCache::PrepareOptions(config_options);
	}

	std::unique_ptr<SecondaryCacheResultHandle> Lookup(const Slice &slice,
		const Cache::CreateCallback &create, bool wait, bool advise_erase,
		bool &is_in_sec_cache) override
	{
		std::unique_ptr<found> result(new (std::nothrow) found);

		is_in_sec_cache = false;
		if (result == nullptr || arc == nullptr || !key_of(slice, &result->key))
			return nullptr;
		if (gate.note(hash_of(result->key)))
			renew();
		/* One of a batch is looked up with the others: by WaitAll(). */
		result->cache = this;
		result->create = create;
		result->advise_erase = advise_erase;
		if (wait)
			result->Wait();
		if (wait && result->value == nullptr)
			result.reset();
		return result;
	}

	/* Look up what waits, all at once. One that is not there has no value. */
	void look_up(found **waiting, size_t count)
	{
		abd_arc_key_t keys[BATCH];
		abd_arc_hold_t holds[BATCH];
		int results[BATCH];

		for (size_t i = 0; i < count; i++)
			keys[i] = waiting[i]->key;
		(void)abd_arc_hold_many(arc, keys, holds, results, count);
		for (size_t i = 0; i < count; i++) {
			found *to = waiting[i];

			to->cache = nullptr;
			if (results[i] != 0)
				continue;
			if (make(holds[i], to->create, to) && to->advise_erase && options.erase)
				(void)abd_arc_hold_drop(arc, &holds[i]);
			abd_arc_release(&holds[i]);
		}
	}

	Status Insert(
		const Slice &slice, void *value, const Cache::CacheItemHelper *helper) override
	{
		abd_arc_key_t key;
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;

		if (value == nullptr)
			return Status::InvalidArgument("abd: no value");
		if (arc == nullptr || !key_of(slice, &key))
			return Status::OK();
		if (!abd_arc_contains(arc, &key) && !admits(hash_of(key))) {
			refused.fetch_add(1, std::memory_order_relaxed);
			return Status::OK();
		}
		size_t size = helper->size_cb(value), room = size + (options.zstd > 0);
		int got = abd_arc_hold_or_fill(arc, &key, room, ABD_ARC_NOWAIT, &hold, &fill);

		if (got == 0)
			abd_arc_release(&hold); /* it comes back: the ARC has learnt of a use */
		else if (got == 1)
			got = store(&fill, value, size, helper);
		if (got == -EAGAIN || got == -ENOSPC)
			return Status::OK(); /* another thread stores it; it can never fit */
		return error_of(got, "abd: a block was not stored");
	}

	bool SupportForceErase() const override { return options.standalone; }

	void Erase(const Slice &slice) override
	{
		abd_arc_key_t key;

		if (arc != nullptr && key_of(slice, &key))
			(void)abd_arc_remove(arc, &key);
	}

	/* Handles are ready when they are handed out. */
	void WaitAll(std::vector<SecondaryCacheResultHandle *> handles) override
	{
		found *waiting[BATCH];
		size_t count = 0;

		for (SecondaryCacheResultHandle *handle : handles) {
			if (!handle->IsReady())
				waiting[count++] = static_cast<found *>(handle);
			if (count == BATCH || (count > 0 && handle == handles.back())) {
				look_up(waiting, count);
				count = 0;
			}
		}
	}

	Status SetCapacity(size_t capacity) override
	{
		int error = abd_arc_resize(arc, capacity);

		if (error == 0)
			options.capacity = capacity;
		return error_of(error, "abd: no cache of that capacity");
	}

	Status GetCapacity(size_t &capacity) override
	{
		capacity = options.capacity;
		return Status::OK();
	}

	std::string GetPrintableOptions() const override
	{
		return "    capacity : " + std::to_string(options.capacity) +
		       "\n    effort : " + std::to_string(options.effort) +
		       "\n    admission : " + std::to_string(options.admission) + "\n" + stats();
	}

	/* As DB::GetProperty(): "abd.stats" is all counters in lines, "abd.hits" one of them. */
	Status GetOption(const ConfigOptions &config_options, const std::string &name,
		std::string *value) const override
	{
		if (name.compare(0, 4, "abd.") != 0)
			return SecondaryCache::GetOption(config_options, name, value);
		*value = name == "abd.stats" ? stats() : stat(name.c_str() + 4);
		return value->empty() ? Status::NotFound(name) : Status::OK();
	}

      private:
	static Status error_of(int error, const char *what)
	{
		if (error >= 0)
			return Status::OK();
		return error == -ENOMEM ? Status::MemoryLimit(what, strerror(ENOMEM))
					: Status::InvalidArgument(what, strerror(-error));
	}

	bool admits(uint64_t hash)
	{
		return options.admission < 0 ? gate.admits(hash)
					     : gate.count(hash) >= unsigned(options.admission);
	}

	void renew()
	{
		struct abd_arc_stats now;

		(void)abd_arc_stats_get(arc, &now, sizeof(now));
		gate.renew(now.entries, now.used_bytes >= now.capacity_bytes / 16 * 15);
	}

	/* Make RocksDB's object of what is held: from the bytes where they lie, or decoded once. */
	bool make(const abd_arc_hold_t &hold, const Cache::CreateCallback &create, found *result)
	{
		size_t size = hold.logical_size;
		void *copy = nullptr;
		const void *block;

		if (hold.compressed || !abd_is_linear(hold.abd)) {
			copy = abd_buf_alloc(size, false);
			if (copy == nullptr || abd_arc_hold_read(&hold, copy, 0, size) < 0) {
				abd_buf_free(copy, size);
				return false;
			}
			block = copy;
		} else {
			block = abd_to_buf_const(hold.abd);
		}
		bool made = options.zstd > 0 ? make_of_frame(block, size, create, result)
					     : make_of(block, size, create, result);
		abd_buf_free(copy, size);
		return made;
	}

	static bool make_of(
		const void *block, size_t size, const Cache::CreateCallback &create, found *result)
	{
		return create(block, size, &result->value, &result->charge).ok();
	}

	bool make_of_frame(
		const void *stored, size_t size, const Cache::CreateCallback &create, found *result)
	{
		auto how = zstd_blocks::kind(static_cast<const char *>(stored)[--size]);

		if (how == zstd_blocks::PLAIN)
			return make_of(stored, size, create, result);
		size_t full = zstd_blocks::size_of(stored, size);
		void *block = full > 0 ? abd_buf_alloc(full, false) : nullptr;
		bool made = block != nullptr && zstd.decode(block, full, stored, size, how) &&
			    make_of(block, full, create, result);

		abd_buf_free(block, full);
		return made;
	}

	/* End the fill with the block's bytes, compressed if that saves an eighth. */
	int store(abd_arc_fill_t *fill, void *value, size_t size,
		const Cache::CacheItemHelper *helper)
	{
		void *block = abd_buf_alloc(size, false);
		int error = -ENOMEM;

		if (block != nullptr)
			error = helper->saveto_cb(value, 0, size, block).ok() ? 0 : -EINVAL;
		if (error != 0)
			abd_arc_fill_abandon(fill);
		else if (options.zstd > 0)
			error = store_frame(fill, block, size);
		else
			error = store_block(fill, block, size);
		abd_buf_free(block, size);
		return error;
	}

	int store_block(abd_arc_fill_t *fill, void *block, size_t size)
	{
		unsigned flags = ABD_ARC_STORED;
		abd_t from;

		abd_get_from_buf_struct(&from, block, size);
		ssize_t stored =
			abd_lz4_compress_effort(fill->abd, &from, 0, 0, size, options.effort);

		if (stored <= 0 || !abd_lz4_pays(size, static_cast<size_t>(stored))) {
			abd_copy(fill->abd, &from, size);
			stored = static_cast<ssize_t>(size);
			flags = ABD_ARC_PLAIN;
		}
		abd_free(&from);
		return abd_arc_fill_commit(fill, static_cast<size_t>(stored), size, flags, nullptr);
	}

	int store_frame(abd_arc_fill_t *fill, const void *block, size_t size)
	{
		void *frame = abd_buf_alloc(size, false);
		char how = zstd_blocks::PLAIN;
		size_t n = size;

		try {
			zstd.learn(block, size);
		} catch (const std::bad_alloc &) {
		}
		if (frame != nullptr)
			how = zstd.encode(frame, size - size / 8, block, size, &n);
		abd_copy_from_buf_off(fill->abd, how != zstd_blocks::PLAIN ? frame : block, 0, n);
		abd_copy_from_buf_off(fill->abd, &how, n, 1);
		abd_buf_free(frame, size);
		return abd_arc_fill_commit(fill, n + 1, n + 1, ABD_ARC_PLAIN, nullptr);
	}

	std::string stats() const;
	std::string stat(const char *name) const;

	abd_options options;
	admission gate;
	zstd_blocks::codec zstd;
	abd_arc_t *arc = nullptr;
	std::atomic<uint64_t> refused{0};
};

#define COUNTER(name)                                       \
	{                                                   \
#name, offsetof(struct abd_arc_stats, name) \
	}
const struct {
	const char *name;
	size_t offset;
} counters[] = {
	COUNTER(hits),
	COUNTER(misses),
	COUNTER(puts),
	COUNTER(removes),
	COUNTER(evictions),
	COUNTER(damaged),
	COUNTER(ghost_hits_recent),
	COUNTER(ghost_hits_frequent),
	COUNTER(capacity_bytes),
	COUNTER(used_bytes),
	COUNTER(resident_bytes),
	COUNTER(stored_bytes),
	COUNTER(logical_bytes),
	COUNTER(entries),
	COUNTER(ghosts),
	COUNTER(index_bytes),
};

std::string abd_secondary_cache::stat(const char *name) const
{
	struct abd_arc_stats now = {};

	if (strcmp(name, "refused") == 0)
		return std::to_string(refused.load());
	if (strcmp(name, "bar") == 0)
		return std::to_string(gate.now());
	if (strcmp(name, "dictionary") == 0)
		return std::to_string(zstd.dictionary_bytes());
	if (arc != nullptr)
		(void)abd_arc_stats_get(arc, &now, sizeof(now));
	for (const auto &counter : counters) {
		uint64_t value;

		memcpy(&value, reinterpret_cast<const char *>(&now) + counter.offset,
			sizeof(value));
		if (strcmp(name, counter.name) == 0)
			return std::to_string(value);
	}
	return "";
}

std::string abd_secondary_cache::stats() const
{
	std::string text;

	for (const auto &counter : counters)
		text += "abd." + std::string(counter.name) + " : " + stat(counter.name) + "\n";
	for (const char *name : {"refused", "bar", "dictionary"})
		text += std::string("abd.") + name + " : " + stat(name) + "\n";
	return text;
}

void found::Wait()
{
	found *self = this;

	if (cache != nullptr)
		cache->look_up(&self, 1);
}

SecondaryCache *create(
	const std::string &uri, std::unique_ptr<SecondaryCache> *guard, std::string *message)
{
	std::unique_ptr<abd_secondary_cache> cache(new (std::nothrow) abd_secondary_cache);
	size_t at = uri.find("://");
	ConfigOptions config;
	Status status;

	/* RocksDB prepares what the factory made, once it has set its own options. */
	config.invoke_prepare_options = false;
	if (cache != nullptr && at != std::string::npos)
		status = cache->ConfigureFromString(config, uri.substr(at + 3));
	if (!status.ok())
		*message = status.ToString();
	else
		*guard = std::move(cache);
	return guard->get();
}

__attribute__((constructor)) void enter()
{
	ObjectLibrary::Default()->AddFactory<SecondaryCache>(
		ObjectLibrary::PatternEntry("abd").AddSeparator("://", false), create);
}

} /* namespace */
