/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power failures between any two steps: the device of examples/nbdkit-abd in one process, every
 * write and sync to its two files recorded, and afterwards the files as a disk may hold them at
 * chosen points of that record, opened and read.
 *
 * A sector of 512 bytes holds on the disk what it held in memory at some time between the last sync
 * of it that had ended (when that sync began) and the failure; each sector chooses for itself. So
 * an image is a prefix of the record and, of what was not synced in it, a subset, in the order in
 * which each sector was written. test_kill.py is about real kills at random times; a step that is
 * over within a microsecond is not found by those.
 *
 * Property: after any such failure the device opens, and each block holds what a flush that was
 * answered covers, or something that was sent to it later.
 *
 *   crash_points FOLDER SECONDS IMAGES SEED
 *
 * It ends by saying how many images there were, or what was wrong.
 *
 *   crash_points FOLDER damage
 *
 * Another question to the same device: whatever one sector of its log holds instead of what was
 * written, either all that was flushed is there, or the log is refused as damaged.
 *
 * Linked with --wrap for each function through which the device writes. Planted: CMakeLists.txt
 * makes the program once more for each of five rules of the log, which that one breaks; all must be
 * found (tests/gates/nbdkit).
 */
#include "device.h"

#include "nbdkit_api.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 48, THREADS = 4, SECTOR = 512, SEGMENT = 96 << 10, STEPS = 1 << 20 };

#define LOG_BYTES ((uint64_t)LOG_HEAD + (uint64_t)LOG_SEGMENTS * SEGMENT)
#define DISK_SECTORS (LOG_BYTES / SECTOR)

/* ---- the record ------------------------------------------------------------------------------ */

enum disk { LOG, IMAGE, DISKS };

enum what { WROTE, SYNC_ENDED, SENT, FLUSHED };

struct step {
	enum what what;
	enum disk disk;
	uint64_t offset, size;
	unsigned char *
		/*
		 * WROTE: NULL is zeroes. FLUSHED: what each block was answered to hold, as numbers
		 */
		bytes;
	uint32_t began;         /* SYNC_ENDED: before this step */
	uint32_t block, number; /* SENT */
	bool is_zero;
};

static struct {
	pthread_mutex_t lock;
	struct step *step;
	uint32_t steps;
	bool on;
	uint32_t answered[BLOCKS];
	_Atomic bool stop;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct device device;

static void give_up(const char *what)
{
	perror(what);
	exit(2);
}

static void *need(void *memory)
{
	if (memory == NULL)
		give_up("crash_points");
	return memory;
}

static void add(struct step step)
{
	pthread_mutex_lock(&record.lock);
	if (record.on && record.steps < STEPS)
		record.step[record.steps++] = step;
	pthread_mutex_unlock(&record.lock);
}

static uint32_t now(void)
{
	pthread_mutex_lock(&record.lock);
	uint32_t steps = record.steps;

	pthread_mutex_unlock(&record.lock);
	return steps;
}

static void add_write(enum disk disk, uint64_t offset, uint64_t size, unsigned char *bytes)
{
	add((struct step){
		.what = WROTE, .disk = disk, .offset = offset, .size = size, .bytes = bytes});
}

/* ---- what the device calls ------------------------------------------------------------------- */

void __real_abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t off, size_t size, unsigned flags);
void __wrap_abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t off, size_t size, unsigned flags);
int __real_msync(void *address, size_t size, int flags);
int __wrap_msync(void *address, size_t size, int flags);
ssize_t __real_abd_pwrite(int fd, const abd_t *src, size_t off, size_t size, off_t file_off);
ssize_t __wrap_abd_pwrite(int fd, const abd_t *src, size_t off, size_t size, off_t file_off);
int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_abd_tuning_set(const char *name, const char *value);

/* Recorded when it is done: what a sync that begins meanwhile has of it is not known. */
void __wrap_abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t off, size_t size, unsigned flags)
{
	unsigned char *bytes = need(malloc(size));

	__real_abd_flush_copy_to_buf_off(dst, src, off, size, flags);
	memcpy(bytes, dst, size);
	add_write(LOG, (uint64_t)((char *)dst - device.log.map), size, bytes);
}

/* As long as on a disk; a header alone takes longer, so that much happens meanwhile. */
static void sync_as_a_disk(enum disk disk, uint64_t offset, uint64_t size)
{
	struct timespec latency = {0, size <= LOG_LINE ? 3000000 : 300000};
	uint32_t began = now();

	nanosleep(&latency, NULL);
	add((struct step){
		.what = SYNC_ENDED, .disk = disk, .offset = offset, .size = size, .began = began});
}

