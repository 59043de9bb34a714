/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is there whole or not at all: written to a temporary file beside it, flushed to the
 * disk, then renamed. A path that exists and is no regular file (/dev/stdout, a pipe) is written to
 * directly: there is nothing to rename over.
 */
#ifndef ABD_PERF_FILE_H
#define ABD_PERF_FILE_H

#include <stdio.h>

/**
 * Whether a flag's file can be written at all, before time is spent measuring; ends the program if
 * not.
 */
void abd_perf_file_check(const char *flag, const char *path);
/**
 * Let fill(file, arg) write it. fill returns 0, or not where it failed (errno says why). Returns 0
 * or -errno.
 */
int abd_perf_file_write(
	const char *path, int (*fill)(FILE *file, const void *arg), const void *arg);

#endif
