/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder's blocks against a plain reading of the format, and against liblz4's decoder: all
 * kinds of data, with and without groups.
 */
#include "abd_lz4_encode.h"
#include "test_lz4_block.h"

#include <lz4.h>

enum { SIZE_MOST = 200000 };

static uint8_t record[SIZE_MOST], block[SIZE_MOST + SIZE_MOST / 200 + 64], back[SIZE_MOST];

static struct abd_lz4_index *make_index(size_t size, size_t group_size)
{
	struct abd_lz4_index *index = malloc(abd_lz4_index_size(size, group_size));

	index->group_size = (uint32_t)group_size;
	index->hub_size = (uint32_t)group_size / 2;
	index->count = (uint32_t)((size + group_size - 1) / group_size);
	index->reserved = 0;
	return index;
}

/* Encode the record with exactly the room that it needs, and with one byte less. */
static size_t check_block(size_t size, int effort, size_t group_size, const char *what)
{
	struct abd_lz4_index *index = group_size > 0 ? make_index(size, group_size) : NULL;
	size_t work_size = abd_lz4_encode_work_size(effort, index != NULL), got;
	void *work = malloc(work_size);
	const char *fault;

	memset(work, 0xa5, work_size);
	got = abd_lz4_encode(block, sizeof(block), record, size, effort, index, work);
	abd_test_check(got > 0 && got <= (size_t)LZ4_compressBound((int)size), "%s, %zu: %zu", what,
		size, got);
	fault = test_block_fault(block, got, record, size, index);
	abd_test_check(fault == NULL, "%s, %zu in groups of %zu, effort %d: %s", what, size,
		group_size, effort, fault);
	abd_test_check(LZ4_decompress_safe((char *)block, (char *)back, (int)got, (int)size) ==
				       (int)size &&
			       memcmp(back, record, size) == 0,
		"%s, %zu, effort %d: liblz4", what, size, effort);
	block[got - 1] = block[got] = 0xa5;
	abd_test_check(abd_lz4_encode(block, got - 1, record, size, effort, index, work) == 0 &&
			       block[got - 1] == 0xa5,
		"%s, %zu: one byte too few", what, size);
	abd_test_check(abd_lz4_encode(block, got, record, size, effort, index, work) == got &&
			       block[got] == 0xa5,
		"%s, %zu: just enough", what, size);
	free(index);
	free(work);
	return got;
}

static void check_all(size_t size, const char *what)
{
	check_block(size, 0, 0, what);
	check_block(size, 3, 0, what);
	for (size_t group_size = 1024; group_size <= 65536; group_size *= 4) {
		check_block(size, 0, group_size, what);
		check_block(size, 3, group_size, what);
	}
}

Test(abd_lz4_encode, blocks_of_all_kinds_of_data_obey_the_format)
{
	static const size_t sizes[] = {8191, 16384, 65535, 65536, 65537, 70000, 131072, SIZE_MOST};

	for (unsigned kind = 0; kind < TEST_RECORD_KINDS; kind++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			test_record_fill(record, sizes[i], kind, i);
			check_all(sizes[i], "kind");
		}
}

Test(abd_lz4_encode, every_small_size_obeys_the_format)
{
	for (unsigned kind = 0; kind < TEST_RECORD_KINDS; kind++)
		for (size_t size = 0; size < 300; size++) {
			test_record_fill(record, size, kind, size);
			check_block(size, 0, 0, "small");
			check_block(size, 3, 0, "small");
			check_block(size, 0, 1024, "small");
			check_block(size, 3, 1024, "small");
		}
}

Test(abd_lz4_encode, sizes_up_to_70000_obey_the_format)
{
	uint64_t seed = 7;
	size_t cases = abd_test_share(200);

	for (size_t i = 0; i < cases; i++) {
		size_t size = abd_test_random_below(&seed, 70001);

		test_record_fill(record, size, (unsigned)(i % TEST_RECORD_KINDS), seed);
		check_block(size, (int)(i / 3 % 4), i % 3 * 4096, "random size");
	}
}

