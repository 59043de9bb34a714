/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `abd-perf tune`: measures all kernels, and writes a profile of this machine. */
#ifndef ABD_PERF_TUNE_H
#define ABD_PERF_TUNE_H

/** Returns the exit status. */
int abd_perf_tune(int argc, char **argv);

#endif