int __wrap_msync(void *address, size_t size, int flags)
{
	(void)flags;
	sync_as_a_disk(LOG, (uint64_t)((char *)address - device.log.map), size);
	return 0;
}

ssize_t __wrap_abd_pwrite(int fd, const abd_t *src, size_t off, size_t size, off_t file_off)
{
	ssize_t put = __real_abd_pwrite(fd, src, off, size, file_off);
	unsigned char *bytes = need(malloc(size));

	abd_copy_to_buf_off(bytes, src, off, size);
	if (put == (ssize_t)size)
		add_write(IMAGE, (uint64_t)file_off, size, bytes);
	return put;
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	int error = __real_fallocate(fd, mode, offset, size);

	if (error == 0)
		add_write(IMAGE, (uint64_t)offset, (uint64_t)size, NULL);
	return error;
}

int __wrap_fdatasync(int fd)
{
	(void)fd;
	sync_as_a_disk(IMAGE, 0, (uint64_t)BLOCKS * BLOCK);
	return 0;
}

/* The device is opened again and again, and a pool is made once. */
int __wrap_abd_tuning_set(const char *name, const char *value)
{
	(void)name;
	(void)value;
	return 0;
}

static char said[1000];

void nbdkit_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
}

void nbdkit_debug(const char *format, ...)
{
	(void)format;
}

/* ---- the work -------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* What a block holds in its state of that number; half of it is lz4's. */
static void fill(unsigned char *bytes, uint32_t block, uint32_t number)
{
	uint64_t state = ((uint64_t)block + 1) << 32 | (number + 1);

	memset(bytes, 0, BLOCK);
	for (size_t i = 0; i < BLOCK / 2; i += 8) {
		uint64_t word = next_random(&state) * 0x9e3779b97f4a7c15u;

		memcpy(bytes + i, &word, 8);
	}
}

static void flush(void)
{
	uint32_t *covered = need(malloc(sizeof(record.answered)));

	pthread_mutex_lock(&record.lock);
	memcpy(covered, record.answered, sizeof(record.answered));
	pthread_mutex_unlock(&record.lock);
	if (device_flush(&device) != 0)
		give_up("flush");
	add((struct step){.what = FLUSHED, .bytes = (unsigned char *)covered});
}

static void write_block(uint32_t block, uint32_t number, bool is_zero)
{
	unsigned char bytes[BLOCK];
	int error;

	fill(bytes, block, number);
	add((struct step){.what = SENT, .block = block, .number = number, .is_zero = is_zero});
	error = is_zero ? device_zero(&device, BLOCK, (uint64_t)block * BLOCK)
			: device_write(&device, bytes, BLOCK, (uint64_t)block * BLOCK);
	if (error != 0)
		give_up("write");
	pthread_mutex_lock(&record.lock);
	record.answered[block] = number;
	pthread_mutex_unlock(&record.lock);
}

struct worker {
	pthread_t thread;
	uint32_t number;
	uint64_t random;
	uint32_t steps;
	uint32_t last[BLOCKS];
};

/*
 * Each writes blocks of its own. Some pause, so that not all of them wait for the log when it is
 * full. Flushes are few at times: then segments fill up that nobody has synced.
 */
