/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power failures between any two steps of examples/nbdkit-abd: every write and sync of its two
 * files is noted. At random steps the files are made as a disk may hold them, opened and compared.
 * A sector of 512 bytes may hold what it held in memory at any time since the last sync of it that
 * has ended (when that sync began); each sector chooses for itself. So a sector has a list of
 * versions, and a sync drops those before the newest one that it was given.
 *
 * Property: after any failure the device opens, and each block holds what a flush that was answered
 * covers, or something that was sent later.
 *
 * Usage: power_failures FOLDER DISKS SEED [flush|log|file|head]. The last argument breaks a rule:
 * syncs of this kind do nothing. flush: the log's, when a client asks; the others: a checkpoint's.
 */
#include "without_nbdkit.h"

enum { SECTOR = 512, BLOCKS = 48, THREADS = 4, WRITES = 500, LOG_BYTES = 256 << 10 };

static pthread_mutex_t noted = PTHREAD_MUTEX_INITIALIZER; /* for the sectors, and flushed */
static struct sector {
	struct version {
		unsigned long step;
		char bytes[SECTOR];
	} * version; /* the first one is durable, the last one is in memory */
	size_t count, room;
} log_sectors[LOG_BYTES / SECTOR], file_sectors[BLOCKS * BLOCK / SECTOR];
static uint64_t flushed[BLOCKS]; /* numbers of states; in state 0 a block holds zeroes */
static _Atomic uint64_t answered[BLOCKS], sent[BLOCKS];
static _Atomic unsigned long steps;
static unsigned long failures, wanted;
static uint64_t choose;
static const char *broken = "";
static _Thread_local bool is_quiet, is_flushing; /* calls are not noted; are those of a flush */

static char *add_version(struct sector *sector)
{
	if (sector->count == sector->room) {
		sector->room = sector->room * 2 + 2;
		sector->version = realloc(sector->version, sector->room * sizeof(struct version));
		need(sector->version != NULL, "memory");
	}
	sector->version[sector->count].step = steps;
	return sector->version[sector->count++].bytes;
}

/* Of 8 sectors lost hold the oldest version, some any one, the others the newest. */
static void write_disk(const char *to, const struct sector *sectors, size_t count, unsigned lost)
{
	FILE *file = fopen(to, "w");

	for (size_t i = 0; i < count; i++) {
		uint64_t random = next_random(&choose);
		size_t last = sectors[i].count - 1, version = random % 8 < lost ? 0 : last;

		if (random / 8 % 8 == 0 && lost % 8 != 0)
			version = random / 64 % (last + 1);
		need(file && fwrite(sectors[i].version[version].bytes, SECTOR, 1, file) == 1, to);
	}
	need(fclose(file) == 0, to);
}

static bool is_allowed(uint64_t block, const char *bytes)
{
	char right[BLOCK];
	bool found = false;

	for (uint64_t n = flushed[block]; n <= sent[block] && !found; n++) {
		make_block(right, n | block << 32);
		found = memcmp(bytes, right, BLOCK) == 0;
	}
	return found;
}

/* Before each 64th step, in the mean, on the disks as they are now. */
static void fail_power(void)
{
	static struct device opened;
	unsigned lost = (unsigned)(next_random(&choose) % 9), block = 0;
	char bytes[BLOCK];
	FILE *file;

	if (next_random(&choose) % 64 != 0 || failures == wanted)
		return;
	failures++;
	write_disk("crash.img", file_sectors, BLOCKS * BLOCK / SECTOR, lost);
	write_disk("crash.img.log", log_sectors, LOG_BYTES / SECTOR, lost);
	is_quiet = true;
	if (device_open(&opened, "./crash.img", 0) == 0)
		device_close(&opened);
	is_quiet = false;
	file = fopen("crash.img", "r");
	while (block < BLOCKS && fread(bytes, BLOCK, 1, file) == 1 && is_allowed(block, bytes))
		block++;
	fclose(file);
	if (block < BLOCKS || said[0] != '\0') {
		printf("power failure at step %lu: block %u is lost %s\n", steps, block, said);
		exit(1);
	}
}

/* When it is done: what a sync that begins meanwhile has of it is not known. */
static void note_write(struct sector *sectors, uint64_t at, const char *bytes, size_t size)
{
	if (is_quiet)
		return;
	pthread_mutex_lock(&noted);
	fail_power();
	steps++;
	while (size > 0) {
		size_t from = at % SECTOR, now = SECTOR - from < size ? SECTOR - from : size;
		char *version = add_version(&sectors[at / SECTOR]);

		memcpy(version, version - sizeof(struct version), SECTOR);
		memcpy(version + from, bytes, now);
		bytes += now;
		at += now;
		size -= now;
	}
	pthread_mutex_unlock(&noted);
}

