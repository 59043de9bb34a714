/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record of a header and a scattered payload is written to a file without being copied together
 * first: a gang joins the two, an iovec describes the gang to the operating system, and nothing is
 * copied on the way.
 *
 * usage: zero_copy_write FILE
 */
#include <abd/abd.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAYLOAD_SIZE ((size_t)100000)
#define IOV_MAX_HERE 4 /* small, to show how to go on */

/* Does by hand what abd_pwrite() does: for engines that have their own way to the device. */
static int write_all(int fd, const abd_t *abd)
{
	size_t off = 0;

	while (off < abd_get_size(abd)) {
		struct iovec iov[IOV_MAX_HERE];
		size_t covered;
		int n = abd_to_iov(abd, off, abd_get_size(abd) - off, iov, IOV_MAX_HERE, &covered);
		ssize_t written = n < 0 ? n : writev(fd, iov, n);

		if (written < 0)
			return -1;
		off += (size_t)written; /* a short write: the next turn starts where it ended */
	}
	return 0;
}

static int write_record(int fd, char *header, abd_t *payload)
{
	abd_t in_header, *record = abd_alloc_gang();
	int error = -1;

	if (record == NULL)
		return -1;
	abd_get_from_buf_struct(&in_header, header, strlen(header));
	if (abd_gang_add(record, &in_header, false) == 0 &&
		abd_gang_add(record, payload, false) == 0)
		error = write_all(fd, record);
	if (error == 0)
		printf("wrote %zu bytes\n", abd_get_size(record));
	abd_free(record); /* the gang first: it refers to the others */
	abd_free(&in_header);
	return error;
}

int main(int argc, char **argv)
{
	char header[] = "record 1\n";
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	abd_t *payload = abd_alloc(PAYLOAD_SIZE, false), *back = abd_alloc(PAYLOAD_SIZE, false);
	struct abd_stats stats;

	if (fd < 0 || payload == NULL || back == NULL)
		return 1;
	abd_zero_off(payload, 0, PAYLOAD_SIZE);
	abd_copy_from_buf_off(payload, "the end", PAYLOAD_SIZE - 7, 7);

	if (write_record(fd, header, payload) != 0)
		return 1;
	if (abd_pread(fd, back, 0, PAYLOAD_SIZE, (off_t)strlen(header)) != (ssize_t)PAYLOAD_SIZE)
		return 1;
	abd_stats_get(&stats, sizeof(stats));
	printf("read back %s, %d bytes copied to put it together\n",
		abd_equal(payload, back) ? "equal" : "different", (int)stats.borrow_copy_bytes);
	abd_free(back);
	abd_free(payload);
	return close(fd) != 0;
}
