/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may come in: a key is asked for so often before its block is stored.
 *
 * Look-ups are counted in two rows of bytes; a key's count is the lesser of its two. What the cache
 * holds are the keys that were asked for most: so the bar is the count that as many keys reach as
 * the cache has records. It is found anew eight times in a window; at the window's end all counts
 * are halved, so what was popular long ago is forgotten. While there is room, everybody comes in.
 * Invariant: a lost increment, of two threads at once, is a lost increment and nothing worse.
 * Source: Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy"; the
 * bar stands for the victim's count, which the library's cache does not tell.
 */
#ifndef ROCKSDB_ABD_ADMISSION_H
#define ROCKSDB_ABD_ADMISSION_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

class admission
{
      public:
	/** `records`: about how many the cache holds. False: no memory. */
	bool open(size_t records)
	{
		size_t n = 1024;

		while (n < 8 * records)
			n *= 2;
		mask = n - 1;
		window = n;
		for (auto &row : rows) {
			row.reset(new (std::nothrow) cell[n]);
			if (row == nullptr)
				return false;
			for (size_t i = 0; i < n; i++)
				row[i].store(0, relaxed);
		}
		return true;
	}

	/** Count a look-up of a key. True: it is time for renew(). */
	bool note(uint64_t hash)
	{
		static thread_local unsigned pending;
		uint8_t least = count(hash);

		for (unsigned i = 0; i < 2 && least < UINT8_MAX; i++)
			if (at(i, hash).load(relaxed) == least)
				at(i, hash).store(least + 1, relaxed);
		if (++pending < BATCH)
			return false;
		pending = 0;
		return (seen.fetch_add(BATCH, relaxed) + BATCH) % (window / 8) == 0;
	}

	/** How often a key was asked for, as far as it is remembered. */
	uint8_t count(uint64_t hash) const
	{
		uint8_t a = at(0, hash).load(relaxed), b = at(1, hash).load(relaxed);

		return a < b ? a : b;
	}

	/** Whether the block of this key may be stored. */
	bool admits(uint64_t hash) const { return count(hash) >= bar.load(relaxed); }

	/** Find the bar for a cache that has so many records. One thread at a time. */
	void renew(size_t records, bool full)
	{
		size_t reach[UINT8_MAX + 1] = {0}, keys = 0;
		bool forget = seen.load(relaxed) % window < window / 8;
		unsigned least = UINT8_MAX;

		for (size_t i = 0; i <= mask; i++)
			reach[rows[0][i].load(relaxed)]++;
		while (least > 2 && keys + reach[least] <= records)
			keys += reach[least--];
		bar.store(full ? least : 1, relaxed);
		for (size_t i = 0; forget && i <= mask; i++)
			for (auto &row : rows)
				row[i].store(row[i].load(relaxed) / 2, relaxed);
	}

	unsigned now() const { return bar.load(relaxed); }

      private:
	using cell = std::atomic<uint8_t>;
	static constexpr auto relaxed = std::memory_order_relaxed;
	/* Each thread adds so many look-ups at once, so that they don't all write one line. */
	static constexpr unsigned BATCH = 64;

	cell &at(unsigned row, uint64_t hash) const
	{
		return rows[row][(row == 0 ? hash : hash >> 32) & mask];
	}
	std::unique_ptr<cell[]> rows[2];
	size_t mask = 0, window = BATCH;
	std::atomic<size_t> seen{0};
	std::atomic<unsigned> bar{1};
};

#endif
