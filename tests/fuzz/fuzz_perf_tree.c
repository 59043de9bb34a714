/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the tree. A file that can't be made (a directory has its name, or its path leads through a
 * file) is left out, and the next choices of the input make another one.
 */
#include "fuzz_perf_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 5, PIECES = 14, NAME_LONGEST = 255, DEPTH = 3 };

/* A name of any bytes that names can have. A few names are as long as names can be. */
static size_t put_name(char *to, struct fuzz_input *in)
{
	uint8_t byte = fuzz_byte(in);
	size_t size = byte < 246 ? 1 + byte % 20u : NAME_LONGEST - (255u - byte);

	for (size_t i = 0; i < size; i++) {
		uint8_t sign = fuzz_byte(in);

		/* Long names repeat their first 20 bytes, so that inputs stay short. */
		if (i >= 20)
			sign = (uint8_t)to[i % 20];
		to[i] = sign == '\0' || sign == '/' ? 'a' : (char)sign;
	}
	to[size] = '\0';
	if (strcmp(to, ".") == 0 || strcmp(to, "..") == 0)
		to[0] = 'b';
	return size;
}

/* The directories of the path are those of the file before, or new ones. */
static void put_path(const struct fuzz_tree *tree, char *path, struct fuzz_input *in)
{
	unsigned depth = fuzz_byte(in);
	size_t used = 0;

	if (depth >= 128 && tree->count > 0) {
		const char *last = tree->file[depth % tree->count].path, *end = strrchr(last, '/');

		used = end != NULL ? (size_t)(end - last) + 1 : 0;
		memcpy(path, last, used);
	}
	for (unsigned i = depth % DEPTH; i > 0 && used < FUZZ_TREE_PATH - 2 * 257; i--) {
		used += put_name(path + used, in);
		path[used++] = '/';
	}
	if (used < FUZZ_TREE_PATH - 256)
		put_name(path + used, in);
	else
		strcpy(path, "c");
}

static size_t put_piece(uint8_t *to, size_t room, struct fuzz_input *in, size_t block)
{
	uint8_t what = fuzz_byte(in);
	size_t size = what < 160 ? block : fuzz_byte(in);
	uint64_t state = what % BLOCKS;

	size = size < room ? size : room;
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = what < 230 ? (uint8_t)(state >> 56) : what;
	}
	return size;
}

static void put_content(struct fuzz_tree_file *file, struct fuzz_input *in, size_t block)
{
	file->size = 0;
	for (unsigned i = fuzz_byte(in) % PIECES; i > 0; i--)
		file->size += put_piece(
			file->content + file->size, sizeof(file->content) - file->size, in, block);
}

static bool write_file(const char *path, const struct fuzz_tree_file *file)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	fuzz_check(write(fd, file->content, file->size) == (ssize_t)file->size, "%s", path);
	close(fd);
	return true;
}

/* Make the directories of a path. */
static void make_way(const struct fuzz_tree *tree, char *path)
{
	for (char *slash = path + strlen(tree->root) + 1; (slash = strchr(slash, '/')) != NULL;
		slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* Make a file, a hard link to one, or a symbolic link to nowhere. */
static bool make_file(struct fuzz_tree *tree, struct fuzz_input *in, size_t block)
{
	struct fuzz_tree_file *file = &tree->file[tree->count];
	char path[sizeof(tree->root) + FUZZ_TREE_PATH + 1],
		other[sizeof(tree->root) + FUZZ_TREE_PATH + 1];
	uint8_t what = fuzz_byte(in);

	put_path(tree, file->path, in);
	snprintf(path, sizeof(path), "%s/%s", tree->root, file->path);
	make_way(tree, path);
	file->inode = tree->count;
	file->is_link = what >= 240;
	if (file->is_link)
		return symlink("nowhere", path) == 0;
	if (what >= 216 && tree->count > 0 && !tree->file[what % tree->count].is_link) {
		const struct fuzz_tree_file *first = &tree->file[what % tree->count];

		snprintf(other, sizeof(other), "%s/%s", tree->root, first->path);
		memcpy(file->content, first->content, first->size);
		file->size = first->size;
		file->inode = first->inode;
		return link(other, path) == 0;
	}
	put_content(file, in, block);
	return write_file(path, file);
}

/*
 * The order of a walk: directory by directory, by name. A slash ends a name, so it sorts before
 * every byte of a name.
 */
static int order(const void *a, const void *b)
{
	const char *x = ((const struct fuzz_tree_file *)a)->path,
		   *y = ((const struct fuzz_tree_file *)b)->path;

	while (*x == *y && *x != '\0')
		x++, y++;
	return (*x == '/' ? 0 : (uint8_t)*x) - (*y == '/' ? 0 : (uint8_t)*y);
}

/*
 * A process that a signal ends, as after a finding, can't remove its tree. So a child waits until
 * this process has ended, and removes the tree then.
 */
static void remove_in_the_end(const char *root)
{
	static bool prepared;
	char byte;
	int ends[2];

	if (prepared)
		return;
	prepared = true;
	fuzz_check(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
	if (fork() != 0) {
		close(ends[0]);
		return;
	}
	for (int fd = 0; fd < 3; fd++) /* whoever reads our output must not wait for the child */
		close(fd);
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	execl("/bin/rm", "rm", "-rf", root, (char *)NULL);
	_exit(1);
}

void fuzz_tree_make(struct fuzz_tree *tree, struct fuzz_input *in, size_t block)
{
	const char *place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";

	snprintf(tree->root, sizeof(tree->root), "%s/fuzz_perf-%ld", place, (long)getpid());
	remove_in_the_end(tree->root);
	fuzz_check(mkdir(tree->root, 0700) == 0 || errno == EEXIST, "%s", tree->root);
	tree->count = 0;
	while (tree->count < FUZZ_TREE_FILES && in->next < in->end)
		tree->count += make_file(tree, in, block);
	qsort(tree->file, tree->count, sizeof(tree->file[0]), order);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

void fuzz_tree_remove(struct fuzz_tree *tree)
{
	fuzz_check(nftw(tree->root, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s", tree->root);
	tree->count = 0;
}
