/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf memory-child`, which the scenario memory starts: one source of memory, one pattern of
 * use, in a process of its own. It prints a line for each step: bytes in use, bytes resident.
 */
#ifndef ABD_PERF_MEMORY_CHILD_H
#define ABD_PERF_MEMORY_CHILD_H

/* Time runs so many times as fast as with the defaults, whose reserves go back within 15 s. */
#define ABD_PERF_MEMORY_HASTE 20

#define ABD_PERF_MEMORY_STEPS 21 /* the last follows a reap */

/* The exit status when this machine or this build does not have the source. */
#define ABD_PERF_MEMORY_ABSENT 3

/** argv: name, source, pattern, bytes. */
int abd_perf_memory_child(int argc, char **argv);

#endif