/* 300 bytes of noise, zeros, and at distance the same noise: found where it can be reached. */
Test(abd_lz4_encode, matches_at_every_distance_are_found)
{
	static const size_t distances[] = {
		1, 2, 3, 4, 7, 8, 15, 16, 255, 4095, 16384, 32767, 65534, 65535, 65536};
	uint64_t seed = 3;

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		size_t distance = distances[i], size = distance + 300, got;

		memset(record, 0, size);
		abd_test_random_fill(&seed, record, distance < 300 ? distance : 300);
		for (size_t k = distance; k < size; k++)
			record[k] = record[k - distance];
		for (int effort = 0; effort <= 3; effort += 3) {
			got = check_block(size, effort, 0, "distance");
			abd_test_check((got < 400 + distance / 255) == (distance <= 65535),
				"effort %d, distance %zu: %zu of %zu", effort, distance, got, size);
		}
	}
}

/* A hub of noise, and in each later group pieces of it: only with the hub are they found. */
Test(abd_lz4_encode, later_groups_find_what_the_hub_holds)
{
	uint64_t seed = 4;
	size_t fast, deep;

	abd_test_random_fill(&seed, record, 65536 * 2);
	memset(record, 0, 64); /* so that a sequence begins within each hub */
	memset(record + 65536, 0, 64);
	for (size_t at = 16384; at < 65536 * 2; at += at % 65536 == 49152 ? 32768 : 16384)
		for (size_t k = 0; k + 128 <= 8192; k += 128)
			memcpy(record + at + k * 2, record + at / 65536 * 65536 + k, 128);
	fast = check_block(65536 * 2, 0, 16384, "hub");
	deep = check_block(65536 * 2, 3, 16384, "hub");
	cr_assert_lt(fast, 65536 * 2 - 6 * 3000, "%zu", fast);
	cr_assert_lt(deep, 65536 * 2 - 6 * 7000, "%zu", deep);
}

/* More effort, smaller blocks. Two words of every three follow each other by chance. */
Test(abd_lz4_encode, effort_makes_blocks_smaller)
{
	size_t fast, deep, deepest;

	test_record_fill(record, 131072, 0, 1);
	fast = check_block(131072, 0, 16384, "effort 0");
	deep = check_block(131072, 3, 16384, "effort 3");
	deepest = check_block(131072, 12, 16384, "effort 12");
	cr_assert_lt(deep, fast, "%zu, %zu", deep, fast);
	cr_assert_lt(deepest, deep, "%zu, %zu", deepest, deep);
	cr_assert_eq(check_block(131072, 99, 16384, "effort 99"), deepest);
}

/* The room ends before a literal, a token, an offset or a length, of whichever sequence. */
Test(abd_lz4_encode, any_room_too_small_is_refused_and_not_left)
{
	enum { SIZE = 3000, GROUP = 1024 };
	struct abd_lz4_index *index = make_index(SIZE, GROUP);
	void *work = malloc(abd_lz4_encode_work_size(3, true));

	for (unsigned kind = 0; kind < TEST_RECORD_KINDS; kind++)
		for (unsigned way = 0; way < 4; way++) {
			int effort = way % 2 * 3;
			bool groups = way / 2;

			test_record_fill(record, SIZE, kind, kind);
			size_t whole = check_block(SIZE, effort, groups ? GROUP : 0, "whole");

			for (size_t room = 0; room < whole; room++) {
				block[room] = 0xa5;
				abd_test_check(abd_lz4_encode(block, room, record, SIZE, effort,
						       groups ? index : NULL, work) == 0 &&
						       block[room] == 0xa5,
					"kind %u, effort %d, room of %zu", kind, effort, room);
			}
		}
	free(index);
	free(work);
}