/* Takes some time, as on a disk, so that other threads go on meanwhile. */
static int note_sync(struct sector *sectors, uint64_t at, uint64_t size, const char *rule)
{
	unsigned long began = steps;

	if (is_quiet || strcmp(rule, broken) == 0)
		return 0;
	usleep(200);
	pthread_mutex_lock(&noted);
	fail_power();
	steps++;
	for (uint64_t i = at / SECTOR; i <= (at + size - 1) / SECTOR; i++) {
		struct version *version = sectors[i].version;
		size_t durable = sectors[i].count - 1;

		while (version[durable].step > began)
			durable--;
		sectors[i].count -= durable;
		memmove(version, version + durable, sectors[i].count * sizeof(*version));
	}
	pthread_mutex_unlock(&noted);
	return 0;
}

__typeof__(abd_flush_copy_to_buf_off) __real_abd_flush_copy_to_buf_off;
__typeof__(abd_pwrite) __real_abd_pwrite;
__typeof__(fallocate) __real_fallocate;

void __wrap_abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t off, size_t n, unsigned how)
{
	__real_abd_flush_copy_to_buf_off(dst, src, off, n, how);
	note_write(log_sectors, (uint64_t)((char *)dst - device.log.map), dst, n);
}

int __wrap_msync(void *address, size_t size)
{
	const char *rule = size == LOG_LINE ? "head" : is_flushing ? "flush" : "log";

	return note_sync(log_sectors, (uint64_t)((char *)address - device.log.map), size, rule);
}

ssize_t __wrap_abd_pwrite(int fd, const abd_t *src, size_t off, size_t size, off_t file_off)
{
	ssize_t put = __real_abd_pwrite(fd, src, off, size, file_off);
	char bytes[BLOCK];

	if (size == BLOCK) { /* a larger one makes a log */
		abd_copy_to_buf_off(bytes, src, off, size);
		note_write(file_sectors, (uint64_t)file_off, bytes, size);
	}
	return put;
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	static const char zeroes[BLOCKS * BLOCK];
	int error = __real_fallocate(fd, mode, offset, size);

	note_write(file_sectors, (uint64_t)offset, zeroes, (size_t)size);
	return error;
}

int __wrap_fdatasync(void)
{
	return note_sync(file_sectors, 0, BLOCKS * BLOCK, "file");
}

static void flush(void)
{
	uint64_t covered[BLOCKS];

	for (unsigned block = 0; block < BLOCKS; block++)
		covered[block] = answered[block];
	is_flushing = true;
	need(device_flush(&device) == 0, "flush");
	is_flushing = false;
	pthread_mutex_lock(&noted);
	for (unsigned block = 0; block < BLOCKS; block++)
		if (covered[block] > flushed[block])
			flushed[block] = covered[block];
	pthread_mutex_unlock(&noted);
}

static void write_next(uint64_t block)
{
	char bytes[BLOCK];

	make_block(bytes, ++sent[block] | block << 32);
	need(device_write(&device, bytes, BLOCK, block * BLOCK) == 0, "write");
	answered[block] = sent[block];
}

/* A thread writes blocks of its own. With few flushes the log fills up before anybody synced it. */
static void *work(void *arg)
{
	uint64_t random = *(uint64_t *)arg, thread = random % THREADS;

	for (unsigned i = 0; i < WRITES; i++) {
		uint64_t r = next_random(&random);

		if (r % (i / 128 % 2 == 0 ? 8 : 256) == 0)
			flush();
		else
			write_next(r / 256 % (BLOCKS / THREADS) * THREADS + thread);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	uint64_t random[THREADS];

	need(argc >= 4 && chdir(argv[1]) == 0, "usage: power_failures FOLDER DISKS SEED [RULE]");
	wanted = strtoul(argv[2], NULL, 10);
	choose = strtoul(argv[3], NULL, 10) * 2 + 1;
	broken = argc > 4 ? argv[4] : "";
	need(fclose(fopen(IMAGE, "w")) == 0 && truncate(IMAGE, BLOCKS * BLOCK) == 0, IMAGE);
	is_quiet = true;
	need(device_open(&device, IMAGE, LOG_BYTES) == 0, said);
	/* What is there now is durable. */
	for (size_t i = 0; i < LOG_BYTES / SECTOR; i++)
		memcpy(add_version(&log_sectors[i]), device.log.map + i * SECTOR, SECTOR);
	for (size_t i = 0; i < BLOCKS * BLOCK / SECTOR; i++)
		memset(add_version(&file_sectors[i]), 0, SECTOR);
	is_quiet = false;

	/* Again and again the process ends without a word, and the next one finds the log. */
	while (failures < wanted) {
		need(device_start(&device, 1 << 20) == 0, "device_start");
		for (unsigned i = 0; i < THREADS; i++)
			random[i] = (next_random(&choose) | 1) * THREADS + i;
		for (unsigned i = 0; i < THREADS; i++)
			need(pthread_create(&thread[i], NULL, work, &random[i]) == 0, "thread");
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		kill_device();
		need(device_open(&device, IMAGE, LOG_BYTES) == 0, said);
	}
	printf("%lu disks after power failures, at %lu steps\n", failures, steps);
	return 0;
}
