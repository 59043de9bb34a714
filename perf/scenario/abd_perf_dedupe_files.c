/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a tree, and reading from its files through two descriptors that are kept: of the original
 * and of its copy.
 */
#include "abd_perf_dedupe_files.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many unreadable files are named; the rest are only counted. */
#define ABD_PERF_UNREADABLE_NAMED 8

void abd_perf_fileset_init(struct abd_perf_fileset *set)
{
	memset(set, 0, sizeof(*set));
	set->fd[0] = set->fd[1] = -1;
}

static struct abd_perf_file *abd_perf_fileset_next(struct abd_perf_fileset *set)
{
	if (set->count == set->room) {
		set->room = set->room * 2 + 1024;
		set->file = realloc(set->file, set->room * sizeof(*set->file));
		if (set->file == NULL)
			abd_perf_say_die(1, "no memory for a list of %zu files", set->room);
	}
	memset(&set->file[set->count], 0, sizeof(*set->file));
	return &set->file[set->count++];
}

void abd_perf_fileset_add(struct abd_perf_fileset *set, abd_t *abd, size_t base, size_t size)
{
	struct abd_perf_file *file = abd_perf_fileset_next(set);

	file->abd = abd;
	file->base = base;
	file->size = size;
}

/* ---- what can't be read ---------------------------------------------------------------------- */

static void abd_perf_fileset_complain(
	struct abd_perf_fileset *set, const char *path, const char *why)
{
	set->unreadable++;
	if (set->unreadable <= ABD_PERF_UNREADABLE_NAMED)
		abd_perf_say_warn("%s: %s; skipped", path, why);
	else if (set->unreadable == ABD_PERF_UNREADABLE_NAMED + 1)
		abd_perf_say_warn("more files can't be read; they are counted");
}

static bool abd_perf_file_fail(
	struct abd_perf_fileset *set, struct abd_perf_file *file, const char *why)
{
	if (!file->skip)
		abd_perf_fileset_complain(set, file->path, why);
	file->skip = true;
	return false;
}

/* ---- walking --------------------------------------------------------------------------------- */

static int abd_perf_fileset_order(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void abd_perf_fileset_entry(struct abd_perf_fileset *set, const FTSENT *entry)
{
	struct abd_perf_file *file;

	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		return;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		abd_perf_fileset_complain(set, entry->fts_path, strerror(entry->fts_errno));
		return;
	case FTS_F:
		break;
	default:
		set->not_regular++;
		return;
	}
	file = abd_perf_fileset_next(set);
	file->path = strdup(entry->fts_path);
	if (file->path == NULL)
		abd_perf_say_die(1, "no memory for the name of a file");
	file->size = (size_t)entry->fts_statp->st_size;
	file->device = entry->fts_statp->st_dev;
	file->inode = entry->fts_statp->st_ino;
}

/* By file, and names of one file in the order of the walk. */
static int abd_perf_fileset_by_inode(const void *a, const void *b)
{
	const struct abd_perf_file *x = *(struct abd_perf_file *const *)a,
				   *y = *(struct abd_perf_file *const *)b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void abd_perf_fileset_skip_links(struct abd_perf_fileset *set)
{
	struct abd_perf_file **sorted = malloc((set->count + 1) * sizeof(struct abd_perf_file *));

	if (sorted == NULL)
		abd_perf_say_die(1, "no memory to sort %zu files", set->count);
	for (size_t i = 0; i < set->count; i++)
		sorted[i] = &set->file[i];
	qsort(sorted, set->count, sizeof(struct abd_perf_file *), abd_perf_fileset_by_inode);
	for (size_t i = 1; i < set->count; i++) {
		if (sorted[i]->device == sorted[i - 1]->device &&
			sorted[i]->inode == sorted[i - 1]->inode) {
			sorted[i]->skip = true;
			set->hard_links++;
		}
	}
	free(sorted);
}

void abd_perf_fileset_walk(struct abd_perf_fileset *set, const char *root)
{
	char *path = strdup(root);
	char *roots[] = {path, NULL};
	struct stat status;
	FTSENT *entry;
	FTS *tree;

	if (path == NULL)
		abd_perf_say_die(1, "no memory for a name");
	if (stat(root, &status) != 0)
		abd_perf_say_die(1, "--input %s: %s", root, strerror(errno));
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		abd_perf_say_die(1, "--input %s: neither a file nor a directory", root);
	tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, abd_perf_fileset_order);
	if (tree == NULL)
		abd_perf_say_die(1, "--input %s: %s", root, strerror(errno));
	while ((entry = fts_read(tree)) != NULL)
		abd_perf_fileset_entry(set, entry);
	fts_close(tree);
	free(path);
	abd_perf_fileset_skip_links(set);
}

void abd_perf_fileset_free(struct abd_perf_fileset *set)
{
	for (unsigned slot = 0; slot < 2; slot++) {
		if (set->fd[slot] >= 0)
			close(set->fd[slot]);
	}
	for (size_t i = 0; i < set->count; i++)
		free(set->file[i].path);
	free(set->file);
	abd_perf_fileset_init(set);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool abd_perf_file_open(struct abd_perf_fileset *set, size_t index, unsigned slot)
{
	struct abd_perf_file *file = &set->file[index];

	if (file->abd != NULL || (set->fd[slot] >= 0 && set->fd_file[slot] == index))
		return true;
	if (set->fd[slot] >= 0)
		close(set->fd[slot]);
	/*
	 * NONBLOCK: should a pipe have taken the file's name since the walk, nobody may wait for
	 * its writer.
	 */
	set->fd[slot] = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	set->fd_file[slot] = index;
	return set->fd[slot] >= 0 || abd_perf_file_fail(set, file, strerror(errno));
}

static bool abd_perf_file_pread(struct abd_perf_fileset *set, size_t index, size_t off, size_t size,
	unsigned slot, abd_t *buf, size_t buf_off)
{
	ssize_t got;

	if (!abd_perf_file_open(set, index, slot))
		return false;
	got = abd_pread(set->fd[slot], buf, buf_off, size, (off_t)off);
	if (got < 0)
		return abd_perf_file_fail(set, &set->file[index], strerror((int)-got));
	if ((size_t)got < size)
		return abd_perf_file_fail(set, &set->file[index], "has become shorter");
	return true;
}

bool abd_perf_file_load(struct abd_perf_fileset *set, size_t index, size_t off, size_t size,
	unsigned slot, abd_t *buf, abd_t **abd, size_t *abd_off)
{
	const struct abd_perf_file *file = &set->file[index];

	*abd = file->abd != NULL ? file->abd : buf;
	*abd_off = file->abd != NULL ? file->base + off : off % ABD_PERF_PAGE;
	return file->abd != NULL || abd_perf_file_pread(set, index, off, size, slot, buf, *abd_off);
}

bool abd_perf_file_read(
	struct abd_perf_fileset *set, size_t index, size_t off, size_t size, abd_t *linear)
{
	const struct abd_perf_file *file = &set->file[index];

	if (file->abd == NULL)
		return abd_perf_file_pread(set, index, off, size, 1, linear, 0);
	abd_copy_off(linear, file->abd, 0, file->base + off, size);
	return true;
}
