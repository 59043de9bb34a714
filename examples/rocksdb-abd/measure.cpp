/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One process of measure.py: reads a database through a block cache with one secondary cache, and
 * prints what the caches found, what a hit took, and how much memory is resident.
 *
 * usage: measure FOLDER fill BLOCK-SIZE rows|half KEYS VALUE-SIZE
 *        measure FOLDER read URI|- KEYS GETS-FIRST GETS THREADS PRIMARY-BYTES SEED
 * Keys are drawn by Zipf's law (exponent 0.99), scattered over the key space. GETS-FIRST per thread
 * fill the caches and are not counted. URI "-": no secondary cache.
 * Source of the draw: Gray et al., "Quickly Generating Billion-Record Synthetic Databases".
 */
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/secondary_cache.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <time.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace ROCKSDB_NAMESPACE;

namespace
{

uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

struct random_words {
	uint64_t state;

	uint64_t next() { return mix(state += 0x9e3779b97f4a7c15); }
	double part() { return double(next() >> 11) * 0x1p-53; }
};

struct zipf {
	static constexpr double theta = 0.99;
	double n, zeta, eta;

	explicit zipf(uint64_t count) : n(double(count)), zeta(0)
	{
		for (uint64_t i = 1; i <= count; i++)
			zeta += 1 / pow(double(i), theta);
		eta = (1 - pow(2 / n, 1 - theta)) / (1 - (1 + pow(0.5, theta)) / zeta);
	}
	uint64_t draw(random_words *words) const
	{
		double u = words->part(), at = u * zeta;

		if (at < 1)
			return 0;
		if (at < 1 + pow(0.5, theta))
			return 1;
		return uint64_t(n * pow(eta * u - eta + 1, 1 / (1 - theta)));
	}
};

uint64_t now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

/* Passes every call on, and times those that count. */
class timed final : public SecondaryCache
{
      public:
	explicit timed(std::shared_ptr<SecondaryCache> below) : cache(std::move(below)) {}
	const char *Name() const override { return cache->Name(); }
	Status Insert(const Slice &key, void *value, const Cache::CacheItemHelper *helper) override
	{
		uint64_t begin = now_ns();
		Status status = cache->Insert(key, value, helper);

		inserts++;
		insert_ns += now_ns() - begin;
		return status;
	}
	std::unique_ptr<SecondaryCacheResultHandle> Lookup(const Slice &key,
		const Cache::CreateCallback &create, bool wait, bool advise_erase,
		bool &is_in_sec_cache) override
	{
		uint64_t begin = now_ns();
		auto handle = cache->Lookup(key, create, wait, advise_erase, is_in_sec_cache);

		(handle != nullptr ? hits : misses)++;
		(handle != nullptr ? hit_ns : miss_ns) += now_ns() - begin;
		return handle;
	}
	bool SupportForceErase() const override { return cache->SupportForceErase(); }
	void Erase(const Slice &key) override { cache->Erase(key); }
	void WaitAll(std::vector<SecondaryCacheResultHandle *> handles) override
	{
		cache->WaitAll(std::move(handles));
	}

