/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is saved is all that the cache has, in the order of its worth, wherever it is written to and
 * whatever happens meanwhile.
 */
#include "abd_arc_hold.h"
#include "abd_arc_save.h"
#include "arc_saved.h"

#include <sys/resource.h>
#include <sys/time.h>

enum { CAPACITY = 4 << 20, LARGEST = 150000 };

static char data[LARGEST + 8], got[LARGEST + 8];

/* In slots, split, in buffers of their own; compressed or not. */
static size_t size_of(uint64_t n)
{
	static const size_t size[] = {1, 40, 500, 4096, 6000, 20000, LARGEST};

	return size[n % 7] + n / 7 % 8;
}

static unsigned random_of(uint64_t n)
{
	return (unsigned)(n % 3 * 32);
}

static void put(abd_arc_t *arc, uint64_t n, unsigned flags)
{
	arc_fill(data, size_of(n), n, 1, random_of(n));
	cr_assert_eq(abd_arc_put_flags(arc, arc_at(n), data, size_of(n), flags), 0);
}

static bool has(abd_arc_t *arc, uint64_t n)
{
	size_t size;
	ssize_t result = abd_arc_read_all(arc, arc_at(n), got, sizeof(got), &size);

	if (result == -ENOENT)
		return false;
	arc_fill(data, size_of(n), n, 1, random_of(n));
	abd_test_check(
		result == (ssize_t)size_of(n) && memcmp(got, data, size) == 0, "%u", (unsigned)n);
	return true;
}

/* The keys of the records in a save, in order, and their flags. */
static size_t keys_of(abd_arc_t *arc, uint64_t *keys, unsigned *flags, size_t most)
{
	enum { ROOM = 2 * CAPACITY };
	char *bytes = malloc(ROOM);
	size_t size = arc_saved_bytes(arc, bytes, ROOM), count = 0;
	uint64_t word[ABD_ARC_SAVE_RECORD_WORDS];

	for (size_t at = 8 * ABD_ARC_SAVE_HEAD_WORDS; at < size; count++) {
		memcpy(word, bytes + at, sizeof(word));
		if ((le64toh(word[7]) >> 32 & ABD_ARC_SAVE_END) != 0)
			break;
		cr_assert(count < most && word[0] == htole64(ABD_ARC_SAVE_RECORD));
		keys[count] = le64toh(word[3]);
		flags[count] = le64toh(word[7]) >> 32 & 0xffff;
		at += sizeof(word) + (le64toh(word[6]) >> 32) + (uint32_t)le64toh(word[7]);
	}
	free(bytes);
	return count;
}

Test(abd_arc_save, what_is_saved_is_there_again_whatever_its_form)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 2 * CAPACITY,
		.shards = arc_shards(CAPACITY),
		.lz4_index_min = 16384,
		.lz4_index_group = 4096};
	abd_arc_t *one = abd_arc_create(&config), *two = abd_arc_create(&config);
	struct abd_arc_saved saved, loaded;
	struct abd_arc_stats from, to;
	int fd = arc_file(NULL, 0);

	for (uint64_t n = 0; n < 140; n++)
		put(one, n, n % 5 == 0 ? ABD_ARC_METADATA : 0);
	saved = arc_save(one, fd);
	loaded = arc_load(two, fd);
	from = arc_stats(one);
	to = arc_stats(two);
	cr_assert_eq(saved.records, 140);
	cr_assert_eq(saved.stored_bytes, from.stored_bytes);
	cr_assert_eq(memcmp(&saved, &loaded, sizeof(saved)), 0);
	cr_assert_eq(to.stored_bytes, from.stored_bytes);
	cr_assert_eq(to.metadata_stored_bytes, from.metadata_stored_bytes);
	cr_assert_eq(to.metadata_entries, from.metadata_entries);
	cr_assert_eq(to.index_bytes, from.index_bytes);
	cr_assert_eq(from.hits, 0);
	for (uint64_t n = 0; n < 140; n++)
		cr_assert(has(two, n));
	close(fd);
	abd_arc_destroy(one);
	abd_arc_destroy(two);
}

