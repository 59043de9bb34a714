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

/*
 * The address of the tunable scatter_enabled, for zfs_abd_scatter_enabled. It belongs to the
 * library; do not change the pointer. Any thread may use the tunable, but an assignment races with
 * reads, as with any int. The first allocation reads the environment: ABD_SCATTER_ENABLED, if set,
 * overrides what was assigned before.
 */
ABD_API extern int *abd_compat_scatter_enabled;

ABD_END_DECLS

/*
 * Assignable, as in OpenZFS; a macro, because no symbol of ours lacks abd_. An engine's own "extern
 * int zfs_abd_scatter_enabled;" comes out as one more declaration of the variable above.
 */
#define zfs_abd_scatter_enabled (*abd_compat_scatter_enabled)

#endif
