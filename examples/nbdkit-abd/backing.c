/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backing file, over abd_pread() and abd_pwrite(), which continue short transfers.
 */
#include "backing.h"

#include "folder.h"
#include "nbdkit_api.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The attribute's name. Its value is the log's id, 16 bytes. */
#define BACKING_ID "user.nbdkit-abd.log"

static int cannot(const struct backing *backing, const char *what)
{
	nbdkit_error("%s: %s: %s", backing->path, what, strerror(errno));
	return -1;
}

/* Open what is there, or create it. */
static int open_file(struct backing *backing, const struct params *params)
{
	int mode = params->readonly ? O_RDONLY : O_RDWR;

	backing->fd = open(backing->path, mode | O_CLOEXEC);
	if (backing->fd >= 0)
		return 0;
	if (errno == ENOENT && !params->readonly && params->size > 0) {
		backing->fd = open(backing->path, mode | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		backing->is_new = backing->fd >= 0;
		return backing->is_new ? 0 : cannot(backing, "can't create the backing file");
	}
	if (errno == ENOENT && !params->readonly)
		nbdkit_error(
			"%s: no such backing file; size=<SIZE> would create it", backing->path);
	else if (params->readonly)
		cannot(backing, "can't open the backing file");
	else
		cannot(backing, "can't open the backing file for writing "
				"(readonly=true would serve it without)");
	return -1;
}

static int take_size(struct backing *backing, const struct params *params, const struct stat *st)
{
	uint64_t have = (uint64_t)st->st_size;

	backing->size = params->size > 0 ? params->size : have / 512 * 512;
	if (have < backing->size) {
		nbdkit_error("%s: the backing file is too small: %llu bytes, but size=%llu",
			backing->path, (unsigned long long)have, (unsigned long long)backing->size);
		return -1;
	}
	if (backing->size == 0) {
		nbdkit_error("%s: the backing file is empty; size=<SIZE> says how large a new "
			     "device is, once the file is removed",
			backing->path);
		return -1;
	}
	if (backing->size / params->block_size >= PARAMS_BLOCKS_MAX) {
		nbdkit_error("%s: too many blocks; block=<SIZE> makes them larger", backing->path);
		return -1;
	}
	return 0;
}

int backing_open(struct backing *backing, const struct params *params)
{
	struct stat st;

	*backing = (struct backing){.fd = -1, .path = params->file};
	if (open_file(backing, params) != 0)
		return -1;
	if (flock(backing->fd, (params->readonly ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
		cannot(backing, "in use by another server");
		goto fail;
	}
	if (backing->is_new &&
		(ftruncate(backing->fd, (off_t)params->size) != 0 || fsync(backing->fd) != 0 ||
			folder_sync(backing->path) != 0)) {
		cannot(backing, "can't give the backing file its size");
		goto fail;
	}
	if (fstat(backing->fd, &st) != 0) {
		cannot(backing, "fstat");
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		nbdkit_error("%s: the backing file is not a regular file", backing->path);
		goto fail;
	}
	if (take_size(backing, params, &st) != 0)
		goto fail;
	backing->has_id = fgetxattr(backing->fd, BACKING_ID, backing->id, sizeof(backing->id)) ==
			  sizeof(backing->id);
	return 0;

fail:
	backing_discard(backing);
	return -1;
}

int backing_set_id(struct backing *backing, const uint64_t id[2])
{
	if (backing->has_id && memcmp(backing->id, id, sizeof(backing->id)) == 0)
		return 0;
	if (fsetxattr(backing->fd, BACKING_ID, id, sizeof(backing->id), 0) != 0 ||
		fsync(backing->fd) != 0)
		return cannot(
			backing, "can't mark the file as its log's (attribute " BACKING_ID ")");
	memcpy(backing->id, id, sizeof(backing->id));
	backing->has_id = true;
	return 0;
}

void backing_close(struct backing *backing)
{
	if (backing->fd >= 0)
		close(backing->fd);
	backing->fd = -1;
}

void backing_discard(struct backing *backing)
{
	if (backing->is_new)
		unlink(backing->path);
	backing_close(backing);
}

int backing_read(const struct backing *backing, abd_t *dst, uint64_t offset, size_t size)
{
	ssize_t got = abd_pread(backing->fd, dst, 0, size, (off_t)offset);

	if (got < 0) {
		nbdkit_error("%s: reading at %llu: %s", backing->path, (unsigned long long)offset,
			strerror((int)-got));
		return (int)got;
	}
	if ((size_t)got < size) {
		nbdkit_error("%s: the backing file ends at %llu, within the device", backing->path,
			(unsigned long long)(offset + (uint64_t)got));
		return -EIO;
	}
	return 0;
}

void backing_read_ahead(const struct backing *backing, uint64_t offset, uint64_t size)
{
	(void)posix_fadvise(backing->fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

int backing_write(const struct backing *backing, const abd_t *src, uint64_t offset, size_t size)
{
	ssize_t put = abd_pwrite(backing->fd, src, 0, size, (off_t)offset);

	return put < 0 ? (int)put : 0;
}

/* For file systems without holes: write zeroes, a MiB at a time. */
static int write_zeroes(const struct backing *backing, uint64_t offset, uint64_t size)
{
	const uint64_t step = (uint64_t)1 << 20;
	int error = 0;

	while (size > 0 && error == 0) {
		size_t now = (size_t)(size < step ? size : step);
		abd_t zeros;

		if (abd_get_zeros_struct(&zeros, now) == NULL)
			return -errno;
		error = backing_write(backing, &zeros, offset, now);
		abd_free(&zeros);
		offset += now;
		size -= now;
	}
	return error;
}

int backing_zero(const struct backing *backing, uint64_t offset, uint64_t size)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	while (fallocate(backing->fd, mode, (off_t)offset, (off_t)size) != 0) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return write_zeroes(backing, offset, size);
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int backing_sync(const struct backing *backing)
{
	return fdatasync(backing->fd) == 0 ? 0 : -errno;
}

bool backing_is_hole(const struct backing *backing, uint64_t offset, uint64_t size)
{
	off_t data = lseek(backing->fd, (off_t)offset, SEEK_DATA);

	return data < 0 ? errno == ENXIO : (uint64_t)data >= offset + size;
}
