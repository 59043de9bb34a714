/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RocksDB on the plugin of examples/rocksdb-abd, which this program opens at run time.
 * usage: test_rocksdb PLUGIN FOLDER        FOLDER: where databases may be made
 * Each check that fails is printed; the exit status says whether there was one.
 */
#include <abd/abd.h>

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/secondary_cache.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace ROCKSDB_NAMESPACE;

namespace
{

unsigned checks, failures;
std::atomic<bool> refuse;

#define CHECK(what)                                                       \
	do {                                                              \
		checks++;                                                 \
		if (!(what)) {                                            \
			failures++;                                       \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
		}                                                         \
	} while (0)

void *engine_alloc(size_t size, size_t alignment, bool, void *)
{
	void *memory = nullptr;

	return refuse || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}

void engine_free(void *buf, size_t, bool, void *)
{
	free(buf);
}

std::shared_ptr<SecondaryCache> open(const std::string &uri)
{
	std::shared_ptr<SecondaryCache> cache;
	Status status = SecondaryCache::CreateFromString(ConfigOptions(), uri, &cache);

	if (!status.ok()) {
		printf("%s: %s\n", uri.c_str(), status.ToString().c_str());
		exit(1);
	}
	return cache;
}

bool opens(const std::string &uri)
{
	std::shared_ptr<SecondaryCache> cache;

	return SecondaryCache::CreateFromString(ConfigOptions(), uri, &cache).ok();
}

uint64_t count(const std::shared_ptr<SecondaryCache> &cache, const std::string &name)
{
	std::string value;

	CHECK(cache->GetOption(ConfigOptions(), "abd." + name, &value).ok());
	return strtoull(value.c_str(), nullptr, 10);
}

/* ---- the interface, by hand: an object is a std::string -------------------------------------- */

size_t size_of(void *object)
{
	return static_cast<std::string *>(object)->size();
}

Status save(void *object, size_t from, size_t length, void *out)
{
	memcpy(out, static_cast<std::string *>(object)->data() + from, length);
	return Status::OK();
}

void end(const Slice &, void *object)
{
	delete static_cast<std::string *>(object);
}

const Cache::CacheItemHelper helper(size_of, save, end);

Status make(const void *buf, size_t size, void **object, size_t *charge)
{
	*object = new std::string(static_cast<const char *>(buf), size);
	*charge = size;
	return Status::OK();
}

Status refuse_to_make(const void *, size_t, void **, size_t *)
{
	return Status::Corruption();
}

/* Compresses to about a half; `random` does not compress. */
std::string block(unsigned number, size_t size, bool random = false)
{
	std::string bytes(size, 'a');
	uint32_t word = number * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		word = word * 1664525u + 1013904223u;
		if (random || (i & 63) < 32)
			bytes[i] = static_cast<char>(word >> 24);
	}
	return bytes;
}

Status put(const std::shared_ptr<SecondaryCache> &cache, const Slice &key, std::string value)
{
	return cache->Insert(key, &value, &helper);
}

/* What is found, or "". */
std::string get(const std::shared_ptr<SecondaryCache> &cache, const Slice &key, bool erase = false,
	const Cache::CreateCallback &create = make)
{
	bool stays = true;
	static bool waits; /* by turns: RocksDB does both */
	auto handle = cache->Lookup(key, create, waits, erase, stays);

	waits = !waits;
	if (handle == nullptr)
		return "";
	CHECK(handle->IsReady() != waits);
	cache->WaitAll({handle.get()});
	CHECK(handle->IsReady() && !stays);
	if (handle->Value() == nullptr)
		return "";
	std::unique_ptr<std::string> value(static_cast<std::string *>(handle->Value()));
	CHECK(handle->Size() == value->size());
	return *value;
}

