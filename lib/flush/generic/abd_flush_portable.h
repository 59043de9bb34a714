/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records every machine has; the copy is also the cached half of all write-back policies.
 */
#ifndef ABD_FLUSH_PORTABLE_H
#define ABD_FLUSH_PORTABLE_H

#include "abd_flush_kernel.h"

extern const struct abd_flush_copy abd_flush_portable_copy;
extern const struct abd_flush_line abd_flush_portable_line;
extern const struct abd_flush_fence abd_flush_portable_fence;

#endif
