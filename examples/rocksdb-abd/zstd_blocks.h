/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks compressed by zstd, for which the ARC is bytes as they are: a frame, or the block itself,
 * and behind it a byte that says which. A thread keeps its contexts.
 *
 * A block of 4 KiB is too short to learn from, and each frame repeats what all of them have in
 * common. So the first blocks are samples for a dictionary:
 *
 *   block, block, block ...    -> frames of their own, and samples
 *   samples are enough         -> the last ones, and the statistics of all, are the dictionary
 *   block, block, block ...    -> frames that refer to it
 *
 * ZDICT_trainFromBuffer() would look for the most useful strings instead of the last ones. It saves
 * 1 % more on JSON, takes 200 times as long, and 9 MiB of memory, much of which malloc keeps.
 *
 * Invariant: a dictionary, once there, stays as it is until the cache ends, so every frame can be
 * decoded. Where there is no memory for one, or it can't be made, frames do without.
 */
#ifndef ROCKSDB_ABD_ZSTD_BLOCKS_H
#define ROCKSDB_ABD_ZSTD_BLOCKS_H

#include <zdict.h>
#include <zstd.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace zstd_blocks
{

/** What the last byte says: the block itself, a frame, a frame that refers to the dictionary. */
enum kind : char { PLAIN = 0, FRAME = 1, WITH_DICTIONARY = 2 };

struct contexts {
	contexts()
	{
		/* The last byte says which dictionary, so the frame need not. */
		if (compress != nullptr)
			(void)ZSTD_CCtx_setParameter(compress.get(), ZSTD_c_dictIDFlag, 0);
	}
	std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> compress{
		ZSTD_createCCtx(), ZSTD_freeCCtx};
	std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx *)> decompress{
		ZSTD_createDCtx(), ZSTD_freeDCtx};
};

inline contexts &mine()
{
	static thread_local contexts all;

	return all;
}

/** The size of the block in a frame; 0: this is none. */
inline size_t size_of(const void *frame, size_t size)
{
	unsigned long long n = ZSTD_getFrameContentSize(frame, size);

	return n >= ZSTD_CONTENTSIZE_ERROR || n > PTRDIFF_MAX ? 0 : static_cast<size_t>(n);
}

class codec
{
      public:
	/** A dictionary of so many bytes will be made; 0: none. Before any other call. */
	void open(int compression_level, size_t dictionary_bytes)
	{
		level = compression_level;
		bytes = dictionary_bytes;
		learning = bytes > 0;
	}

	/** A block that will be stored: a sample, while these are wanted. May throw bad_alloc. */
	void learn(const void *block, size_t size)
	{
		if (!learning.load(std::memory_order_relaxed))
			return;

		std::unique_lock<std::mutex> locked(lock, std::try_to_lock);

		if (!locked.owns_lock() || !learning)
			return;
		samples.append(static_cast<const char *>(block), size);
		sizes.push_back(size);
		if (samples.size() < SAMPLES * bytes)
			return;
		learning = false;

		std::string all;
		std::vector<size_t> each;

		all.swap(samples);
		each.swap(sizes);
		make(all, each);
	}

	/** Compress src to fewer than room bytes of dst. PLAIN: it needs more, or no memory. */
	kind encode(void *dst, size_t room, const void *src, size_t size, size_t *stored) const
	{
		ZSTD_CCtx *context = mine().compress.get();
		const ZSTD_CDict *use = to_compress.load(std::memory_order_acquire);

		/* A block that found no room has left its context in the middle of a frame. */
		if (context == nullptr ||
			ZSTD_isError(ZSTD_CCtx_reset(context, ZSTD_reset_session_only)) ||
			ZSTD_isError(
				ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
			ZSTD_isError(ZSTD_CCtx_refCDict(context, use)))
			return PLAIN;
		size_t n = ZSTD_compress2(context, dst, room, src, size);

		if (ZSTD_isError(n) != 0)
			return PLAIN;
		*stored = n;
		return use != nullptr ? WITH_DICTIONARY : FRAME;
	}

	bool decode(void *dst, size_t size, const void *frame, size_t frame_size, kind how) const
	{
		ZSTD_DCtx *context = mine().decompress.get();
		const ZSTD_DDict *use = how == WITH_DICTIONARY ? to_decompress.get() : nullptr;

		if (context == nullptr || (how == WITH_DICTIONARY && use == nullptr))
			return false;
		return ZSTD_decompress_usingDDict(context, dst, size, frame, frame_size, use) ==
		       size;
	}

	/** Bytes of the dictionary; 0: there is none yet. */
	size_t dictionary_bytes() const
	{
		return to_compress.load(std::memory_order_acquire) != nullptr ? made : 0;
	}

      private:
	/* Bytes of samples for each byte of the dictionary, and of its tables at most. */
	static constexpr size_t SAMPLES = 100, TABLES = 256;

	void make(const std::string &all, const std::vector<size_t> &each)
	{
		std::string text(bytes + TABLES, 0);
		ZDICT_params_t parameters = {level, 0, 0};

		made = ZDICT_finalizeDictionary(&text[0], text.size(),
			all.data() + all.size() - bytes, bytes, all.data(), each.data(),
			static_cast<unsigned>(each.size()), parameters);
		if (ZDICT_isError(made) != 0)
			return;
		to_decompress.reset(ZSTD_createDDict(text.data(), made));
		owner.reset(ZSTD_createCDict(text.data(), made, level));
		if (to_decompress != nullptr)
			to_compress.store(owner.get(), std::memory_order_release);
	}

	int level = 0;
	size_t bytes = 0, made = 0;
	std::atomic<bool> learning{false};
	std::mutex lock;
	std::string samples;
	std::vector<size_t> sizes;
	std::unique_ptr<ZSTD_CDict, size_t (*)(ZSTD_CDict *)> owner{nullptr, ZSTD_freeCDict};
	std::unique_ptr<ZSTD_DDict, size_t (*)(ZSTD_DDict *)> to_decompress{
		nullptr, ZSTD_freeDDict};
	std::atomic<const ZSTD_CDict *> to_compress{nullptr};
};

} /* namespace zstd_blocks */

#endif
