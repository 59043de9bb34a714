/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many instructions a piece of work takes, on machines whose counters can't be read, too: a
 * child process does the work while ptrace(2) steps through it.
 */
#ifndef ABD_PERF_STEPS_H
#define ABD_PERF_STEPS_H

/**
 * The instructions of work(arg) in user mode, which takes about 3 us for each of them; what work()
 * writes is lost. A string instruction counts once, however much it repeats. 0: processes can't be
 * stepped through here, or work() takes more than ten million instructions.
 */
long abd_perf_steps(void (*work)(void *arg), void *arg);

#endif