void test_uri()
{
	CHECK(opens("abd://"));
	CHECK(opens("abd://capacity=1M;effort=9;admission=2;checksum=true"));
	CHECK(opens("id=abd;capacity=1M"));
	CHECK(!opens("abd://capacity=1"));
	CHECK(!opens("abd://capacity=much"));
	CHECK(!opens("abd://effort=13"));
	CHECK(!opens("abd://zstd=99"));
	CHECK(!opens("abd://zstd=3;dictionary=1023"));
	CHECK(!opens("abd://zstd=3;dictionary=1048577"));
	CHECK(!opens("abd://admission=256"));
	CHECK(!opens("abd://nothing=1"));
}

void test_blocks(const char *codec)
{
	auto cache = open(std::string("abd://capacity=4M;admission=0") + codec);
	std::string value;
	size_t capacity = 0;

	for (size_t size : {1, 100, 4096, 8192, 65536, 300000}) {
		std::string key = "key " + std::to_string(size);

		CHECK(get(cache, key).empty());
		CHECK(put(cache, key, block(1, size)).ok());
		CHECK(get(cache, key) == block(1, size));
		CHECK(put(cache, key + "r", block(2, size, true)).ok());
		CHECK(get(cache, key + "r") == block(2, size, true));
	}
	if (*codec == 0)
		CHECK(count(cache, "logical_bytes") > count(cache, "stored_bytes"));
	else
		CHECK(count(cache, "stored_bytes") < 2 * 377000 / 8 * 7);
	CHECK(count(cache, "hits") > 0);
	CHECK(get(cache, "key 4096", false, refuse_to_make).empty());

	/* a block that comes back is not stored again */
	uint64_t puts = count(cache, "puts");
	CHECK(put(cache, "key 4096", block(1, 4096)).ok());
	CHECK(count(cache, "puts") == puts);
	cache->Erase("key 4096");
	CHECK(get(cache, "key 4096").empty());
	cache->Erase("never there");

	/* keys are whole, lengths and zeroes included; what is longer than 31 bytes is not kept */
	CHECK(put(cache, Slice("k\0", 2), block(3, 500)).ok());
	CHECK(get(cache, "k").empty());
	CHECK(put(cache, std::string(31, 'k'), block(4, 500)).ok());
	CHECK(get(cache, std::string(31, 'k')) == block(4, 500));
	CHECK(put(cache, std::string(32, 'k'), block(5, 500)).ok());
	CHECK(get(cache, std::string(32, 'k')).empty());

	/* more than the cache can ever hold is left out; no value is no block */
	CHECK(put(cache, "large", block(6, 8 << 20, true)).ok());
	CHECK(get(cache, "large").empty());
	CHECK(cache->Insert("none", nullptr, &helper).IsInvalidArgument());

	for (unsigned i = 0; i < 2000; i++)
		CHECK(put(cache, "n" + std::to_string(i), block(i, 4096)).ok());
	CHECK(count(cache, "used_bytes") > 3 << 20);
	CHECK(cache->SetCapacity(1 << 20).ok());
	CHECK(count(cache, "used_bytes") <= 1 << 20);
	CHECK(cache->GetCapacity(capacity).ok() && capacity == 1 << 20);
	CHECK(cache->SetCapacity(1).IsInvalidArgument());
	CHECK(cache->GetCapacity(capacity).ok() && capacity == 1 << 20);
	CHECK(get(cache, "n1999") == block(1999, 4096));
	CHECK(cache->SetCapacity(8 << 20).ok());
	CHECK(get(cache, "n1999") == block(1999, 4096));

	CHECK(cache->GetOption(ConfigOptions(), "abd.stats", &value).ok());
	CHECK(value.find("abd.hits : ") != std::string::npos);
	CHECK(cache->GetOption(ConfigOptions(), "abd.nothing", &value).IsNotFound());
	CHECK(cache->GetOption(ConfigOptions(), "effort", &value).ok());
	CHECK(cache->GetPrintableOptions().find("capacity : 8388608") != std::string::npos);
}

/* A visit in JSON, as many services keep it: blocks have words in common, and little else. */
std::string visit(unsigned number)
{
	std::string text;

	for (unsigned i = 0; text.size() < 2000; i++)
		text += "{\"customer_number\":" + std::to_string(number * 2654435761u + i * 40503) +
			",\"delivery_address\":\"" + std::to_string(number % 97 + i) +
			" High Street\"}";
	return text;
}

