/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What abd-perf measures with: a tree of files (--input), which becomes bytes and records, and
 * lengths of keys, which nobody foretells.
 */
#include "abd_perf_compare_key.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"

#include <fcntl.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BIG = 40000, LIMIT = 16384, SHARE = LIMIT / 8, LARGE = 15, RECORD = 1024 };

static unsigned failures;

static void check(bool condition, const char *claim)
{
	printf("%s: %s\n", condition ? "ok" : "FAILED", claim);
	failures += !condition;
}

/* abd-perf's own function records where the data came from. */
void abd_perf_env_source(const char *origin)
{
	check(strstr(origin, "files: ") != NULL, "the data's origin is named");
}

/* ---- a tree of files ------------------------------------------------------------------------- */

/* A letter of the big file; every part of it differs from the others, and can be compressed. */
static unsigned char letter(size_t at)
{
	return (unsigned char)(at / 16 * 31 >> 3);
}

static void put(int folder, const char *name, size_t size)
{
	unsigned char bytes[BIG];
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	for (size_t i = 0; i < size; i++)
		bytes[i] = letter(i);
	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, name);
	close(fd);
}

/* "big", "dir/xyz" and fifteen large files: the last one's share is more than there is room for. */
static void check_bytes(char *root)
{
	struct abd_perf_options options = {.input = root};
	struct abd_perf_records records;
	struct abd_perf_data data;
	char decoded[RECORD];
	bool same = true;

	abd_perf_files_load(&data, &options, LIMIT);
	check(data.size == LIMIT, "there are as many bytes as asked for");
	for (size_t i = 0; i < SHARE; i++)
		same = same && data.bytes[i] == letter(i) && data.bytes[SHARE + 3 + i] == letter(i);
	check(same, "a file gives at most its share");
	check(memcmp(data.bytes + SHARE, data.bytes, 3) == 0, "and the next file follows");
	abd_perf_records_make(&records, &data, RECORD);
	check(records.count > 0 && records.count + records.raw == LIMIT / RECORD,
		"records are whole");
	for (size_t i = 0; i < records.count; i++)
		check(LZ4_decompress_safe(records.record[i].payload, decoded,
			      (int)records.record[i].payload_size, RECORD) == RECORD &&
				memcmp(decoded, data.bytes + i * RECORD, RECORD) == 0,
			"a record's block holds the record");
	abd_perf_records_free(&records);
	free(data.bytes);
}

static void check_tree(void)
{
	char root[] = "/tmp/check_perf_input.XXXXXX", remove[64], name[8];
	int folder;

	check(mkdtemp(root) != NULL && chdir(root) == 0 && mkdir("dir", 0700) == 0, root);
	folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(folder, "big", BIG);
	put(folder, "dir/xyz", 3);
	check(symlink("/etc/passwd", "e") == 0, "a link out of the tree, which has no bytes");
	for (unsigned i = 0; i < LARGE; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		put(folder, name, BIG);
	}
	check_bytes(root);
	close(folder);
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	check(system(remove) == 0, "the tree is removed");
}

/*
 * A model that looks for the last 8 lengths among the 10,000 before, and guesses what came after
 * them there, is right about as often as one that throws dice.
 */
static void check_keys(void)
{
	enum { DRAWS = 20000, PAST = 10000, SEEN = 8 };
	struct abd_perf_key *key = malloc(ABD_PERF_KEYS * sizeof(*key));
	uint64_t random = 1234;
	unsigned right = 0, short_keys = 0;

	if (key == NULL)
		exit(1);
	abd_perf_compare_key_draw(key, ABD_PERF_KEYS, 0, true, &random);
	for (size_t i = 0; i < ABD_PERF_KEYS; i++)
		short_keys += key[i].length <= 8;
	for (size_t i = PAST; i < DRAWS; i += 10) {
		size_t best = 0, guess = i - 1;

		for (size_t j = i - PAST + SEEN; j < i; j++) {
			size_t same = 0;

			while (same < SEEN && key[j - 1 - same].length == key[i - 1 - same].length)
				same++;
			if (same >= best) {
				best = same;
				guess = j;
			}
		}
		right += key[guess].length == key[i].length && guess != i;
	}
	check(right * 20 < (DRAWS - PAST) / 10,
		"lengths of keys can't be foretold from 10,000 before");
	check(short_keys > ABD_PERF_KEYS / 9 && short_keys < ABD_PERF_KEYS / 7,
		"an eighth of the keys are of up to 8 bytes");
	free(key);
}

int main(void)
{
	check_keys();
	check_tree();
	return failures != 0;
}
