/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks compressed by zstd, for which the ARC is bytes as they are: a frame, or the block itself,
 * and behind it a byte that says which. A thread keeps its contexts.
 */
#ifndef ROCKSDB_ABD_ZSTD_BLOCKS_H
#define ROCKSDB_ABD_ZSTD_BLOCKS_H

#include <zstd.h>

#include <cstddef>
#include <memory>

namespace zstd_blocks
{

struct contexts {
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

/** Compress src to fewer than room bytes of dst; 0: it needs more, or there is no memory. */
inline size_t encode(void *dst, size_t room, const void *src, size_t size, int level)
{
	ZSTD_CCtx *context = mine().compress.get();
	size_t n = context != nullptr ? ZSTD_compressCCtx(context, dst, room, src, size, level) : 0;

	return ZSTD_isError(n) != 0 ? 0 : n;
}

/** The size of the block in a frame; 0: this is none. */
inline size_t size_of(const void *frame, size_t size)
{
	unsigned long long n = ZSTD_getFrameContentSize(frame, size);

	return n >= ZSTD_CONTENTSIZE_ERROR || n > PTRDIFF_MAX ? 0 : static_cast<size_t>(n);
}

inline bool decode(void *dst, size_t size, const void *frame, size_t frame_size)
{
	ZSTD_DCtx *context = mine().decompress.get();

	return context != nullptr &&
	       ZSTD_decompressDCtx(context, dst, size, frame, frame_size) == size;
}

} /* namespace zstd_blocks */

#endif
