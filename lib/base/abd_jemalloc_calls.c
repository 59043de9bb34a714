/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of the companion library libabd_jemalloc.so: the struct through which libabd calls jemalloc.
 * See abd_jemalloc.h.
 */
#include "abd_jemalloc.h"

#include <jemalloc/jemalloc.h>

ABD_API extern const struct abd_jemalloc_calls abd_jemalloc_calls;

const struct abd_jemalloc_calls abd_jemalloc_calls = {mallocx, sdallocx, mallctl};
