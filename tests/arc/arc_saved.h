/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves of caches in memory, for the tests of both sides: taken apart, changed, and loaded again.
 */
#ifndef ARC_SAVED_H
#define ARC_SAVED_H

#include "arc_data.h"

#include <endian.h>

/** A file in memory. */
static inline int arc_file(const void *bytes, size_t size)
{
	int fd = memfd_create("arc_saved", MFD_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert(size == 0 || write(fd, bytes, size) == (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static inline struct abd_arc_saved arc_save(abd_arc_t *arc, int fd)
{
	struct abd_arc_saved saved;

	cr_assert_eq(abd_arc_save(arc, fd, &saved, sizeof(saved)), 0);
	cr_assert_eq(saved.is_complete, 1);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return saved;
}

static inline struct abd_arc_saved arc_load(abd_arc_t *arc, int fd)
{
	struct abd_arc_saved saved;

	cr_assert_eq(abd_arc_load(arc, fd, &saved, sizeof(saved)), 0);
	return saved;
}

/** What a cache has, as the bytes of a save. */
static inline size_t arc_saved_bytes(abd_arc_t *arc, char *bytes, size_t room)
{
	int fd = arc_file(NULL, 0);
	struct abd_arc_saved saved = arc_save(arc, fd);

	cr_assert(saved.file_bytes <= room);
	cr_assert_eq(read(fd, bytes, room), (ssize_t)saved.file_bytes);
	close(fd);
	return saved.file_bytes;
}

#endif
