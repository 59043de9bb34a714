/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the seed corpus of the lz4 fuzzers into a directory: short blocks with every shape of
 * sequence, cut into runs in a few ways; and lists of sequences, random ones and some for every
 * short offset.
 */
#include "fuzz_lz4_input.h"

enum { RECORD_MAX = 70000, LIST_MAX = 60 };

static uint8_t record[RECORD_MAX];
static char block[LZ4_COMPRESSBOUND(RECORD_MAX)];
static unsigned number;

static uint8_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint8_t)(*state >> 24);
}

/* Fill the record with bytes that repeat with a period, with noise in between every so often. */
static void fill(size_t size, size_t period, size_t noise_every)
{
	uint32_t state = (uint32_t)(size * 31 + period * 7 + noise_every);

	for (size_t i = 0; i < size; i++) {
		uint8_t noise = next(&state);

		record[i] = i >= period && state / 65536 % noise_every != 0 ? record[i - period]
									    : noise;
	}
}

static bool write_seed(
	const char *directory, const uint8_t header[FUZZ_HEADER], const void *rest, size_t size)
{
	char path[4096];
	FILE *file;
	bool written;

	snprintf(path, sizeof(path), "%s/seed-%03u", directory, number++);
	file = fopen(path, "wb");
	if (file == NULL)
		return false;
	written = fwrite(header, 1, FUZZ_HEADER, file) == FUZZ_HEADER &&
		  fwrite(rest, 1, size, file) == size;
	return fclose(file) == 0 && written;
}

static bool write_block(const char *directory, size_t size, unsigned chunk)
{
	const uint8_t header[FUZZ_HEADER] = {
		[FUZZ_DECODER] = (uint8_t)number % 128,
		[FUZZ_CHUNK] = (uint8_t)chunk,
		[FUZZ_CHUNK + 1] = (uint8_t)(chunk >> 8),
		[FUZZ_SKIP] = number % 5,
		[FUZZ_STOP] = (uint8_t)(size / 2),
		[FUZZ_SEED] = (uint8_t)number,
		[FUZZ_RANGE] = (uint8_t)size,
	};
	int packed = LZ4_compress_default(
		(const char *)record, block, (int)size, LZ4_COMPRESSBOUND(RECORD_MAX));

	return write_seed(directory, header, block, (size_t)packed);
}

/*
 * A range far into a record that lz4 compresses as far as it can: one byte repeated, so that each
 * byte of the block stands for 255.
 */
static bool write_far(const char *directory, unsigned stop)
{
	const uint8_t header[FUZZ_HEADER] = {
		[FUZZ_DECODER] = (uint8_t)number % 128,
		[FUZZ_CHUNK] = 100,
		[FUZZ_STOP] = (uint8_t)stop,
		[FUZZ_STOP + 1] = (uint8_t)(stop >> 8),
		[FUZZ_RANGE] = 200,
	};

	memset(record, 'x', RECORD_MAX);
	return write_seed(directory, header, block,
		(size_t)LZ4_compress_default(
			(const char *)record, block, RECORD_MAX, LZ4_COMPRESSBOUND(RECORD_MAX)));
}

static bool write_list(const char *directory, const uint8_t *list, size_t size)
{
	const uint8_t header[FUZZ_HEADER] = {
		[FUZZ_DECODER] = (uint8_t)(128 + number % 128),
		[FUZZ_CHUNK] = (uint8_t)(number * 7),
		[FUZZ_MORE] = number % 2 == 1 ? (uint8_t)(128 + number % 16) : 0,
		[FUZZ_SEED] = (uint8_t)number,
		[FUZZ_STOP] = (uint8_t)(number * 5),
		[FUZZ_RANGE] = (uint8_t)(number * 11),
		[FUZZ_RANGE + 1] = number % 16,
	};

	return write_seed(directory, header, list, size);
}

static bool write_random_list(const char *directory, uint32_t state)
{
	uint8_t list[LIST_MAX];
	size_t size = 6 + state % (LIST_MAX - 6);

	for (size_t i = 0; i < size; i++) {
		list[i] = next(&state);
		if (i % 3 == 0 && list[i] > 140)
			list[i] = (uint8_t)(list[i] % 16);
	}
	return write_list(directory, list, size);
}

/*
 * Literals to copy from, a few matches at one offset with lengths of every class, and an end that
 * is far enough away.
 */
static bool write_offset_list(const char *directory, uint8_t offset, uint32_t state)
{
	uint8_t list[LIST_MAX];
	size_t size = 0;

	for (int i = 0; i < 6; i++) {
		list[size++] = i == 0 ? 170 : next(&state) % 30;
		list[size++] = (uint8_t)(i * 40 + next(&state) % 40);
		list[size++] = offset;
	}
	if (state % 80 < 40) {
		list[size++] = 253;
		return write_list(directory, list, size + 2);
	}
	/*
	 * Otherwise the last match comes about as near to the end as liblz4's shortcut allows: 14
	 * literals, a match of 18 bytes, and fewer than 5 literals behind it.
	 */
	uint32_t near = state % 40 + state / 80 % 2 * 40;

	list[size++] = (uint8_t)(14 - near / 5 % 6);
	list[size++] = (uint8_t)(14 - near / 30);
	list[size++] = offset;
	list[size++] = near % 5;
	return write_list(directory, list, size + 2);
}

/*
 * Literals of whole vectors and a few bytes more, and room that ends almost a vector behind them:
 * copying by vectors must stop there.
 */
static bool write_short_of_room(const char *directory, unsigned choice)
{
	enum { MATCH = 4, LITERALS = 116 }; /* the bytes that follow, for which there is no room */
	const uint8_t header[FUZZ_HEADER] = {
		[FUZZ_DECODER] = (uint8_t)(128 + choice % 4),
		[FUZZ_CHUNK + 1] = 16,
		[FUZZ_LESS] = (uint8_t)(128 + MATCH + LITERALS - 61 - choice / 4 % 3),
	};
	const uint8_t list[] = {(uint8_t)(211 + choice / 12 % 6), 0, 1, 184, 0, 0};

	return write_seed(directory, header, list, sizeof(list));
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {1, 13, 64, 100, 333, 1000, 9000, RECORD_MAX};
	static const size_t periods[] = {1, 3, 8, 17, 40, 700};
	static const unsigned chunks[] = {0, 1, 37, 128, 4096};
	bool written = true;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t j = 0; j < sizeof(periods) / sizeof(*periods); j++) {
			fill(sizes[i], periods[j], 5 + 37 * (number % 3));
			written &= write_block(argv[1], sizes[i], chunks[number % 5]);
		}
	for (uint32_t i = 0; i < 40; i++)
		written &= write_random_list(argv[1], i);
	for (uint32_t i = 0; i < 4 * 40; i++)
		written &= write_offset_list(argv[1], (uint8_t)(1 + i % 40), i);
	for (unsigned stop = 1000; stop < 1900; stop += 200)
		written &= write_far(argv[1], stop);
	for (unsigned i = 0; i < 4 * 3 * 6; i++)
		written &= write_short_of_room(argv[1], i);
	return written ? 0 : 1;
}
