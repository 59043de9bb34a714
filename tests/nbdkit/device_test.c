/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device of examples/nbdkit-abd: blocks that the cache does not have, writes that overtake
 * reads, files that fail, logs that end in the middle. It waits for events, never for a time to
 * pass. Usage: device_test FOLDER
 */
#include "without_nbdkit.h"

#include <semaphore.h>

enum { BLOCKS = 64, READERS = 16 };

#define EXPECT(right) ((right) ? (void)0 : (printf("FAIL: %s\n", #right), exit(1)))

static _Atomic unsigned file_reads, readers_begun, readers_expected;
static _Thread_local bool stops; /* this thread's next read of the file stops with its bytes */
static _Thread_local uint64_t reading; /* the block that this thread reads */
static sem_t stopped, go_on;
static int msync_error, fdatasync_error, pwrite_error;

__typeof__(abd_copy) __real_abd_copy;
__typeof__(abd_pread) __real_abd_pread;
__typeof__(abd_pwrite) __real_abd_pwrite;

/* A record is copied under its block's lock: a checkpoint waits for that before the log goes on. */
void __wrap_abd_copy(abd_t *dst, const abd_t *src, size_t size)
{
	EXPECT(pthread_mutex_trylock(device_lock_of(&device, reading)) == EBUSY);
	__real_abd_copy(dst, src, size);
}

ssize_t __wrap_abd_pread(int fd, abd_t *dst, size_t off, size_t size, off_t file_off)
{
	ssize_t got = __real_abd_pread(fd, dst, off, size, file_off);

	atomic_fetch_add(&file_reads, 1);
	while (atomic_load(&readers_begun) < atomic_load(&readers_expected))
		usleep(1000);
	if (stops) {
		stops = false;
		sem_post(&stopped);
		sem_wait(&go_on);
	}
	return got;
}

ssize_t __wrap_abd_pwrite(int fd, const abd_t *src, size_t off, size_t size, off_t file_off)
{
	return pwrite_error != 0 ? -pwrite_error : __real_abd_pwrite(fd, src, off, size, file_off);
}

int __wrap_msync(void)
{
	errno = msync_error;
	return -(msync_error != 0);
}

int __wrap_fdatasync(void)
{
	errno = fdatasync_error;
	return -(fdatasync_error != 0);
}

static int write_number(unsigned block, unsigned number)
{
	char bytes[BLOCK];

	make_block(bytes, number);
	return device_write(&device, bytes, BLOCK, block * BLOCK);
}

static bool holds_from(unsigned block, unsigned number, size_t from)
{
	char bytes[BLOCK], right[BLOCK];

	make_block(right, number);
	reading = block;
	return device_read(&device, bytes, BLOCK - from, block * BLOCK + from) == 0 &&
	       memcmp(bytes, right + from, BLOCK - from) == 0;
}

#define holds(block, number) holds_from(block, number, 0)

static void start(void)
{
	EXPECT(device_open(&device, IMAGE, LOG_SIZE_MIN) == 0);
	EXPECT(device_start(&device, 1 << 20) == 0);
}

/* Each block holds its number, in the file; nothing is cached. */
static void make_device(void)
{
	FILE *file = fopen(IMAGE, "w");
	char bytes[BLOCK];

	unlink(IMAGE ".log");
	for (unsigned block = 0; block < BLOCKS; block++) {
		make_block(bytes, block);
		need(file && fwrite(bytes, BLOCK, 1, file) == 1, IMAGE);
	}
	fclose(file);
	start();
	atomic_store(&file_reads, 0);
}

struct reader {
	pthread_t thread;
	unsigned block, number;
	size_t from;
	bool stops, is_right;
};

static void *read_it(void *arg)
{
	struct reader *reader = arg;

	stops = reader->stops;
	atomic_fetch_add(&readers_begun, 1);
	reader->is_right = holds_from(reader->block, reader->number, reader->from);
	return NULL;
}

static void a_missing_block_is_read_once(void)
{
	struct reader reader[READERS];

	make_device();
	atomic_store(&readers_expected, READERS);
	for (unsigned i = 0; i < READERS; i++) {
		reader[i] = (struct reader){.block = 7, .number = 7, .from = i % 8 * (BLOCK / 8)};
		pthread_create(&reader[i].thread, NULL, read_it, &reader[i]);
	}
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(reader[i].thread, NULL);
		EXPECT(reader[i].is_right);
	}
	EXPECT(atomic_load(&file_reads) == 1);
	EXPECT(write_number(6, 100) == 0 && write_number(7, 101) == 0);
	EXPECT(holds(6, 100) && holds(7, 101) && atomic_load(&file_reads) == 1);
	device_close(&device);
}