	std::shared_ptr<SecondaryCache> cache;
	std::atomic<uint64_t> hits{0}, misses{0}, inserts{0}, hit_ns{0}, miss_ns{0}, insert_ns{0};
};

/* VmRSS without the pages of files, in bytes. */
uint64_t resident()
{
	FILE *file = fopen("/proc/self/status", "r");
	uint64_t kib = 0;
	char line[256];

	while (file != nullptr && fgets(line, sizeof(line), file) != nullptr)
		sscanf(line, "RssAnon: %lu", &kib);
	if (file != nullptr)
		fclose(file);
	return kib << 10;
}

std::string key_of(uint64_t number)
{
	char key[32];

	snprintf(key, sizeof(key), "user%012lu", static_cast<unsigned long>(number));
	return key;
}

/* Half of each 100 bytes is random and printable, and occurs twice: db_bench's default. */
std::string half(random_words *words, size_t size)
{
	std::string value;

	while (value.size() < size) {
		std::string piece;

		for (unsigned i = 0; i < 50; i++)
			piece += char(' ' + words->next() % 95);
		value += piece + piece;
	}
	value.resize(size);
	return value;
}

/* A row as a service might keep it: a visit in JSON, with the pages that were seen. */
std::string rows(random_words *words, uint64_t number, size_t size)
{
	static const char *const kinds[] = {"view", "click", "search", "add_to_cart", "checkout"};
	static const char *const lands[] = {"DE", "FR", "GB", "IN", "JP", "PL", "US", "ZA"};
	static const zipf pages(5000), kind(5);
	uint64_t time = 1600000000 + words->next() % 100000000;
	std::string value = "{\"id\":" + std::to_string(number) + ",\"session\":\"" +
			    std::to_string(words->next()) + "\",\"country\":\"" +
			    lands[words->next() % 8] + "\",\"events\":[";

	while (value.size() + 2 < size) {
		uint64_t page = pages.draw(words);

		time += words->next() % 60;
		value += "{\"at\":" + std::to_string(time) + ",\"kind\":\"" +
			 kinds[kind.draw(words)] + "\",\"page\":\"/products/" +
			 std::to_string(mix(page) % 1000000) +
			 "\",\"took_ms\":" + std::to_string(words->next() % 1000) + "},";
	}
	value.resize(size - 2);
	return value + "]}";
}

BlockBasedTableOptions table_of(size_t block_size)
{
	BlockBasedTableOptions table;

	table.block_size = block_size;
	return table;
}

int fill(const char *folder, char **argv)
{
	uint64_t count = strtoull(argv[2], nullptr, 10);
	size_t size = strtoull(argv[3], nullptr, 10);
	random_words words = {1};
	Options options;
	DB *db = nullptr;

	options.create_if_missing = true;
	options.compression = kNoCompression;
	options.table_factory.reset(
		NewBlockBasedTableFactory(table_of(strtoull(argv[0], nullptr, 10))));
	Status status = DB::Open(options, folder, &db);

	for (uint64_t i = 0; status.ok() && i < count; i++)
		status = db->Put(WriteOptions(), key_of(i),
			argv[1][0] == 'h' ? half(&words, size) : rows(&words, i, size));
	if (status.ok())
		status = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
	printf("%s\n", status.ToString().c_str());
	delete db;
	return !status.ok();
}

int read(const char *folder, char **argv)
{
	std::string uri = argv[0], value;
	uint64_t count = strtoull(argv[1], nullptr, 10), first = strtoull(argv[2], nullptr, 10),
		 gets = strtoull(argv[3], nullptr, 10), seed = strtoull(argv[6], nullptr, 10);
	unsigned threads = unsigned(atoi(argv[4]));
	LRUCacheOptions primary(strtoull(argv[5], nullptr, 10), -1, false, 0.5);
	BlockBasedTableOptions table = table_of(4096);
	std::shared_ptr<timed> secondary;
	Options options;
	DB *db = nullptr;
	Status status;
	zipf law(count);

	if (uri != "-") {
		std::shared_ptr<SecondaryCache> below;

		status = SecondaryCache::CreateFromString(ConfigOptions(), uri, &below);
		if (status.ok())
			primary.secondary_cache = secondary = std::make_shared<timed>(below);
	}
	table.block_cache = NewLRUCache(primary);
	options.statistics = CreateDBStatistics();
	options.table_factory.reset(NewBlockBasedTableFactory(table));
	if (status.ok())
		status = DB::Open(options, folder, &db);
	if (!status.ok()) {
		fprintf(stderr, "%s\n", status.ToString().c_str());
		return 1;
	}

	std::atomic<uint64_t> failed{0};
	auto run = [&](uint64_t n, uint64_t phase) {
		std::vector<std::thread> all;

		for (unsigned t = 0; t < threads; t++)
			all.emplace_back([&, t] {
				random_words words = {mix(seed * 1000 + phase * 100 + t)};
				std::string got;

				for (uint64_t i = 0; i < n; i++)
					failed += !db->Get(ReadOptions(),
							     key_of(mix(law.draw(&words)) % count),
							     &got)
							   .ok();
			});
		for (auto &thread : all)
			thread.join();
	};
	run(first, 0);
	options.statistics->Reset();
	if (secondary != nullptr)
		secondary->hits = secondary->misses = secondary->inserts = secondary->hit_ns =
			secondary->miss_ns = secondary->insert_ns = 0;
	uint64_t begin = now_ns();
	run(gets, 1);
	uint64_t took = now_ns() - begin;
	uint64_t hits = options.statistics->getTickerCount(BLOCK_CACHE_HIT);
	uint64_t misses = options.statistics->getTickerCount(BLOCK_CACHE_MISS);
	auto per = [](uint64_t sum, uint64_t n) { return n > 0 ? double(sum) / double(n) : 0; };

	printf("{\"share\": %.5f, \"get_ns\": %.0f, \"resident\": %lu, \"failed\": %lu",
		double(hits) / double(hits + misses), double(took) / double(gets),
		static_cast<unsigned long>(resident()), static_cast<unsigned long>(failed));
	if (secondary != nullptr) {
		std::string stats;

		printf(", \"hits\": %lu, \"misses\": %lu, \"inserts\": %lu, \"hit_ns\": %.0f, "
		       "\"miss_ns\": %.0f, \"insert_ns\": %.0f",
			static_cast<unsigned long>(secondary->hits),
			static_cast<unsigned long>(secondary->misses),
			static_cast<unsigned long>(secondary->inserts),
			per(secondary->hit_ns, secondary->hits),
			per(secondary->miss_ns, secondary->misses),
			per(secondary->insert_ns, secondary->inserts));
		for (const char *name : {"entries", "stored_bytes", "logical_bytes", "used_bytes",
			     "index_bytes", "ghosts", "bar", "dictionary"})
			if (secondary->cache
					->GetOption(
						ConfigOptions(), std::string("abd.") + name, &stats)
					.ok())
				printf(", \"%s\": %s", name, stats.c_str());
	}
	printf("}\n");
	delete db;
	return 0;
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc == 7 && strcmp(argv[2], "fill") == 0)
		return fill(argv[1], argv + 3);
	if (argc == 10 && strcmp(argv[2], "read") == 0)
		return read(argv[1], argv + 3);
	fprintf(stderr, "usage: see measure.py\n");
	return 2;
}
