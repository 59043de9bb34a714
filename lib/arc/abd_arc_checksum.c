/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 over a buffer: four running sums of its 32-bit little-endian words, a last part of a word filled up with zeroes.
 * OpenZFS: fletcher_4_native() in module/zcommon/zfs_fletcher.c.
 */
#include "abd_arc_impl.h"
#include "abd_iter.h"

#include <string.h>

struct abd_arc_fletcher {
	uint64_t sum[4];
	uint32_t word;  /* the last one's bytes so far, when a piece ends within a word */
	unsigned bytes; /* how many */
};

static void abd_arc_fletcher_word(struct abd_arc_fletcher *f, uint32_t word)
{
	f->sum[0] += word;
	f->sum[1] += f->sum[0];
	f->sum[2] += f->sum[1];
	f->sum[3] += f->sum[2];
}

static void abd_arc_fletcher_byte(struct abd_arc_fletcher *f, uint8_t byte)
{
	f->word |= (uint32_t)byte << (8 * f->bytes);
	if (++f->bytes < 4)
		return;
	abd_arc_fletcher_word(f, f->word);
	f->word = 0;
	f->bytes = 0;
}

static void abd_arc_fletcher_piece(struct abd_arc_fletcher *f, const uint8_t *data, size_t size)
{
	for (; size > 0 && f->bytes != 0; size--)
		abd_arc_fletcher_byte(f, *data++);
	for (; size >= 4; size -= 4, data += 4)
		abd_arc_fletcher_word(f,
			data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
				(uint32_t)data[3] << 24);
	for (; size > 0; size--)
		abd_arc_fletcher_byte(f, *data++);
}

void abd_arc_checksum(const abd_t *abd, uint64_t checksum[4])
{
	struct abd_arc_fletcher f = {{0}, 0, 0};
	struct abd_iter iter;

	abd_iter_begin(&iter, abd, 0, abd_get_size(abd));
	for (; iter.len > 0; abd_iter_advance(&iter, iter.len))
		abd_arc_fletcher_piece(&f, (const uint8_t *)iter.addr, iter.len);
	if (f.bytes > 0)
		abd_arc_fletcher_word(&f, f.word);
	memcpy(checksum, f.sum, sizeof(f.sum));
}
