/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real files, in the order of their names, so that the same tree gives the same bytes. One file of
 * a tree gives at most an eighth of the whole, so that one huge library does not stand for all.
 * Twice as much is read, and every second MiB kept, so that the bytes are of more files.
 */
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABD_PERF_FILES_SHARE 16 /* of what is read */
#define ABD_PERF_FILES_PIECE ((size_t)1 << 20)

typedef bool abd_perf_files_wanted_t(const char *name); /* NULL: all are wanted */

static bool abd_perf_files_library(const char *name)
{
	return strstr(name, ".so") != NULL;
}

static bool abd_perf_files_text(const char *name)
{
	static const char *const ending[] = {"copyright", ".txt", ".html", ".h", ".py", ".pl",
		".pm", ".md", ".xml", ".json", ".cmake", ".sh", ".conf", ".rst"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		size_t tail = strlen(ending[i]);

		if (length >= tail && strcmp(name + length - tail, ending[i]) == 0)
			return true;
	}
	return false;
}

static int abd_perf_files_order(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Append up to most bytes of a file. Returns the number of bytes, or -errno. */
static ssize_t abd_perf_files_append(struct abd_perf_data *data, const char *path, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;

	if (fd < 0)
		return -errno;
	while (got < most) {
		ssize_t n = read(fd, data->bytes + data->size, most - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && got == 0) {
			int error = errno;

			close(fd);
			return -error;
		}
		if (n <= 0)
			break;
		got += (size_t)n;
		data->size += (size_t)n;
	}
	close(fd);
	return (ssize_t)got;
}

static void abd_perf_files_unread(const char *root, size_t count, const char *what, int error)
{
	if (count > 0)
		abd_perf_say_warn("%zu %s%s under %s can't be read: %s", count, what,
			count > 1 ? "s" : "", root, strerror(error));
}

void abd_perf_files_walk(const char *root, bool (*visit)(FTSENT *entry, void *arg), void *arg)
{
	char path[4096];
	char *roots[] = {path, NULL};
	size_t unread = 0;
	bool more = true;
	int error = 0;
	FTSENT *entry;

	snprintf(path, sizeof(path), "%s", root);

	/* COMFOLLOW: --input may be a link. */
	FTS *tree =
		fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, abd_perf_files_order);

	while (tree != NULL && more && (entry = fts_read(tree)) != NULL) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
			entry->fts_info == FTS_NS) {
			unread++;
			error = entry->fts_errno;
		} else if (entry->fts_info != FTS_DP && entry->fts_info != FTS_DC) {
			more = visit(entry, arg);
		}
	}
	if (tree != NULL)
		fts_close(tree);
	abd_perf_files_unread(root, unread, "folder", error);
}

/* What is read of a tree. */
struct abd_perf_files_reading {
	struct abd_perf_data *data;
	abd_perf_files_wanted_t *wanted;
	size_t limit, unread;
	unsigned files;
	int error;
};

static bool abd_perf_files_visit(FTSENT *entry, void *arg)
{
	struct abd_perf_files_reading *reading = arg;
	size_t room = reading->limit - reading->data->size;
	size_t share = reading->limit / ABD_PERF_FILES_SHARE;
	size_t most = entry->fts_level == 0 || room < share ? room : share;
	ssize_t got;

	if (entry->fts_info != FTS_F ||
		(reading->wanted != NULL && !reading->wanted(entry->fts_name)))
		return true;
	got = abd_perf_files_append(reading->data, entry->fts_path, most);
	reading->files += got > 0;
	if (got < 0) {
		reading->unread++;
		reading->error = (int)-got;
	}
	return reading->data->size < reading->limit;
}

/* Append files of a tree until data holds limit bytes. Returns the number of files used. */
static unsigned abd_perf_files_tree(
	struct abd_perf_data *data, const char *root, abd_perf_files_wanted_t *wanted, size_t limit)
{
	struct abd_perf_files_reading reading = {.data = data, .wanted = wanted, .limit = limit};

