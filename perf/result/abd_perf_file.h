/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is there whole or not at all: written to a temporary file beside it, flushed to the
 * disk, then renamed. A path that exists and is no regular file (/dev/full, a pipe) is written to
 * as it is: renaming would replace the device. after/output.py has the same rules for what comes
 * after a run.
 */
#ifndef ABD_PERF_FILE_H
#define ABD_PERF_FILE_H

/** Whether a flag's file can be written at all, before time is spent measuring; ends the program if
 * not. */
void abd_perf_file_check(const char *flag, const char *path);
/** Returns 0 or -errno; after an error the old file is as it was. */
int abd_perf_file_write(const char *path, const char *text);

#endif
