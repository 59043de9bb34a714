/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of lz4 records behind the cache: what an engine does when a record is not there.
 *
 *   file: | head: where each record is | record 0, in whole pages | record 1 | ...
 *
 * Linux reads straight into the cache's memory, around its own page cache, and the cache keeps lz4
 * blocks as they are. However many threads miss a record, one fetches it. Who reads in order
 * fetches the next ones with the same wait, which is no use of them: a scan does not push out what
 * is used. Nothing in the file is trusted: whatever it says, the worst is -EBADMSG.
 *
 * usage: block_store pack STORE <FILE; block_store cat STORE
 */
#define _GNU_SOURCE 1 /* O_DIRECT */
#include <abd/abd.h>

#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, HEAD = 64 << 10, COUNT_MAX = 2729, RECORD_MAX = 16 << 10, AHEAD = 8 };

/* The file's first HEAD bytes, in this machine's byte order. */
struct head {
	char magic[8];
	uint64_t count;
	struct place {
		uint64_t at;
		uint32_t stored_size, logical_size, crc, reserved; /* sizes are equal: not lz4 */
	} place[COUNT_MAX];
	uint32_t crc; /* of what stands before it */
};

struct store {
	int fd;
	abd_arc_t *cache;
	abd_t *head_abd;
	struct head *head; /* its memory */
};

/* What each thread has of its own. */
struct reader {
	const struct store *store;
	struct io_uring ring;
	struct abd_uring uring;
	uint32_t next; /* the record behind the one read last */
};

/* Records on their way into the cache, one behind the other in the file, as one buffer. */
struct run {
	abd_t *gang;
	const struct place *place; /* of the first */
	uint32_t count;
	abd_arc_fill_t fill[1 + AHEAD];
};

_Static_assert(sizeof(struct head) <= HEAD, "one read brings all of it");

static size_t padded(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* No sum here can wrap: sizes are compared with what is left of the file. */
static bool place_is_sound(const struct place *place, uint64_t file_size)
{
	return place->at % PAGE == 0 && place->at <= file_size &&
	       place->stored_size <= file_size - place->at && place->stored_size > 0 &&
	       place->stored_size <= place->logical_size && place->logical_size <= RECORD_MAX;
}

static int store_open(struct store *store, const char *path, int flags)
{
	store->head = abd_to_buf(store->head_abd); /* begins at a page, as O_DIRECT wants */
	store->fd = open(path, flags | O_DIRECT, 0600);
	if (store->fd < 0 && errno == EINVAL) /* a file system without it */
		store->fd = open(path, flags, 0600);
	return store->fd < 0 ? -errno : 0;
}

static int store_load(struct store *store, size_t bytes)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = bytes};
	ssize_t got = abd_pread(store->fd, store->head_abd, 0, HEAD, 0);
	uint32_t crc = abd_crc32c(store->head_abd, 0, offsetof(struct head, crc), 0);
	off_t end = lseek(store->fd, 0, SEEK_END);

	if (got < 0 || end < 0)
		return got < 0 ? (int)got : -errno;
	if (got < HEAD || memcmp(store->head->magic, "abdstore", 8) != 0 ||
		store->head->count > COUNT_MAX || store->head->crc != crc)
		return -EBADMSG;
	for (uint32_t n = 0; n < store->head->count; n++)
		if (!place_is_sound(&store->head->place[n], (uint64_t)end))
			return -EBADMSG;
	store->cache = abd_arc_create(&config);
	return store->cache != NULL ? 0 : -errno;
}

/* 0: the cache has the record, and *hold holds it. 1: the run fetches it. Or an error. */
static int run_add(const struct store *store, struct run *run, const struct place *place,
	unsigned flags, abd_arc_hold_t *hold)
{
	abd_arc_key_t key = {.dva = {place->at, (uint64_t)(place - store->head->place)}};
	abd_arc_fill_t *fill = &run->fill[run->count];
	int result = abd_arc_hold_or_fill(
		store->cache, &key, padded(place->stored_size), flags, hold, fill);

	if (result == 1 && abd_gang_add(run->gang, fill->abd, false) != 0) {
		abd_arc_fill_abandon(fill);
		return -ENOMEM;
	}
	run->count += result == 1;
	return result;
}

/* Fetch the run's records, all at once, and hold the first. Returns what became of that. */
static int run_fetch(struct reader *reader, struct run *run, abd_arc_hold_t *hold)
{
	off_t at = (off_t)run->place->at;
	size_t off = abd_get_size(run->gang), first = run->fill[0].size;
	int fd = reader->store->fd, error = 0;
	ssize_t got = abd_uring_pread(&reader->uring, fd, run->gang, 0, off, at);

	if (got < 0 && run->count > 1) /* what is wrong with another is not the first one's fault */
		got = abd_uring_pread(&reader->uring, fd, run->fill[0].abd, 0, first, at);
	abd_free(run->gang); /* before what it is made of */
	for (uint32_t i = run->count; i-- > 0;) {
		const struct place *place = &run->place[i];
		size_t size = place->stored_size;
		unsigned form = size < place->logical_size ? ABD_ARC_STORED : ABD_ARC_PLAIN;

		off -= run->fill[i].size;
		error = got < 0 ? (int)got : -EBADMSG;
		if (got >= (ssize_t)(off + size) &&
			abd_crc32c(run->fill[i].abd, 0, size, 0) == place->crc)
			error = abd_arc_fill_commit(&run->fill[i], size, place->logical_size, form,
				i == 0 ? hold : NULL);
		else
			abd_arc_fill_abandon(&run->fill[i]); /* who waits for it tries next */
	}
	return error;
}