/* Frames from before the dictionary and with it; two threads bring the last sample. */
void test_dictionary()
{
	auto with = open("abd://capacity=16M;admission=0;zstd=3");
	auto without = open("abd://capacity=16M;admission=0;zstd=3;dictionary=0");
	std::thread threads[2];

	CHECK(put(with, "early", visit(7)).ok());
	CHECK(count(with, "dictionary") == 0);
	for (unsigned t = 0; t < 2; t++)
		threads[t] = std::thread([&, t] {
			for (unsigned i = t; i < 3000; i += 2)
				(void)put(with, std::to_string(i), visit(i));
		});
	for (auto &thread : threads)
		thread.join();
	for (unsigned i = 0; i < 3000; i++)
		CHECK(put(without, std::to_string(i), visit(i)).ok());
	CHECK(count(with, "dictionary") > 1000 && count(without, "dictionary") == 0);
	CHECK(get(with, "early") == visit(7));
	for (unsigned i = 0; i < 3000; i++)
		CHECK(get(with, std::to_string(i)) == visit(i) &&
			get(without, std::to_string(i)) == visit(i));
	CHECK(count(with, "stored_bytes") < count(without, "stored_bytes") / 10 * 9);
	/* blocks of which no dictionary can be made, perhaps */
	auto same = open("abd://capacity=16M;admission=0;zstd=3");
	for (unsigned i = 0; i < 300; i++)
		CHECK(put(same, std::to_string(i), std::string(4096, 'a')).ok());
	CHECK(get(same, "299") == std::string(4096, 'a'));
}

/* What RocksDB will keep itself leaves, where that is asked for. */
void test_erase()
{
	for (bool erase : {false, true}) {
		auto cache = open(erase ? "abd://admission=0;erase=true" : "abd://admission=0");

		CHECK(put(cache, "key", block(1, 4096)).ok());
		CHECK(get(cache, "key") == block(1, 4096));
		CHECK(get(cache, "key", true) == block(1, 4096));
		CHECK(get(cache, "key").empty() == erase);
	}
	CHECK(open("abd://")->SupportForceErase());
	CHECK(!open("abd://standalone=false")->SupportForceErase());
}

void test_admission()
{
	auto twice = open("abd://admission=2");

	CHECK(get(twice, "key").empty());
	CHECK(put(twice, "key", block(1, 4096)).ok());
	CHECK(get(twice, "key").empty());
	CHECK(count(twice, "refused") == 1);
	CHECK(put(twice, "key", block(1, 4096)).ok());
	CHECK(get(twice, "key") == block(1, 4096));

	/* once it is full, keys that come once don't push out what is asked for often */
	auto cache = open("abd://capacity=4M;admission=-1");
	unsigned kept = 0;

	for (unsigned round = 0; round < 30; round++)
		for (unsigned i = 0; i < 10000; i++) {
			bool often = i < 4000;
			std::string key = often ? "o" + std::to_string(i % 2000)
						: std::to_string(round) + "," + std::to_string(i);
			std::string found = get(cache, key);

			if (found.empty())
				CHECK(put(cache, key, block(i, 1200)).ok());
			kept += often && !found.empty() && round >= 15;
		}
	CHECK(kept >= 15 * 3900);
	CHECK(count(cache, "refused") > 1000);
	CHECK(count(cache, "bar") > 1);
}

/* ---- RocksDB --------------------------------------------------------------------------------- */

constexpr unsigned KEYS = 20000;

std::string value_of(unsigned number)
{
	return std::to_string(number) + block(number, 300);
}