	if (data->size < limit)
		abd_perf_files_walk(root, abd_perf_files_visit, &reading);
	abd_perf_files_unread(root, reading.unread, "file", reading.error);
	return reading.files;
}

void abd_perf_files_check(const char *path)
{
	struct stat status;
	int fd;

	if (stat(path, &status) != 0)
		abd_perf_say_die(1, "--input %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		abd_perf_say_die(1, "--input %s: neither a file nor a directory", path);
	if (S_ISREG(status.st_mode) && status.st_size == 0)
		abd_perf_say_die(1, "--input %s: is empty", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abd_perf_say_die(1, "--input %s: %s", path, strerror(errno));
	close(fd);
}

static void abd_perf_files_system(struct abd_perf_data *data, size_t size, unsigned *files)
{
	static const char *const text[] = {"/usr/share", "/usr/include", "/usr/lib"};

	*files = abd_perf_files_tree(data, "/usr/lib", abd_perf_files_library, size / 2);
	if (data->size < size / 2)
		*files += abd_perf_files_tree(data, "/usr/lib64", abd_perf_files_library, size / 2);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		*files += abd_perf_files_tree(data, text[i], abd_perf_files_text, size);
}

/* Keep every second piece, if that is enough; else the first size bytes. */
static void abd_perf_files_halve(struct abd_perf_data *data, size_t size)
{
	size_t kept = 0;

	for (size_t at = 0; data->size > size && at < data->size && kept < size;
		at += 2 * ABD_PERF_FILES_PIECE) {
		size_t piece = data->size - at < size - kept ? data->size - at : size - kept;

		piece = piece < ABD_PERF_FILES_PIECE ? piece : ABD_PERF_FILES_PIECE;
		memmove(data->bytes + kept, data->bytes + at, piece);
		kept += piece;
	}
	data->size = kept > 0 ? kept : data->size;
}

bool abd_perf_files_load(
	struct abd_perf_data *data, const struct abd_perf_options *options, size_t half)
{
	size_t size = 2 * half;
	unsigned files = 0;

	data->name = "files";
	data->size = 0;
	data->bytes = malloc(size);
	if (data->bytes == NULL)
		abd_perf_say_die(1, "no memory for %zu MiB of files", size >> 20);
	if (options->input != NULL)
		files = abd_perf_files_tree(data, options->input, NULL, size);
	else
		abd_perf_files_system(data, size, &files);
	if (data->size == 0) {
		if (options->input != NULL)
			abd_perf_say_warn("--input %s: holds no data that can be read; what needs "
					  "files is left out",
				options->input);
		else
			abd_perf_say_warn("no libraries or text under /usr can be read; name a "
					  "file or tree with --input");
		free(data->bytes);
		data->bytes = NULL;
		return false;
	}
	if (data->size > size)
		abd_perf_say_die(1, "the files have more bytes than were asked for");
	abd_perf_files_halve(data, half);
	snprintf(data->origin, sizeof(data->origin), "%.1f MiB of %u files%s%s",
		(double)data->size / (1 << 20), files,
		options->input != NULL ? ": " : ", shared libraries and text under /usr",
		options->input != NULL ? options->input : "");
	abd_perf_env_source(data->origin);
	return true;
}

bool abd_perf_files_load_tree(struct abd_perf_data *data, const char *scenario,
	const struct abd_perf_options *options, size_t size)
{
	const char *root = abd_perf_files_root(options);

	data->size = 0;
	data->bytes = malloc(size);
	if (data->bytes == NULL || size == 0)
		abd_perf_say_die(1, "no memory for %zu MiB of files", size >> 20);
	abd_perf_files_tree(data, root, NULL, size);
	if (data->size == 0) {
		abd_perf_say_warn(
			"%s is left out: %s holds no data that can be read", scenario, root);
		free(data->bytes);
		return false;
	}
	/* A small tree, again and again: each round copies all that is there. */
	while (data->size < size) {
		size_t more = data->size < size - data->size ? data->size : size - data->size;

		memcpy(data->bytes + data->size, data->bytes, more);
		data->size += more;
	}
	return true;
}