/* Read record n into dst, of RECORD_MAX bytes. Returns its size, or -errno. */
static ssize_t store_read(struct reader *reader, uint32_t n, void *dst)
{
	const struct store *store = reader->store;
	const struct place *place = &store->head->place[n], *last = place;
	struct run run = {.gang = abd_alloc_gang(), .place = place};
	uint64_t left = store->head->count - n, most = n == reader->next ? 1 + AHEAD : 1;
	abd_arc_hold_t hold, other;
	int result = run.gang != NULL ? run_add(store, &run, place, 0, &hold) : -ENOMEM;

	reader->next = n + 1;
	for (int more = result; more == 1 && run.count < most && run.count < left; last++) {
		if (last[1].at != last->at + padded(last->stored_size))
			break;
		more = run_add(store, &run, last + 1, ABD_ARC_NOWAIT | ABD_ARC_NO_TOUCH, &other);
		if (more == 0)
			abd_arc_release(&other);
	}
	if (result == 1)
		result = run_fetch(reader, &run, &hold);
	else
		abd_free(run.gang);
	if (result != 0)
		return result;
	ssize_t size = abd_arc_hold_read(&hold, dst, 0, hold.logical_size);

	abd_arc_release(&hold);
	return size;
}

/* Write all records to stdout. */
static int store_cat(struct store *store, char *record)
{
	struct reader reader = {.store = store};
	ssize_t size = store_load(store, 4 << 20);

	if (size < 0 || (size = io_uring_queue_init(64, &reader.ring, 0)) < 0)
		return (int)size;
	(void)abd_uring_begin(&reader.uring, &reader.ring); /* unregistered, it is slower */
	for (uint32_t n = 0; size >= 0 && n < store->head->count; n++) {
		size = store_read(&reader, n, record);
		if (size > 0 && write(STDOUT_FILENO, record, (size_t)size) != size)
			size = -EIO;
	}
	abd_uring_end(&reader.uring);
	io_uring_queue_exit(&reader.ring);
	return size < 0 ? (int)size : 0;
}

/* Make a store of stdin, a file. The head comes last: a store that was not finished has none. */
static int store_pack(const struct store *store, abd_t *buf)
{
	struct place place = {.at = HEAD};
	struct head *head = store->head;
	ssize_t done = 0;

	memset(head, 0, HEAD);
	memcpy(head->magic, "abdstore", 8);
	abd_zero(buf, abd_get_size(buf));
	while ((done = abd_pread(0, buf, 0, RECORD_MAX, (off_t)head->count * RECORD_MAX)) > 0) {
		ssize_t packed = abd_lz4_compress(buf, buf, RECORD_MAX, 0, (size_t)done);
		size_t from = packed > 0 && packed < done ? RECORD_MAX : 0;

		if (head->count == COUNT_MAX)
			return -EFBIG;
		place.logical_size = (uint32_t)done;
		place.stored_size = (uint32_t)(from > 0 ? packed : done);
		place.crc = abd_crc32c(buf, from, place.stored_size, 0);
		done = abd_pwrite(store->fd, buf, from, padded(place.stored_size), (off_t)place.at);
		if (done < 0)
			break;
		head->place[head->count++] = place;
		place.at += padded(place.stored_size);
	}
	head->crc = abd_crc32c(store->head_abd, 0, offsetof(struct head, crc), 0);
	if (done < 0 || fsync(store->fd) != 0)
		return done < 0 ? (int)done : -errno;
	done = abd_pwrite(store->fd, store->head_abd, 0, HEAD, 0);
	return done < 0 ? (int)done : fsync(store->fd) == 0 ? 0 : -errno;
}

int main(int argc, char **argv)
{
	bool pack = argc == 3 && strcmp(argv[1], "pack") == 0;
	int error = -EINVAL;

	abd_tuning_set("pool_size", "16777216"); /* what a ring registers */
	abd_tuning_set("chunk_provider", "pool");
	struct store store = {.fd = -1, .head_abd = abd_alloc_linear(HEAD, true)};
	abd_t *buf = abd_alloc_linear(2 * RECORD_MAX, false);

	if (argc == 3 && buf != NULL && store.head_abd != NULL)
		error = store_open(&store, argv[2], pack ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY);
	if (error == 0)
		error = pack ? store_pack(&store, buf) : store_cat(&store, abd_to_buf(buf));
	if (error < 0)
		fprintf(stderr, "block_store: %s\n", strerror(-error));
	abd_free(buf);
	abd_free(store.head_abd);
	abd_arc_destroy(store.cache);
	return error < 0;
}
