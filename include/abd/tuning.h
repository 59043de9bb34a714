/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunables by name. This interface is unstable: names and values may change with any version.
 *
 *   scatter_enabled     0, 1          0: abd_alloc() makes linear buffers only
 *   scatter_min_size    bytes         smaller buffers are linear (1536)
 *   max_order           0 to 10       the largest run is 4 KiB << max_order (10)
 *   linear_page         0, 1          0: single-run buffers are treated as scattered, as before
 *                                     OpenZFS PR 8580
 *   chunk_provider      regions, malloc, jemalloc, pool    where runs come from: regions that are
 *                       mapped for the purpose (the default; in checked builds malloc), or that
 *                       come from the C library, or from a jemalloc arena where the process has
 *                       jemalloc, or from the pool
 *   pool_size           bytes         of the pool's region (1 GiB), from 2 MiB, rounded up to a
 *                                     multiple of that; settable until the pool is first chosen,
 *                                     as are:
 *   pool_alignment      bytes         of the region's start: a power of two from 2 MiB (the
 *                                     default) to 1 GiB
 *   pool_node           any, 0, 1 ... the NUMA node whose memory the region prefers (any)
 *   thread_cache_bytes  bytes         free memory each thread may keep in reserve (8 MiB); 0: none
 *   reserve_bytes       bytes         free memory that all threads together keep in reserve
 *                       (64 MiB): half of it with the threads, in equal shares, half for all
 *   reserve_ms          milliseconds  how long free memory may stay unused before it goes back
 *                       to the system (12000; from 6 up), as long as the program goes on
 *                       allocating and freeing something
 *
 * Which kernel serves which size is a plan: a kernel's name, or "word<=64,scalar<=4096,libc": word
 * for operations of up to 64 bytes, scalar for those of up to 4,096, libc for all above. Sizes are
 * those of the whole operation, in bytes. abd_tuning_get() says which plan is in use. "auto" is the
 * plan that this machine gets by itself. A plan is refused if it
 * names a kernel that this CPU lacks.
 *
 *   compare             plan          avx512, avx2, sse2, sse2-memcmp, neon, libc, word, scalar
 *   copy                plan          avx512, nt-avx512, libc
 *   lz4                 plan          of decoders, by the block's size: avx512, avx2, sse2, neon,
 *                                     scalar, liblz4 (borrow and copy, as OpenZFS does)
 *   fletcher            plan          avx512, avx2, scalar
 *   crc32c              plan          sse42, portable
 *   flush_auto, flush_shared, flush_exclusive
 *                       plan          for flush-copies with that flag: nt-avx512, nt-avx2, nt-sse2,
 *                                     movnti, movdir64b, clwb, clflushopt, clflush, cvap, cvac,
 *                                     portable
 *   flush               plan          for every flush-copy, in place of those three; "auto" ends
 *                                     that. abd_tuning_get(): what copies with ABD_FLUSH_AUTO use
 *   flush_line          plan          which of clwb, clflushopt, clflush, cvap, cvac, portable
 *                                     writes back the ends of copies that go around the cache
 *
 * Each can also be given in the environment, ABD_MAX_ORDER=0 for instance, which is read when first
 * needed.
 * A tunable may be set at any time and governs what is allocated or chosen after it.
 */
#ifndef ABD_TUNING_H
#define ABD_TUNING_H

#include <abd/export.h>

ABD_BEGIN_DECLS

/**
 * Set a tunable.
 *
 * Units:   value as text; sizes in bytes, decimal.
 * Returns: 0; -ENOENT unknown name; -EINVAL a value that it does not accept.
 * Owner:   both strings stay the caller's.
 * Threads: any.
 * Source:  module parameters in OpenZFS.
 */
ABD_API int abd_tuning_set(const char *name, const char *value);

/**
 * What a tunable is set to; for kernels the plan in use, for providers the one in use.
 *
 * Units:   text; sizes in bytes, decimal.
 * Returns: the text, or NULL for an unknown name.
 * Owner:   the library; the string lives until this thread's next call.
 * Threads: any.
 * Source:  module parameters in OpenZFS.
 */
ABD_API const char *abd_tuning_get(const char *name);

ABD_END_DECLS

#endif