/* What T1 has beyond its target, which is 0 here, is worth less than all of T2. */
Test(abd_arc_save, the_best_come_first)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = CAPACITY,
		.hit_batch = 1,
		.shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	uint64_t keys[100];
	unsigned flags[100];

	for (uint64_t n = 0; n < 100; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), "record", 7), 0);
	for (uint64_t n = 0; n < 100; n += 2)
		cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, 7), 7);
	cr_assert_eq(keys_of(arc, keys, flags, 100), 100);
	for (uint64_t n = 0; n < 50; n++) {
		cr_assert_eq(flags[n], ABD_ARC_SAVE_FREQUENT);
		cr_assert_eq(keys[n], 98 - 2 * n);
		cr_assert_eq(flags[50 + n], 0);
		cr_assert_eq(keys[50 + n], 99 - 2 * n);
	}

	/* With a target of a quarter, one of T1 comes with each two of T2, until it is reached. */
	arc->policy.target_recent = arc->policy.recent.bytes / 2;
	cr_assert_eq(keys_of(arc, keys, flags, 100), 100);
	for (uint64_t n = 0, recent = 0; n < 75; n++) {
		recent += flags[n] == 0;
		cr_assert(recent + 1 >= (n + 1) / 3 && recent <= (n + 1) / 3 + 1, "%u at %u",
			(unsigned)recent, (unsigned)n);
	}
	for (uint64_t n = 75; n < 100; n++)
		cr_assert_eq(keys[n], 49 - 2 * (n - 75));
	abd_arc_destroy(arc);
}

/* The same bytes on each machine: those of version 1, which later ones still read. */
Test(abd_arc_save, the_form_is_that_of_version_1)
{
	static const unsigned char head[8] = "abdsave\1", record[8] = "record\r\n";
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	unsigned char bytes[32 + 72 + 7 + 72];
	abd_arc_key_t key = {0x0102030405060708, {9, 10}, 11};

	cr_assert_eq(abd_arc_put_flags(arc, &key, "a file", 7, ABD_ARC_METADATA), 0);
	cr_assert_eq(arc_saved_bytes(arc, (char *)bytes, sizeof(bytes)), sizeof(bytes));
	cr_assert_arr_eq(bytes, head, 8);
	cr_assert_arr_eq(bytes + 32, record, 8);
	cr_assert_arr_eq(bytes + 48, "\10\7\6\5\4\3\2\1\11\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\13", 25);
	cr_assert_arr_eq(bytes + 80, "\7\0\0\0\7\0\0\0\0\0\0\0\2\0", 14);
	cr_assert_arr_eq(bytes + 104, "a file", 7);
	cr_assert_arr_eq(bytes + 111, record, 8);
	abd_arc_destroy(arc);
}

Test(abd_arc_save, of_an_empty_cache_has_a_head_and_an_end)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	struct abd_arc_saved saved;
	int fd = arc_file(NULL, 0);

	cr_assert_eq(arc_save(arc, fd).file_bytes, 104);
	saved = arc_load(arc, fd);
	cr_assert(saved.records == 0 && saved.is_complete == 1 && saved.damaged == 0);
	close(fd);
	abd_arc_destroy(arc);
}

Test(abd_arc_save, what_is_damaged_or_evicted_is_left_out)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, ABD_ARC_CHECKSUM);
	struct abd_arc_saved saved;
	int fd = arc_file(NULL, 0);
	abd_arc_hold_t hold;
	void *bytes;

	for (uint64_t n = 0; n < 4; n++)
		put(arc, n, 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	memcpy(&bytes, &hold.abd->abd_u.abd_linear.abd_buf, sizeof(bytes));
	((char *)bytes)[3] ^= 1;
	abd_arc_release(&hold);
	cr_assert_eq(abd_arc_hold(arc, arc_at(2), &hold), 0);
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(2)), arc_at(2)));
	pthread_mutex_unlock(&arc->lock);
	saved = arc_save(arc, fd);
	cr_assert(saved.records == 2 && saved.damaged == 1 && saved.is_complete == 1);
	abd_arc_release(&hold);
	close(fd);
	abd_arc_destroy(arc);
}

/* ---- where to -------------------------------------------------------------------------------- */

static abd_arc_t *full_cache(void)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	for (uint64_t n = 0; n < 70; n++)
		put(arc, n, 0);
	return arc;
}

