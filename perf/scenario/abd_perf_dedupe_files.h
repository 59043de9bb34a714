/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is searched for duplicates: regular files of a tree, read when needed, or files made in
 * memory, which are buffers.
 * Invariant: files are in the order of the walk, which decides what is an original and what its
 * copy: the former comes first. Links are not followed, and of several names of one file only the
 * first counts: what is shared already saves nothing.
 */
#ifndef ABD_PERF_DEDUPE_FILES_H
#define ABD_PERF_DEDUPE_FILES_H

#include <abd/abd.h>

/*
 * Offsets in files keep their place within a page when they are read into a buffer, as they do in a
 * page cache.
 */
#define ABD_PERF_PAGE 4096

/*
 * Whole pages for size bytes: only then may runs be exchanged among buffers (abd_perf_place.h), as
 * all are of one length.
 */
static inline size_t abd_perf_pages(size_t size)
{
	return (size + ABD_PERF_PAGE - 1) / ABD_PERF_PAGE * ABD_PERF_PAGE;
}

struct abd_perf_file {
	char *path; /* NULL: in memory */
	abd_t *abd; /* in memory: its bytes, from base */
	size_t base;
	size_t size;
	dev_t device;
	ino_t inode;
	bool skip; /* could not be read, or is another name of an earlier one */
};

struct abd_perf_fileset {
	struct abd_perf_file *file;
	size_t count, room;
	size_t unreadable, not_regular, hard_links;
	int fd[2]; /* the files read last, by slot */
	size_t fd_file[2];
};

void abd_perf_fileset_init(struct abd_perf_fileset *set);
/** All files of a tree, or one file. Ends the program where root can't be used at all. */
void abd_perf_fileset_walk(struct abd_perf_fileset *set, const char *root);
/** A file in memory: size bytes of abd from base. The buffer is still the caller's. */
void abd_perf_fileset_add(struct abd_perf_fileset *set, abd_t *abd, size_t base, size_t size);
void abd_perf_fileset_free(struct abd_perf_fileset *set);

/** Whether the file can be opened; if not that is said, and it is skipped and counted. */
bool abd_perf_file_open(struct abd_perf_fileset *set, size_t file, unsigned slot);

/**
 * Bytes [off, +size) of a file: in *abd from *abd_off, which is the file's own buffer when it is in
 * memory, and else buf, where they keep their place in a page. Contract: buf holds size +
 * ABD_PERF_PAGE bytes.
 * False: they can't be read (any more). That is said, and the file is skipped and counted.
 */
bool abd_perf_file_load(struct abd_perf_fileset *set, size_t file, size_t off, size_t size,
	unsigned slot, abd_t *buf, abd_t **abd, size_t *abd_off);

/** The same into the first bytes of a linear buffer. */
bool abd_perf_file_read(
	struct abd_perf_fileset *set, size_t file, size_t off, size_t size, abd_t *linear);

#endif
