/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How ZFS keeps lz4 blocks: the block's length in four big-endian bytes in front of it, and only if
 * it saves enough. Whether it might is guessed from samples: what is random, encrypted or
 * compressed already has all bytes as often as each other, and no four of them twice.
 * OpenZFS: zfs_lz4_compress_buf() in module/zfs/lz4_zfs.c, zio_get_compression_max_size() in
 * module/zfs/zio.c.
 */
#include "abd_lz4_frame.h"
#include "abd_check.h"
#include "abd_impl.h"

#include <abd/codec.h>
#include <abd/operate.h>

bool abd_lz4_pays(size_t size, size_t compressed_size)
{
	return compressed_size <= abd_lz4_room(size) && size > 0;
}

enum {
	SAMPLES = 16,
	SAMPLE_SIZE = 64,
	SAMPLED = SAMPLES * SAMPLE_SIZE,
	PHASE_SAMPLES = 4, /* how many samples have the same phase */
	PHASE = 1323,
	REPEATS_MIN = 3,        /* one in 30,000 records of noise has as many */
	SAMPLED_MIN = 64 << 10, /* trying less takes less than three times as long */
};

/*
 * Samples of one phase lie at multiples of a distance. If this distance is a multiple of a repeated
 * piece, they are equal, and the record is seen to repeat itself. Each phase begins PHASE bytes
 * later, so that samples also meet the repeated bytes of fio's pages, which begin with random ones.
 * Multiples of PHASE are spread over each power of two from 16 to 2,048: if every other field of a
 * record is random, not all samples may lie in random fields.
 */
static void abd_lz4_sample(uint8_t *to, const abd_t *src, size_t src_off, size_t src_size)
{
	size_t distance = src_size / SAMPLES;

	for (size_t i = 0; i < SAMPLES; i++) {
		size_t at = i * distance + i / PHASE_SAMPLES * PHASE;

		abd_copy_to_buf_off(to + i * SAMPLE_SIZE, src, src_off + at, SAMPLE_SIZE);
	}
}

/* How often four bytes have been seen before. Half of all places are looked at, which is enough. */
static unsigned abd_lz4_repeats(const uint8_t *sampled)
{
	uint16_t last[1024] = {0};
	unsigned count = 0;

	for (uint16_t at = 2; at + sizeof(uint32_t) <= SAMPLED; at += 2) {
		uint32_t word, before;
		uint16_t *seen;

		memcpy(&word, sampled + at, sizeof(word));
		seen = &last[word * 2654435761u >> 22];
		memcpy(&before, sampled + *seen, sizeof(before));
		count += before == word;
		*seen = at;
	}
	return count;
}

bool abd_lz4_might_pay(const abd_t *src, size_t src_off, size_t src_size)
{
	uint8_t sampled[SAMPLED];
	uint16_t count[256] = {0};
	uint32_t pairs = 0;

	abd_check_range(__func__, src, src_off, src_size);
	if (src_size < SAMPLED_MIN)
		return src_size > 0;
	abd_lz4_sample(sampled, src, src_off, src_size);
	for (size_t i = 0; i < SAMPLED; i++)
		count[sampled[i]]++;
	for (size_t i = 0; i < 256; i++)
		pairs += (uint32_t)count[i] * count[i];
	/* A tenth more pairs of equal bytes than by chance: there their number varies by 4.4 %. */
	return pairs - SAMPLED > SAMPLED * SAMPLED / 256 * 11 / 10 ||
	       abd_lz4_repeats(sampled) >= REPEATS_MIN;
}

void abd_lz4_length_put(abd_t *dst, size_t dst_off, uint32_t length)
{
	uint8_t bytes[ABD_LZ4_LENGTH_SIZE] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16),
		(uint8_t)(length >> 8), (uint8_t)length};

	abd_check_range(__func__, dst, dst_off, sizeof(bytes));
	abd_copy_from_buf_as(__func__, dst, bytes, dst_off, sizeof(bytes));
}

ssize_t abd_lz4_length_get(const abd_t *src, size_t src_off, size_t src_size)
{
	uint8_t bytes[ABD_LZ4_LENGTH_SIZE];
	uint32_t length;

	abd_check_range(__func__, src, src_off, src_size);
	if (src_size < sizeof(bytes))
		return -EBADMSG;
	abd_copy_to_buf_off(bytes, src, src_off, sizeof(bytes));
	length = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
		 bytes[3];
	return length <= src_size - sizeof(bytes) ? (ssize_t)length : -EBADMSG;
}
