/* SPDX-License-Identifier: BSD-2-Clause */
/* A new file's name is durable once its folder is synced. */
#ifndef FOLDER_H
#define FOLDER_H

/** Make the entry of an absolute path durable in its folder. Returns 0, or -1 with errno. */
int folder_sync(const char *path);

#endif
