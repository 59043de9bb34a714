/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small tree of files, made as an input says, and the list of what was made. It lies in memory
 * (/dev/shm) if the system has a file system there.
 * Invariant: the list is in the order in which a walk meets the files; the tree is removed before
 * the next one is made.
 */
#ifndef FUZZ_PERF_TREE_H
#define FUZZ_PERF_TREE_H

#include "fuzz_input.h"

#include <stdbool.h>

enum { FUZZ_TREE_FILES = 10, FUZZ_TREE_SIZE = 6000, FUZZ_TREE_PATH = 700 };

struct fuzz_tree_file {
	char path[FUZZ_TREE_PATH]; /* below the root */
	uint8_t content[FUZZ_TREE_SIZE];
	size_t size;
	unsigned inode; /* names of one file have one number */
	bool is_link;   /* a symbolic one, which leads nowhere */
};

struct fuzz_tree {
	char root[64];
	struct fuzz_tree_file file[FUZZ_TREE_FILES];
	unsigned count;
};

/**
 * Make the tree. Files consist of blocks of block bytes; two files of the same blocks are
 * duplicates.
 */
void fuzz_tree_make(struct fuzz_tree *tree, struct fuzz_input *in, size_t block);
void fuzz_tree_remove(struct fuzz_tree *tree);

#endif