static void *work(void *arg)
{
	struct worker *worker = arg;

	while (!atomic_load(&record.stop)) {
		uint64_t random = next_random(&worker->random) >> 16;
		uint32_t block =
			(uint32_t)(random / 64 % (BLOCKS / THREADS)) * THREADS + worker->number;
		struct timespec pause = {0, (long)(random / 4096 % 1000000)};
		uint64_t flush_each = worker->steps++ / 128 % 2 == 0 ? 32 : 1024;

		if (random / 8 % flush_each == 0)
			flush();
		else
			write_block(block, ++worker->last[block], random % 64 < 4);
		if (worker->number % 2 == 1)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- the disks at some time ------------------------------------------------------------------ */

static struct {
	unsigned char *synced, *made; /* what is there for certain; with what else may be there */
	uint64_t size;
	/* Steps before this one are in synced, per sector. */
	uint32_t floor[DISK_SECTORS];
	uint32_t chosen[DISK_SECTORS]; /* and steps before this one in made */
} disks[DISKS];

static struct {
	uint32_t floor[BLOCKS], sent[BLOCKS]; /* numbers of states */
	bool *is_zero[BLOCKS];                /* by number */
} states;

/* The sectors of a write, as far as they hold it at some time: each sector's own. */
static void apply(unsigned char *to, const struct step *step, uint32_t number, const uint32_t *from,
	const uint32_t *until)
{
	for (uint64_t at = step->offset; at < step->offset + step->size;) {
		uint64_t sector = at / SECTOR, end = (sector + 1) * SECTOR;

		if (end > step->offset + step->size)
			end = step->offset + step->size;
		if (number >= from[sector] && number < until[sector] && step->bytes != NULL)
			memcpy(to + at, step->bytes + (at - step->offset), end - at);
		else if (number >= from[sector] && number < until[sector])
			memset(to + at, 0, end - at);
		at = end;
	}
}

/* Writes of which not all is in synced yet, in order. */
static struct {
	uint32_t *number;
	size_t count;
} pending;

static bool is_synced(const struct step *step, uint32_t number)
{
	uint64_t last = (step->offset + step->size - 1) / SECTOR;

	for (uint64_t sector = step->offset / SECTOR; sector <= last; sector++)
		if (disks[step->disk].floor[sector] <= number)
			return false;
	return true;
}

static void sync_ended(const struct step *sync)
{
	uint32_t *floor = disks[sync->disk].floor, until[DISK_SECTORS] = {0};
	uint64_t last = (sync->offset + sync->size - 1) / SECTOR;
	size_t left = 0;

	for (uint64_t sector = sync->offset / SECTOR; sector <= last; sector++)
		until[sector] = sync->began;
	for (size_t i = 0; i < pending.count; i++) {
		const struct step *step = &record.step[pending.number[i]];

		if (step->disk == sync->disk)
			apply(disks[sync->disk].synced, step, pending.number[i], floor, until);
	}
	for (uint64_t sector = sync->offset / SECTOR; sector <= last; sector++)
		if (floor[sector] < sync->began)
			floor[sector] = sync->began;
	for (size_t i = 0; i < pending.count; i++)
		if (!is_synced(&record.step[pending.number[i]], pending.number[i]))
			pending.number[left++] = pending.number[i];
	pending.count = left;
}

static void flushed(const struct step *step)
{
	const uint32_t *covered = (const uint32_t *)(const void *)step->bytes;

	for (uint32_t block = 0; block < BLOCKS; block++)
		if (covered[block] > states.floor[block])
			states.floor[block] = covered[block];
}

static void pass(uint32_t number)
{
	const struct step *step = &record.step[number];

	if (step->what == WROTE)
		pending.number[pending.count++] = number;
	else if (step->what == SYNC_ENDED)
		sync_ended(step);
	else if (step->what == SENT)
		states.sent[step->block] = step->number;
	else
		flushed(step);
}

/*
 * Each sector's time: of lost parts of 8 the last sync, of others now, and of some any time
 * between.
 */
static void choose_times(uint32_t number, uint64_t lost, uint64_t *random)
{
	for (enum disk disk = 0; disk < DISKS; disk++) {
		for (uint64_t i = 0; i < disks[disk].size / SECTOR; i++) {
			uint32_t floor = disks[disk].floor[i];
			uint64_t r = next_random(random) >> 16;

			disks[disk].chosen[i] = r % 8 < lost ? floor : number;
			if (r / 8 % 8 == 0 && lost % 8 != 0)
				disks[disk].chosen[i] =
					floor + (uint32_t)(r / 64 % (number - floor + 1));
		}
	}
}

static void make_disks(uint32_t number, uint64_t *random)
{
	choose_times(number, next_random(random) % 9, random);
	for (enum disk disk = 0; disk < DISKS; disk++)
		memcpy(disks[disk].made, disks[disk].synced, disks[disk].size);
	for (size_t i = 0; i < pending.count; i++) {
		const struct step *step = &record.step[pending.number[i]];

		apply(disks[step->disk].made, step, pending.number[i], disks[step->disk].floor,
			disks[step->disk].chosen);
	}
}

/* ---- what a device makes of them ------------------------------------------------------------- */

static struct params params_of(char *file, char *log, bool readonly)
{
	return (struct params){.file = file,
		.log = log,
		.size = (uint64_t)BLOCKS * BLOCK,
		.log_size = LOG_BYTES,
		.cache_size = 1 << 20,
		.block_size = BLOCK,
		.readonly = readonly,
		.adopt = true};
}

static void write_file(const char *path, const unsigned char *bytes, uint64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
		give_up(path);
}

static void read_file(const char *path, enum disk disk, uint64_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	disks[disk].size = size;
	disks[disk].synced = need(malloc(size));
	disks[disk].made = need(malloc(size));
	if (fd < 0 || read(fd, disks[disk].synced, size) != (ssize_t)size || close(fd) != 0)
		give_up(path);
}

static bool is_allowed(uint32_t block, const unsigned char *bytes)
{
	static const unsigned char zeroes[BLOCK];
	unsigned char wanted[BLOCK];

	for (uint32_t number = states.floor[block]; number <= states.sent[block]; number++) {
		if (states.is_zero[block][number] && memcmp(bytes, zeroes, BLOCK) == 0)
			return true;
		fill(wanted, block, number);
		if (!states.is_zero[block][number] && memcmp(bytes, wanted, BLOCK) == 0)
			return true;
	}
	return false;
}

/* Returns what is wrong with it, or NULL. */
static const char *look_at(struct device *opened)
{
	static char wrong[100];
	unsigned char bytes[BLOCK];

	for (uint32_t block = 0; block < BLOCKS; block++) {
		int error = device_read(opened, bytes, BLOCK, (uint64_t)block * BLOCK);

		if (error == 0 && is_allowed(block, bytes))
			continue;
		snprintf(wrong, sizeof(wrong), "block %u is none of its states %u to %u (read: %d)",
			block, states.floor[block], states.sent[block], error);
		return wrong;
	}
	return NULL;
}

/* False: what was flushed is not there. */
static bool try_disks(const char *folder, uint32_t number)
{
	char file[4096], log[4096];
	struct params params = params_of(file, log, true);
	struct device opened;
	const char *wrong;

	snprintf(file, sizeof(file), "%s/crash.img", folder);
	snprintf(log, sizeof(log), "%s/crash.log", folder);
	write_file(file, disks[IMAGE].made, disks[IMAGE].size);
	write_file(log, disks[LOG].made, disks[LOG].size);
	if (device_open(&opened, &params) != 0) {
		if (number > 0)
			printf("a failure at step %u: it does not open: %s\n", number, said);
		return false;
	}
	if (device_start(&opened) != 0)
		give_up("device_start");
	wrong = look_at(&opened);
	device_close(&opened);
	if (wrong != NULL)
		printf("a failure at step %u: %s\n", number, wrong);
	return wrong == NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void do_work(const char *folder, unsigned seconds, uint64_t seed)
{
	static struct worker worker[THREADS];
	char file[4096], log[4096];
	struct params params = params_of(file, log, false);

	snprintf(file, sizeof(file), "%s/device.img", folder);
	snprintf(log, sizeof(log), "%s/device.log", folder);
	if (device_open(&device, &params) != 0 || device_start(&device) != 0)
		give_up(said);
	read_file(file, IMAGE, (uint64_t)BLOCKS * BLOCK);
	read_file(log, LOG, LOG_BYTES);
	record.step = need(calloc(STEPS, sizeof(record.step[0])));
	record.on = true;
	for (uint32_t i = 0; i < THREADS; i++) {
		worker[i].number = i;
		worker[i].random = seed * 2654435761u + i + 1;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]) != 0)
			give_up("pthread_create");
	}
	sleep(seconds);
	atomic_store(&record.stop, true);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
	device_close(&device);
	record.on = false;
}

