/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree's files, one after another, read straight into the pages.
 */
#include "abd_perf_dedupe_set.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct dedupe_set dedupe_set;

static int dedupe_page(void *buf, size_t len, void *arg)
{
	char ***to = arg;

	for (size_t at = 0; at < len; at += PAGE)
		*(*to)++ = (char *)buf + at;
	return 0;
}

static void dedupe_alloc(const struct abd_perf_options *options)
{
	size_t most = options->mode == ABD_PERF_QUICK ? 16 : options->quick ? 64 : FILES_MAX;
	size_t fit = abd_perf_env_memory() / 4 / FILE_SIZE;

	dedupe_set.files = fit < most ? fit : most;
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < 2 * dedupe_set.files; i++) {
		dedupe_set.side[i % 2][i / 2] = abd_alloc(FILE_SIZE + PAGE, false);
		if (dedupe_set.side[i % 2][i / 2] == NULL || dedupe_set.files == 0)
			abd_perf_say_die(1, "no memory for two times %zu files", dedupe_set.files);
	}
	abd_perf_place_tune("max_order", "10");
	for (unsigned i = 0; i < 2; i++)
		abd_perf_place_shuffle(dedupe_set.side[i], dedupe_set.files);
	for (size_t i = 0; i < 2 * dedupe_set.files; i++) {
		char **to = dedupe_set.page[i % 2][i / 2];

		abd_iterate_func(
			dedupe_set.side[i % 2][i / 2], 0, FILE_SIZE + PAGE, dedupe_page, &to);
	}
}

void dedupe_free(void)
{
	for (size_t i = 0; i < 2 * dedupe_set.files; i++)
		abd_free(dedupe_set.side[i % 2][i / 2]);
	abd_cache_reap_now();
}

struct dedupe_unread {
	size_t files;
	int error; /* of the last one */
};

/* Read a file of the tree into what is still empty of the first side. */
static bool dedupe_read(FTSENT *entry, void *arg)
{
	struct dedupe_unread *unread = arg;
	size_t all = dedupe_set.files * FILE_SIZE;
	ssize_t got = 0;
	int fd;

	if (entry->fts_info != FTS_F)
		return true;
	fd = open(entry->fts_path, O_RDONLY | O_CLOEXEC);
	unread->files += fd < 0;
	unread->error = fd < 0 ? errno : unread->error;
	while (fd >= 0 && dedupe_set.filled < all) {
		size_t file = dedupe_set.filled / FILE_SIZE, off = dedupe_set.filled % FILE_SIZE;

		got = read(fd, dedupe_at(0, file, off), PAGE - off % PAGE);
		if (got <= 0)
			break;
		dedupe_set.filled += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return dedupe_set.filled < all;
}

/* False, after a warning: there is nothing to compare. */
static bool dedupe_fill(const char *root)
{
	size_t all = dedupe_set.files * FILE_SIZE, tree;
	struct dedupe_unread unread = {0, 0};

	dedupe_set.filled = 0;
	abd_perf_files_walk(root, dedupe_read, &unread);
	if (unread.files > 0)
		abd_perf_say_warn("%zu files under %s can't be read: %s", unread.files, root,
			strerror(unread.error));
	tree = dedupe_set.filled;
	if (tree == 0) {
		abd_perf_say_warn("dedupe is left out: %s holds no data that can be read", root);
		return false;
	}
	for (; dedupe_set.filled < all; dedupe_set.filled++) /* a small tree, again and again */
		*dedupe_at(0, dedupe_set.filled / FILE_SIZE, dedupe_set.filled % FILE_SIZE) =
			*dedupe_at(0, (dedupe_set.filled - tree) / FILE_SIZE,
				(dedupe_set.filled - tree) % FILE_SIZE);
	return true;
}

bool dedupe_make(const struct abd_perf_options *options)
{
	dedupe_alloc(options);
	if (dedupe_fill(options->input != NULL ? options->input : "/usr"))
		return true;
	dedupe_free();
	return false;
}

void dedupe_offsets(size_t a_off, size_t b_off)
{
	dedupe_set.offset[0] = a_off;
	dedupe_set.offset[1] = b_off;
	for (size_t i = 0; i < dedupe_set.files; i++)
		abd_copy_off(dedupe_set.side[1][i], dedupe_set.side[0][i], b_off, a_off,
			FILE_SIZE + PAGE - (a_off > b_off ? a_off : b_off));
}
