/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What abd-perf takes from outside: flags at the edges of their rules, and a tree of files
 * (--input), which becomes bytes and records.
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
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 40000, LIMIT = 16384, SHARE = LIMIT / 8, LARGE = 15, RECORD = 1024, USAGE = 64 };

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

/* ---- flags ----------------------------------------------------------------------------------- */

static void check_sizes(void)
{
	static const struct {
		const char *text;
		size_t size; /* 0: refused */
	} table[] = {{"1", 1}, {"512", 512}, {"16k", 16384}, {"16K", 16384}, {"1m", 1 << 20},
		{"3g", (size_t)3 << 30}, {"8388607g", ((size_t)1 << 53) - (1 << 30)}, {"0", 0},
		{"0k", 0}, {"", 0}, {"k", 0}, {"-1", 0}, {"+1", 0}, {" 1", 0}, {"1 ", 0}, {"8q", 0},
		{"8kk", 0}, {"18014398509481985k", 0}, {"8589934592g", 0},
		{"99999999999999999999", 0}};
	char told[32];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t size = 0, again = 0;
		bool taken = abd_perf_options_size(table[i].text, &size);

		check(taken == (table[i].size != 0) && size == table[i].size, table[i].text);
		if (taken)
			check(abd_perf_options_size(
				      abd_perf_options_size_text(size, told, sizeof(told)),
				      &again) &&
					again == size,
				"a size is printed as it is read");
	}
}

/* Parse one flag in a child, which a refusal ends. */
static int parsed(char *flag)
{
	char name[] = "abd-perf run";
	char *argv[] = {name, flag, NULL};
	struct abd_perf_options options;
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(99);
		abd_perf_options_run(&options, 2, argv);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_refusals(void)
{
	static const char *const taken[] = {"--threads=1", "--threads=1024", "--repeat=500",
		"--seed=0", "--seed=4294967295", "--record-size=512", "--record-size=16m",
		"--runtime=0.5", "--warmup=0", "--warmup=86400"};
	static const char *const refused[] = {"--threads=0", "--threads=1025", "--threads=2x",
		"--threads=-1", "--threads=+1", "--repeat=501", "--seed=4294967296",
		"--seed=", "--record-size=511", "--io-size=16385k", "--runtime=0", "--runtime=nan",
		"--warmup=-1", "--warmup=86401", "--cpus=", "--cpus=0-", "--cpus=-0", "--cpus=0,",
		"--cpus=0x", "--cpus=1-0", "--cpus=4294967296", "--cpus=1024"};
	char flag[64];

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		check(parsed(strcpy(flag, taken[i])) == 0, taken[i]);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		check(parsed(strcpy(flag, refused[i])) == USAGE, refused[i]);
}

static void check_line(void)
{
	char line[][32] = {"abd-perf run", "arc-read", "--record-size=8k", "--threads=2",
		"--input=tree", "--io-size=4k", "--quick", "--seed=7"};
	char *argv[sizeof(line) / sizeof(line[0]) + 1] = {NULL};
	struct abd_perf_options options;

	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		argv[i] = line[i];
	abd_perf_options_run(&options, sizeof(line) / sizeof(line[0]), argv);
	check(options.given == (ABD_PERF_USES_RECORD_SIZE | ABD_PERF_USES_IO_SIZE |
				       ABD_PERF_USES_THREADS | ABD_PERF_USES_INPUT),
		"every flag that was given is known");
	check(options.record_size == 8192 && options.io_size == 4096 && options.threads == 2 &&
			options.seed == 7 && options.mode == ABD_PERF_QUICK,
		"flags have the values given");
	check(options.name_count == 1 && strcmp(options.names[0], "arc-read") == 0,
		"what is no flag is a scenario");
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
	check_sizes();
	check_refusals();
	check_line();
	check_tree();
	return failures != 0;
}
