/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenZFS's spellings over libabd, for code written against its sys/abd.h: include this in that
 * header's place. Defines macros and types without the abd_ prefix, so only such code should
 * include it.
 */
#ifndef ABD_COMPAT_OPENZFS_H
#define ABD_COMPAT_OPENZFS_H

#include <abd/abd.h>

/* A host with a boolean_t of its own defines ABD_COMPAT_BOOLEAN. */
#if !defined(B_TRUE) && !defined(ABD_COMPAT_BOOLEAN)
typedef bool boolean_t;
#define B_FALSE false
#define B_TRUE true
typedef unsigned int uint_t;
#endif

ABD_BEGIN_DECLS

/**
 * Behind zfs_abd_scatter_enabled: the tunable scatter_enabled as a variable.
 *
 * Units:   0, or not 0.
 * Returns: its address; can't fail.
 * Owner:   the library, for ever.
 * Threads: any; assigning races with reading as any int does.
 * Source:  zfs_abd_scatter_enabled in include/sys/abd.h.
 */
ABD_API int *abd_compat_scatter_enabled(void);

ABD_END_DECLS

/** Assignable, as in OpenZFS; a macro, because no symbol of ours lacks abd_. */
#define zfs_abd_scatter_enabled (*abd_compat_scatter_enabled())

#endif