Test(abd_arc_save, errors_of_the_file_end_it_and_it_says_how_far_it_came)
{
	abd_arc_t *arc = full_cache();
	struct abd_arc_saved saved;
	int fd[2], full = open("/dev/full", O_WRONLY);

	cr_assert(full >= 0);
	cr_assert_eq(abd_arc_save(arc, full, &saved, sizeof(saved)), -ENOSPC);
	cr_assert(saved.records == 0 && saved.file_bytes == 0 && saved.is_complete == 0);
	close(full);
	cr_assert_eq(abd_arc_save(arc, -1, &saved, sizeof(saved)), -EBADF);

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe(fd), 0);
	close(fd[0]);
	cr_assert_eq(abd_arc_save(arc, fd[1], &saved, sizeof(saved)), -EPIPE);
	close(fd[1]);

	/* A pipe takes 64 KiB. */
	cr_assert_eq(pipe2(fd, O_NONBLOCK), 0);
	cr_assert_eq(abd_arc_save(arc, fd[1], &saved, sizeof(saved)), -EAGAIN);
	cr_assert(saved.file_bytes > 0 && saved.file_bytes <= 65536);
	close(fd[0]);
	close(fd[1]);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	cr_assert_eq(arc_stats(arc).entries, 70);
	abd_arc_destroy(arc);
}

/* What was written before is found by a load, and that is what the save says. */
Test(abd_arc_save, of_a_batch_that_was_cut_off_what_is_whole_is_counted)
{
	abd_arc_t *one = full_cache();
	struct rlimit before, limit;
	struct abd_arc_saved saved, loaded;
	rlim_t full = 0;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	for (limit.rlim_cur = 10; full == 0; limit.rlim_cur += limit.rlim_cur / 8 + 3) {
		abd_arc_t *two = arc_make(CAPACITY, 0, 0);
		int fd = arc_file(NULL, 0);

		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		int error = abd_arc_save(one, fd, &saved, sizeof(saved));

		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		cr_assert(error == 0 || error == -EFBIG, "%d", error);
		full = error == 0 ? limit.rlim_cur : 0;
		cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
		error = abd_arc_load(two, fd, &loaded, sizeof(loaded));
		cr_assert_eq(error, saved.file_bytes < 32 ? -EBADMSG : 0);
		cr_assert_eq(saved.file_bytes, loaded.file_bytes);
		cr_assert_eq(saved.records, loaded.records);
		cr_assert_eq(saved.stored_bytes, loaded.stored_bytes);
		cr_assert_eq(saved.is_complete, full > 0);
		close(fd);
		abd_arc_destroy(two);
	}
	cr_assert_eq(saved.records, 70);
	abd_arc_destroy(one);
}

Test(abd_arc_save, figures_are_filled_in_for_a_caller_of_any_version)
{
	abd_arc_t *arc = full_cache();
	uint64_t saved[8];
	int fd = arc_file(NULL, 0);

	memset(saved, 0xff, sizeof(saved));
	cr_assert_eq(abd_arc_save(arc, fd, (void *)saved, 0), -EINVAL);
	cr_assert_eq(abd_arc_save(arc, fd, (void *)saved, 12), -EINVAL);
	cr_assert_eq(saved[0], UINT64_MAX);
	cr_assert_eq(abd_arc_save(arc, fd, (void *)saved, 8), 0);
	cr_assert(saved[0] == 70 && saved[1] == UINT64_MAX);
	cr_assert_eq(abd_arc_save(arc, fd, (void *)saved, sizeof(saved)), 0);
	cr_assert(saved[5] == 1 && saved[6] == 0 && saved[7] == 0);
	abd_test_breaks(abd_arc_save, NULL, fd, (void *)saved, 8);
	abd_test_breaks(abd_arc_save, arc, fd, NULL, 8);
	close(fd);
	abd_arc_destroy(arc);
}

static int ends[2];
static atomic_int ticks;

static void tick(int signal_number)
{
	(void)signal_number;
	atomic_fetch_add(&ticks, 1);
}

/* Reads a byte, then ever more, and sends no signal to itself. */
static void *load_slowly(void *arc)
{
	struct abd_arc_saved loaded;
	sigset_t alarm_only;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	usleep(20000);
	loaded = arc_load(arc, ends[0]);
	cr_assert(loaded.records == 70 && loaded.is_complete == 1 && loaded.damaged == 0);
	return NULL;
}

