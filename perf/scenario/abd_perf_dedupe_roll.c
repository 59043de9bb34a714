/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four bytes per step where a whole extent is hashed: one multiplication in the chain instead of
 * four.
 */
#include "abd_perf_dedupe_roll.h"

#include <stdlib.h>
#include <string.h>

uint64_t abd_perf_roll(uint64_t hash, const unsigned char *p, size_t size)
{
	const uint64_t b1 = ABD_PERF_ROLL_BASE, b2 = b1 * b1, b3 = b2 * b1, b4 = b2 * b2;

	for (; size >= 4; p += 4, size -= 4)
		hash = hash * b4 + (p[0] * b3 + p[1] * b2 + p[2] * b1 + p[3]);
	for (; size > 0; p++, size--)
		hash = hash * b1 + p[0];
	return hash;
}

uint64_t abd_perf_roll_power(size_t size)
{
	uint64_t power = 1;

	while (size-- > 0)
		power *= ABD_PERF_ROLL_BASE;
	return power;
}

bool abd_perf_roll_set_make(struct abd_perf_roll_set *set, size_t count)
{
	unsigned log = 6;

	while ((size_t)1 << log < count * 2)
		log++;
	set->mask = ((size_t)1 << log) - 1;
	set->entry = calloc(set->mask + 1, sizeof(*set->entry));
	/* 32 to 64 bits for each: 2 to 3 windows of 100 are looked up in the table. */
	log += 4;
	set->bits_shift = 64 - log;
	set->bits = calloc((size_t)1 << (log - 6), sizeof(*set->bits));
	if (set->entry != NULL && set->bits != NULL)
		return true;
	abd_perf_roll_set_free(set);
	return false;
}

void abd_perf_roll_set_free(struct abd_perf_roll_set *set)
{
	free(set->entry);
	free(set->bits);
	memset(set, 0, sizeof(*set));
}

static size_t abd_perf_roll_set_slot(const struct abd_perf_roll_set *set, uint64_t hash)
{
	return (size_t)(hash * 0x9e3779b97f4a7c15u >> 32) & set->mask;
}

void abd_perf_roll_set_add(struct abd_perf_roll_set *set, uint64_t hash, uint32_t extent)
{
	uint64_t bit = hash * 0x9e3779b97f4a7c15u >> set->bits_shift;
	size_t slot = abd_perf_roll_set_slot(set, hash);

	set->bits[bit / 64] |= (uint64_t)1 << bit % 64;
	while (set->entry[slot].extent != 0)
		slot = (slot + 1) & set->mask;
	set->entry[slot] = (struct abd_perf_roll_entry){hash, extent + 1};
}

bool abd_perf_roll_set_find(
	const struct abd_perf_roll_set *set, uint64_t hash, size_t *at, uint32_t *extent)
{
	size_t slot = abd_perf_roll_set_slot(set, hash) + *at;

	for (; set->entry[slot & set->mask].extent != 0; slot++) {
		const struct abd_perf_roll_entry *entry = &set->entry[slot & set->mask];

		++*at;
		if (entry->hash != hash)
			continue;
		*extent = entry->extent - 1;
		return true;
	}
	return false;
}
