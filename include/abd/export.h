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

#define ABD_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define ABD_BEGIN_DECLS extern "C" {
#define ABD_END_DECLS }
#else
#define ABD_BEGIN_DECLS
#define ABD_END_DECLS
#endif

#endif
