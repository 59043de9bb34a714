/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file is written whole or not at all: to a temporary file beside it, which is flushed to the
 * disk and then renamed. A path that exists and is no regular file (/dev/full, a pipe) is written
 * to directly, because renaming would replace the device. after/output.py follows the same rules.
 */
#ifndef ABD_PERF_FILE_H
#define ABD_PERF_FILE_H

/**
 * Check that a flag's file can be written, before time is spent measuring. Ends the program if it
 * can't.
 */
void abd_perf_file_check(const char *flag, const char *path);
/** Returns 0 or -errno. After an error the old file is unchanged. */
int abd_perf_file_write(const char *path, const char *text);

#endif