std::unique_ptr<DB> database(const std::string &folder,
	const std::shared_ptr<SecondaryCache> &cache, const std::shared_ptr<Statistics> &statistics)
{
	LRUCacheOptions primary(256 << 10, 0, false, 0.5);
	BlockBasedTableOptions table;
	Options options;
	DB *db = nullptr;

	primary.secondary_cache = cache;
	table.block_cache = NewLRUCache(primary);
	table.block_size = 4096;
	table.filter_policy.reset(NewBloomFilterPolicy(10));
	table.cache_index_and_filter_blocks = true;
	options.create_if_missing = true;
	options.statistics = statistics;
	options.compression = kNoCompression;
	options.table_factory.reset(NewBlockBasedTableFactory(table));
	if (!DB::Open(options, folder, &db).ok())
		exit(1);
	return std::unique_ptr<DB>(db);
}

/* Read keys at random, a part of them often; returns how many values were wrong. */
unsigned read(DB *db, unsigned gets, uint32_t seed)
{
	unsigned wrong = 0;
	std::string value;

	for (unsigned i = 0; i < gets; i++) {
		seed = seed * 1664525u + 1013904223u;
		unsigned number = (seed >> 8) % ((seed & 0x80) != 0 ? KEYS : KEYS / 8);

		wrong += !db->Get(ReadOptions(), std::to_string(number), &value).ok() ||
			 value != value_of(number);
	}
	return wrong;
}

void test_database(const std::string &folder)
{
	auto statistics = CreateDBStatistics();
	auto cache = open("abd://capacity=4M;checksum=true"), other = open("abd://admission=0");
	auto db = database(folder, cache, statistics);
	std::thread threads[2];
	std::atomic<unsigned> wrong{0};

	for (unsigned i = 0; i < KEYS; i++)
		CHECK(db->Put(WriteOptions(), std::to_string(i), value_of(i)).ok());
	CHECK(db->Flush(FlushOptions()).ok());
	CHECK(read(db.get(), 40000, 1) == 0);
	uint64_t hits = count(cache, "hits");
	CHECK(hits > 10000);
	CHECK(statistics->getTickerCount(SECONDARY_CACHE_HITS) > 10000);

	/* threads, while the capacity changes */
	for (unsigned i = 0; i < 2; i++)
		threads[i] = std::thread([&, i] { wrong += read(db.get(), 40000, i + 2); });
	for (unsigned i = 0; i < 50; i++) {
		CHECK(cache->SetCapacity((i % 2 + 1) << 20).ok());
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	}
	for (auto &thread : threads)
		thread.join();
	CHECK(wrong == 0);
	CHECK(count(cache, "damaged") == 0);

	/* MultiGet asks for several blocks before it waits */
	std::vector<std::string> keys, values;
	for (unsigned i = 0; i < 64; i++)
		keys.push_back(std::to_string(i * 37));
	std::vector<Slice> slices(keys.begin(), keys.end());
	for (const Status &status : db->MultiGet(ReadOptions(), slices, &values))
		CHECK(status.ok());
	for (unsigned i = 0; i < 64; i++)
		CHECK(values[i] == value_of(i * 37));

	/* without memory RocksDB reads its file */
	refuse = true;
	abd_cache_reap_now();
	CHECK(put(other, "no memory", block(9, 200000)).IsMemoryLimit());
	CHECK(get(other, "no memory").empty());
	CHECK(read(db.get(), 5000, 9) == 0);
	refuse = false;
	CHECK(cache->SetCapacity(4 << 20).ok());
	hits = count(cache, "hits");
	CHECK(read(db.get(), 40000, 10) == 0);
	CHECK(count(cache, "hits") > hits);
}

} /* namespace */

int main(int argc, char **argv)
{
	const struct abd_allocator allocator = {engine_alloc, engine_free, nullptr};

	if (argc != 3 || dlopen(argv[1], RTLD_NOW) == nullptr) {
		printf("usage: test_rocksdb PLUGIN FOLDER: %s\n", argc == 3 ? dlerror() : "");
		return 2;
	}
	CHECK(abd_allocator_set(&allocator) == 0);
	test_uri();
	test_blocks("");
	test_blocks(";zstd=1");
	test_dictionary();
	test_erase();
	test_admission();
	test_database(argv[2]);
	printf("saw: %u checks of a secondary cache\n", checks);
	return failures > 0;
}
