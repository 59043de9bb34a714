/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this process may use of its machine: the processors that it may run on, and what the control
 * groups it is in allow. Defaults are chosen by these, since a container has a part of a machine.
 * Invariant: nothing is kept, because all of it may change while the process runs.
 */
#ifndef ABD_PROCESS_H
#define ABD_PROCESS_H

#include "abd_base.h"

/** Processors that this process can keep busy, rounded up to whole ones: 1 or more. Threads: any.
 */
size_t abd_process_processors(void);

/**
 * Bytes that this process can still have before a control group's limit stops it; SIZE_MAX: no
 * group has a limit. Threads: any.
 */
size_t abd_process_memory(void);

/*
 * What they read. mount: where groups are mounted, /sys/fs/cgroup; list: the file that lists the
 * groups of the process, /proc/self/cgroup. The limits of a group hold for those in it, so the
 * least counts. SIZE_MAX: there is none.
 */
size_t abd_process_group_processors(const char *mount, const char *list);
size_t abd_process_group_memory(const char *mount, const char *list);

/** The beginning of a file as a string; "" where there is none. size > 0. */
void abd_process_read(const char *path, char *text, size_t size);

#endif
