/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each architecture's file lists, best first. A kernel is added by its own file and a line
 * there.
 */
#ifndef ABD_FLUSH_ARCH_H
#define ABD_FLUSH_ARCH_H

#include "abd_flush_kernel.h"

/** Line flushes; the last is supported everywhere. */
extern const struct abd_flush_line *const abd_flush_arch_lines[];

/**
 * Policies, ended by a name of NULL; line NULL stands for the best line flush of this CPU. At most
 * 12.
 */
extern const struct abd_flush_policy abd_flush_arch_policies[];

/** The fence of all policies, so that it does not matter which of them a drain waits for. */
extern const struct abd_flush_fence *const abd_flush_arch_fence;

#endif