/* ---- damaged sectors ------------------------------------------------------------------------- */

enum damage { ZEROED, ONE_BYTE, NOISE, AS_WHEN_MADE, DAMAGES };

static unsigned char *read_whole(const char *path, uint64_t size)
{
	unsigned char *bytes = need(malloc(size));
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
		give_up(path);
	return bytes;
}

static void damage_sector(enum damage how, uint64_t sector, const unsigned char *made)
{
	unsigned char *bytes = disks[LOG].made + sector * SECTOR;
	uint64_t random = sector + 1;

	if (how == ZEROED)
		memset(bytes, 0, SECTOR);
	else if (how == ONE_BYTE)
		bytes[sector * 7 % 64] ^= 0x10;
	else if (how == AS_WHEN_MADE)
		memcpy(bytes, made + sector * SECTOR, SECTOR);
	for (size_t i = 0; how == NOISE && i < SECTOR; i++)
		bytes[i] = (unsigned char)(next_random(&random) >> 32);
}

/* True: the log is refused, for a reason that is said. False: it is served, and everything is
 * there. */
static bool is_refused(const char *folder, const char *what, uint64_t sector)
{
	bool whole;

	said[0] = '\0';
	whole = try_disks(folder, 0);
	if (!whole && strstr(said, "damaged") == NULL) {
		printf("a damaged sector, %" PRIu64 " (%s): lost, and not refused\n", sector, what);
		exit(1);
	}
	return !whole;
}

