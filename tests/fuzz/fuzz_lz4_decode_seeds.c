/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the seed corpus of fuzz_lz4_decode into the directory it is given: short blocks with every shape of sequence, cut
 * in a few ways.
 */
#include <lz4.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

enum { HEADER = 10, RECORD_MAX = 70000 };

static uint8_t record[RECORD_MAX];
static char block[HEADER + LZ4_COMPRESSBOUND(RECORD_MAX)];

/* Bytes that repeat with a period and are broken by noise every so often. */
static void fill(size_t size, size_t period, size_t noise_every)
{
	uint32_t state = (uint32_t)(size * 31 + period * 7 + noise_every);

	for (size_t i = 0; i < size; i++) {
		state = state * 1664525u + 1013904223u;
		record[i] = i >= period && state / 65536 % noise_every != 0
				    ? record[i - period]
				    : (uint8_t)(state >> 24);
	}
}

static int write_seed(const char *directory, unsigned number, size_t size, unsigned chunk)
{
	const uint8_t header[HEADER] = {(uint8_t)number, (uint8_t)chunk, (uint8_t)(chunk >> 8),
		(uint8_t)(number % 5), 0, 0, (uint8_t)(size / 2), 0, (uint8_t)number, 1};
	int packed = LZ4_compress_default(
		(const char *)record, block + HEADER, (int)size, LZ4_COMPRESSBOUND(RECORD_MAX));
	char path[4096];
	FILE *file;
	size_t total = HEADER + (size_t)packed;

	memcpy(block, header, HEADER);
	snprintf(path, sizeof(path), "%s/seed-%03u", directory, number);
	file = fopen(path, "wb");
	if (file == NULL)
		return 1;
	if (fwrite(block, 1, total, file) != total) {
		fclose(file);
		return 1;
	}
	return fclose(file) != 0;
}

/* Lists of sequences, for the other way the target reads its input. */
static int write_list(const char *directory, unsigned number)
{
	uint8_t list[HEADER + 60] = {(uint8_t)(128 + number), (uint8_t)(number * 7)};
	uint32_t state = number;
	char path[4096];
	FILE *file;

	for (size_t i = HEADER; i < sizeof(list); i++) {
		state = state * 1664525u + 1013904223u;
		list[i] = (uint8_t)(state >> 24);
		if (i % 3 == 0 && list[i] > 140)
			list[i] = (uint8_t)(list[i] % 16);
	}
	snprintf(path, sizeof(path), "%s/list-%03u", directory, number);
	file = fopen(path, "wb");
	if (file == NULL)
		return 1;
	if (fwrite(list, 1, HEADER + 6 + number % 54, file) == 0) {
		fclose(file);
		return 1;
	}
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {1, 13, 64, 100, 333, 1000, 9000, RECORD_MAX};
	static const size_t periods[] = {1, 3, 8, 17, 40, 700};
	static const unsigned chunks[] = {0, 1, 37, 128, 4096};
	unsigned number = 0;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t j = 0; j < sizeof(periods) / sizeof(*periods); j++) {
			fill(sizes[i], periods[j], 5 + 37 * (number % 3));
			if (write_seed(argv[1], number, sizes[i], chunks[number % 5]) != 0)
				return 1;
			number++;
		}
	for (unsigned i = 0; i < 40; i++)
		if (write_list(argv[1], i) != 0)
			return 1;
	return 0;
}
