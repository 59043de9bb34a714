/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which machine this is: the processor's identity, the family that it belongs to, and the sizes of
 * its data caches. Plans of kernels depend on it (abd_kernel.h).
 * Invariant: constant for the life of the process.
 */
#ifndef ABD_MACHINE_H
#define ABD_MACHINE_H

#include "abd_cpu.h"

enum { ABD_CACHE_LEVELS = 3 };

struct abd_machine {
	char cpu[48];                   /* "AuthenticAMD-25-17": vendor, family and model */
	const char *family;             /* "zen4"; "" for a processor that is in no family */
	size_t cache[ABD_CACHE_LEVELS]; /* bytes of L1 data, L2 and L3 */
};

/** This machine. Threads: any. */
const struct abd_machine *abd_machine(void);

/** The family of a processor; "" if it is in none. */
const char *abd_machine_family(const struct abd_cpu_identity *cpu);

/**
 * The sizes of the data caches as Linux lists them in folder, which is
 * /sys/devices/system/cpu/cpu0/cache. A size that is not listed is not written.
 *
 * sysconf() is not asked: on a virtual AMD Zen 4 glibc 2.36 reports the L3 of all the host's dies,
 * 320 MiB, of which a core can fill 32.
 */
void abd_machine_caches(const char *folder, size_t cache[ABD_CACHE_LEVELS]);

#endif