/* A read has the old bytes in hand when the block is written, and perhaps brought to the file. */
static void a_write_overtakes_a_read(bool with_checkpoint)
{
	struct reader old = {.block = 9, .stops = true}, new = {.block = 9, .number = 200};

	make_device();
	pthread_create(&old.thread, NULL, read_it, &old);
	sem_wait(&stopped);
	EXPECT(write_number(9, 200) == 0); /* if it waits, this never ends */
	EXPECT(!with_checkpoint || checkpoint(&device, true) == 0);
	pthread_create(&new.thread, NULL, read_it, &new);
	EXPECT(holds(0, 0));
	sem_post(&go_on);
	pthread_join(new.thread, NULL);
	pthread_join(old.thread, NULL);
	EXPECT(new.is_right &&holds(9, 200));
	device_close(&device);
}

static void a_log_that_cannot_be_synced_takes_no_more(void)
{
	make_device();
	EXPECT(write_number(1, 101) == 0 && device_flush(&device) == 0);
	EXPECT(write_number(2, 102) == 0);
	msync_error = EIO;
	EXPECT(device_flush(&device) == -EIO);
	msync_error = 0; /* the system says so once, and may have dropped the pages */
	EXPECT(device_flush(&device) == -EIO && write_number(3, 103) == -EIO);
	EXPECT(holds(1, 101) && holds(2, 102) && holds(3, 3));
	kill_device();
	start();
	EXPECT(holds(1, 101) && holds(3, 3));
	EXPECT(write_number(3, 103) == 0 && device_flush(&device) == 0);
	device_close(&device);
}

static void a_file_that_fails_loses_nothing(int *call, int error)
{
	unsigned count = 0;
	int result;

	make_device();
	*call = error;
	while ((result = write_number(count, 1001 + 2 * count)) == 0 && count < BLOCKS - 1)
		count++;
	EXPECT(result == -error && count > 8);
	EXPECT(device_flush(&device) == 0 && holds(count - 1, 999 + 2 * count));
	kill_device();
	EXPECT(device_open(&device, IMAGE, 0) != 0); /* the log can't be brought to the file */
	*call = 0;
	start();
	for (unsigned i = 0; i < count; i++)
		EXPECT(holds(i, 1001 + 2 * i));
	EXPECT(write_number(0, 5) == 0);
	device_close(&device);
	start();
	EXPECT(holds(0, 5) && holds(1, 1003));
	device_close(&device);
}

static void what_lies_behind_a_torn_record_never_counts(void)
{
	make_device();
	for (unsigned i = 0; i < 10; i++)
		EXPECT(write_number(i, 101 + 2 * i) == 0);
	EXPECT(device.log.tail == LOG_FIRST + 10 * LOG_RECORD_MAX);
	device.log.map[LOG_FIRST + 5 * LOG_RECORD_MAX + 1000] ^= 1;
	kill_device();
	for (unsigned turn = 0; turn < 2; turn++) {
		start();
		for (unsigned i = 0; i < 10; i++)
			EXPECT(holds(i, i < 5 ? 101 + 2 * i : i));
		/* In the places of records 0 to 5: behind them lie 6 to 9, whole. */
		for (unsigned i = 0; i < 6; i++)
			EXPECT(write_number(5, 5) == 0);
		kill_device();
	}
}

int main(int argc, char **argv)
{
	need(argc == 2 && chdir(argv[1]) == 0, "usage: device_test FOLDER");
	sem_init(&stopped, 0, 0);
	sem_init(&go_on, 0, 0);
	a_missing_block_is_read_once();
	a_write_overtakes_a_read(false);
	a_write_overtakes_a_read(true);
	a_log_that_cannot_be_synced_takes_no_more();
	a_file_that_fails_loses_nothing(&pwrite_error, ENOSPC);
	a_file_that_fails_loses_nothing(&fdatasync_error, EIO);
	what_lies_behind_a_torn_record_never_counts();
	return 0;
}
