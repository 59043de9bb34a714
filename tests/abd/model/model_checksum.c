/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that compute checksums: each against its definition, or against xxhash over flat
 * bytes; in one call, and in two calls of which the second continues.
 */
#define XXH_INLINE_ALL
#include "model.h"

#include <xxhash.h>

/* Longer ranges say nothing more, and the definitions are slow. */
#define CHECKSUM_BYTES 20000

static void fletcher(const uint8_t *bytes, size_t n, bool byteswap, uint64_t sum[4])
{
	memset(sum, 0, 4 * sizeof(sum[0]));
	for (size_t i = 0; i < n; i += 4) {
		uint8_t padded[4] = {0};
		uint32_t word;

		memcpy(padded, bytes + i, abd_min(n - i, 4));
		memcpy(&word, padded, sizeof(word));
		sum[0] += byteswap ? __builtin_bswap32(word) : word;
		sum[1] += sum[0];
		sum[2] += sum[1];
		sum[3] += sum[2];
	}
}

/* RFC 3720's polynomial, a byte at a time. */
static uint32_t crc32c(const uint8_t *bytes, size_t n, uint32_t seed)
{
	static uint32_t table[256];
	uint32_t crc = ~seed;

	for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
		uint32_t rest = i;

		for (int bit = 0; bit < 8; bit++)
			rest = rest >> 1 ^ ((rest & 1) != 0 ? 0x82f63b78u : 0);
		table[i] = rest;
	}
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
	return ~crc;
}

static void check_fletcher(const struct object *o, size_t off, size_t n)
{
	uint64_t sum[4], want[4];

	fletcher(model.a, n, false, want);
	trace("abd_fletcher_4(o%u, %zu, %zu), and swapped", o->id, off, n);
	abd_fletcher_4(o->abd, off, n, sum);
	check(memcmp(sum, want, sizeof(sum)) == 0, "fletcher_4 [%zu, +%zu)", off, n);
	fletcher(model.a, n, true, want);
	abd_fletcher_4_swapped(o->abd, off, n, sum);
	check(memcmp(sum, want, sizeof(sum)) == 0, "fletcher_4_swapped [%zu, +%zu)", off, n);
}

void model_op_checksum(void)
{
	struct object *o = model_any();
	size_t off, n, cut;
	uint32_t crc;
	uint64_t seed = model_below(3);

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	n = abd_min(n, CHECKSUM_BYTES);
	cut = model_below(n + 1);
	model_read(o, off, n, model.a);
	check_fletcher(o, off, n);
	crc = crc32c(model.a, n, (uint32_t)seed);
	trace("abd_crc32c(o%u, %zu, %zu, %u), whole and cut at %zu", o->id, off, n, (unsigned)seed,
		cut);
	check(abd_crc32c(o->abd, off, n, (uint32_t)seed) == crc, "crc32c [%zu, +%zu)", off, n);
	check(abd_crc32c(o->abd, off + cut, n - cut,
		      abd_crc32c(o->abd, off, cut, (uint32_t)seed)) == crc,
		"crc32c [%zu, +%zu) continued at %zu", off, n, cut);
	trace("abd_xxh3(o%u, %zu, %zu, %u)", o->id, off, n, (unsigned)seed);
	check(abd_xxh3(o->abd, off, n, seed) == XXH3_64bits_withSeed(model.a, n, seed),
		"xxh3 [%zu, +%zu)", off, n);
}
