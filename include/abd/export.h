/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every public header needs: visibility and C++ linkage.
 * Invariant: a symbol is exported from the shared library if and only if its declaration says
 * ABD_API.
 */
#ifndef ABD_EXPORT_H
#define ABD_EXPORT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The objects of an archive export nothing: a plugin that holds them has its own exports only. */
#ifdef ABD_ARCHIVE
#define ABD_API __attribute__((visibility("hidden")))
#else
#define ABD_API __attribute__((visibility("default")))
#endif

/* ABD_CAST: a cast from a pointer that neither C nor C++ warns of. */
#ifdef __cplusplus
#define ABD_BEGIN_DECLS extern "C" {
#define ABD_END_DECLS }
#define ABD_CAST(type, pointer) (static_cast<type>(pointer))
#else
#define ABD_BEGIN_DECLS
#define ABD_END_DECLS
#define ABD_CAST(type, pointer) ((type)(pointer))
#endif

#endif