/* The writer is interrupted before a byte is moved, and in the middle of a write. */
Test(abd_arc_save, interruptions_and_short_writes_are_made_good)
{
	abd_arc_t *one = full_cache(), *two = arc_make(CAPACITY, 0, 0);
	struct sigaction action = {.sa_handler = tick}; /* no SA_RESTART */
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	struct abd_arc_saved saved;
	pthread_t reader;

	sigaction(SIGALRM, &action, NULL);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(pthread_create(&reader, NULL, load_slowly, two), 0);
	setitimer(ITIMER_REAL, &often, NULL);
	cr_assert_eq(abd_arc_save(one, ends[1], &saved, sizeof(saved)), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	close(ends[1]);
	pthread_join(reader, NULL);
	close(ends[0]);
	cr_assert(atomic_load(&ticks) > 0);
	for (uint64_t n = 0; n < 70; n++)
		cr_assert(has(two, n));
	abd_arc_destroy(one);
	abd_arc_destroy(two);
}

/* While it waits for the pipe, it keeps nobody from the cache. */
Test(abd_arc_save, no_lock_is_held_while_it_writes)
{
	abd_arc_t *arc = full_cache();
	abd_arc_t *two = arc_make(CAPACITY, 0, 0);
	struct abd_arc_saved saved;
	pthread_t reader;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(pthread_create(&reader, NULL, load_slowly, two), 0);
	abd_test_wrap_locks(&arc->lock);
	cr_assert_eq(abd_arc_save(arc, ends[1], &saved, sizeof(saved)), 0);
	cr_assert(abd_test_wrap_locks(NULL) > 0);
	close(ends[1]);
	pthread_join(reader, NULL);
	close(ends[0]);
	abd_arc_destroy(arc);
	abd_arc_destroy(two);
}

Test(abd_arc_save, without_memory_it_says_so)
{
	abd_arc_t *arc = full_cache();
	struct abd_arc_saved saved;
	int fd = arc_file(NULL, 0), error = -ENOMEM;

	for (size_t n = 0; error == -ENOMEM; n++) {
		cr_assert(n < 100);
		abd_test_fault_from(n);
		error = abd_arc_save(arc, fd, &saved, sizeof(saved));
		abd_test_fault_end();
		cr_assert(error == 0 || error == -ENOMEM, "%d", error);
		cr_assert_eq(saved.records, error == 0 ? 70 : 0);
	}
	close(fd);
	abd_arc_destroy(arc);
}

/* ---- beside others --------------------------------------------------------------------------- */

enum { STABLE = 60, OTHERS = 4000, ROUNDS = 20 };

static atomic_bool stop;

static void *disturb(void *arc)
{
	uint64_t state = 7;
	char record[3000], part[8];

	while (!atomic_load(&stop)) {
		uint64_t n = STABLE + abd_test_random_below(&state, OTHERS);

		arc_fill(record, sizeof(record), n, 1, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n % 8 == 0)
			(void)abd_arc_remove(arc, arc_at(n));
		for (uint64_t hot = 0; hot < STABLE; hot++)
			(void)abd_arc_read(arc, arc_at(hot), part, 0, 1);
	}
	return NULL;
}

static void expect_sound(abd_arc_t *arc)
{
	char record[3000], found[3000];

	for (uint64_t n = STABLE; n < STABLE + OTHERS; n++) {
		arc_fill(record, sizeof(record), n, 1, 64);
		if (abd_arc_read(arc, arc_at(n), found, 0, sizeof(found)) > 0)
			abd_test_check(
				memcmp(found, record, sizeof(record)) == 0, "%u", (unsigned)n);
	}
}

Test(abd_arc_save, beside_puts_and_evictions_all_that_stays_is_saved_once)
{
	abd_arc_t *one = arc_make(CAPACITY, 1, 0);
	pthread_t thread;

	for (uint64_t n = 0; n < STABLE; n++) {
		arc_fill(data, 100, n, 1, 64);
		cr_assert_eq(abd_arc_put(one, arc_at(n), data, 100), 0);
		cr_assert_eq(abd_arc_read(one, arc_at(n), got, 0, 100), 100);
	}
	cr_assert_eq(pthread_create(&thread, NULL, disturb, one), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		abd_arc_t *two = arc_make(2 * CAPACITY, 0, 0);
		int fd = arc_file(NULL, 0);
		struct abd_arc_saved saved = arc_save(one, fd), loaded = arc_load(two, fd);

		cr_assert_eq(loaded.skipped, 0); /* no key comes twice */
		cr_assert_eq(loaded.records, saved.records);
		for (uint64_t n = 0; n < STABLE; n++)
			cr_assert(arc_contains(two, n), "%u", (unsigned)n);
		expect_sound(two);
		close(fd);
		abd_arc_destroy(two);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	cr_assert_eq(arc_stats(one).held_bytes, 0);
	abd_arc_destroy(one);
}
