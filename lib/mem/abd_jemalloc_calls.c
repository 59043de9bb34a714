/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of the companion library libabd_jemalloc.so: the struct through which libabd calls jemalloc.
 * See abd_jemalloc.h.
 */
#include "abd_jemalloc.h"

#include <jemalloc/jemalloc.h>

/*
 * jemalloc's setting. libabd names an arena in each call and uses no thread cache. So threads get
 * neither arenas nor caches of their own: jemalloc 5.3 ends the process where a new thread's arena
 * finds no memory.
 */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:1,tcache:false";

ABD_API extern const struct abd_jemalloc_calls abd_jemalloc_calls;

const struct abd_jemalloc_calls abd_jemalloc_calls = {mallocx, sdallocx, mallctl};