/* Each sector in turn, in each way; then a byte of the hint together with one of each header. */
static unsigned damage_all(
	const char *folder, const unsigned char *whole, const unsigned char *made)
{
	static const char *const names[] = {"zeroes", "one byte", "noise", "as when it was made"};
	unsigned refused = 0;

	disks[LOG].made = need(malloc(LOG_BYTES));
	memcpy(disks[LOG].made, whole, LOG_BYTES);
	if (is_refused(folder, "whole", 0))
		give_up("a whole log was refused");
	for (uint64_t sector = 0; sector < LOG_BYTES / SECTOR; sector++)
		for (enum damage how = 0; how < DAMAGES; how++) {
			memcpy(disks[LOG].made, whole, LOG_BYTES);
			damage_sector(how, sector, made);
			refused += is_refused(folder, names[how], sector);
		}
	for (unsigned i = 0; i < LOG_SEGMENTS; i++) {
		memcpy(disks[LOG].made, whole, LOG_BYTES);
		disks[LOG].made[LOG_LINE + 9] ^= 1;
		disks[LOG].made[LOG_HEAD + i * SEGMENT + 9] ^= 1;
		refused += is_refused(folder, "hint and header", 0);
	}
	return refused;
}

/* Some blocks, flushed, still in the log; then more, so that both segments are in use. */
static void work_and_damage(const char *folder)
{
	static const uint32_t counts[] = {8, 40, 100};
	char file[4096], log[4096];
	struct params params = params_of(file, log, false);
	uint32_t number = 0;

	snprintf(file, sizeof(file), "%s/device.img", folder);
	snprintf(log, sizeof(log), "%s/device.log", folder);
	if (device_open(&device, &params) != 0 || device_start(&device) != 0)
		give_up(said);

	unsigned char *made = read_whole(log, LOG_BYTES);

	record.step = need(calloc(STEPS, sizeof(record.step[0])));
	for (uint32_t block = 0; block < BLOCKS; block++)
		states.is_zero[block] = need(calloc(200, sizeof(bool)));
	for (uint32_t block = 0; block < BLOCKS; block++)
		states.is_zero[block][0] = true;
	for (size_t i = 0; i < 3; i++) {
		for (; number < counts[i]; number++) {
			uint32_t block = number % BLOCKS;

			states.is_zero[block][++states.sent[block]] = number % 10 == 9;
			states.floor[block] = states.sent[block];
			write_block(block, states.sent[block], number % 10 == 9);
		}
		flush();
		usleep(200000); /* a checkpoint may be under way */
		disks[IMAGE].made = read_whole(file, (uint64_t)BLOCKS * BLOCK);
		disks[IMAGE].size = (uint64_t)BLOCKS * BLOCK;
		disks[LOG].size = LOG_BYTES;

		unsigned refused = damage_all(folder, read_whole(log, LOG_BYTES), made);

		printf("%u blocks: %u damaged logs refused, all others whole\n", number, refused);
	}
	device_close(&device);
}

static void prepare_states(void)
{
	for (uint32_t block = 0; block < BLOCKS; block++) {
		states.is_zero[block] = need(calloc(record.answered[block] + 2, sizeof(bool)));
		states.is_zero[block][0] = true;
	}
	for (uint32_t i = 0; i < record.steps; i++)
		if (record.step[i].what == SENT)
			states.is_zero[record.step[i].block][record.step[i].number] =
				record.step[i].is_zero;
	pending.number = need(malloc(STEPS * sizeof(pending.number[0])));
}

int main(int argc, char **argv)
{
	uint64_t images = 0, wanted, random;

	if (argc == 3 && strcmp(argv[2], "damage") == 0) {
		work_and_damage(argv[1]);
		return 0;
	}
	if (argc != 5)
		return 2;
	wanted = strtoull(argv[3], NULL, 10);
	random = strtoull(argv[4], NULL, 10) * 2 + 1;
	do_work(argv[1], (unsigned)atoi(argv[2]), random);
	prepare_states();
	for (uint32_t number = 0; number < record.steps; number++) {
		pass(number);
		/* Evenly over all steps. */
		for (; images < wanted * (number + 1) / record.steps; images++) {
			make_disks(number + 1, &random);
			if (!try_disks(argv[1], number + 1))
				return 1;
		}
	}
	printf("%" PRIu64 " disks after a power failure, at %u steps\n", images, record.steps);
	return 0;
}
