/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunables by name. This interface is unstable: names and values may change with any version.
 *
 *   scatter_enabled     0, 1          0: abd_alloc() makes linear buffers only
 *   scatter_min_size    bytes         smaller buffers are linear (1536)
 *   max_order           0 to 10       the largest run is 4 KiB << max_order (10)
 *   linear_page         0, 1          0: single-run buffers are treated as scattered, as before
 *                                     OpenZFS PR 8580
 *   chunk_provider      regions, malloc, jemalloc, pool    where runs come from: regions, memory
 *                       that is mapped for them (the default); malloc, the C library (the default
 *                       of checked builds); jemalloc, an arena of its own, if the program has
 *                       linked abd::jemalloc; pool, one region of a fixed size (pool.h)
 *   pool_size           bytes         of the pool's region (1 GiB), from 2 MiB, rounded up to a
 *                                     multiple of that. It can be set until the pool is first
 *                                     chosen
 *   thread_cache_bytes  bytes         free memory each thread may keep in reserve (8 MiB); 0: none
 *   reserve_bytes       bytes         free memory that all threads together keep in reserve
 *                       (64 MiB): half of it with the threads, in equal shares, half for all
 *   reserve_ms          milliseconds  how long free memory may stay unused before it goes back
 *                       to the system (12000; from 6 up), as long as the program goes on
 *                       allocating and freeing something
 *
 * Which kernel serves which size is a plan: a kernel's name, or "word<=64,scalar<=4096,libc": word
 * for operations of up to 64 bytes, scalar for those of up to 4,096, libc for all above. Sizes are
 * those of the whole operation, in bytes. A plan is refused if it names a kernel that this CPU
 * lacks. abd_tuning_get() says which plan is in use, and in brackets where it came from:
 * "avx512<=8388608,avx512-four (zen4)". abd_tuning_set() ignores what is in brackets. "auto" is the
 * plan that is built in:
 *
 *   (zen4)                measured by us on a CPU of this family: zen4, zen5, emeraldrapids
 *   (by the last cache)   the fallback for every other CPU that has the kernels
 *   (first)               the first kernel that this CPU has, for every size
 *
 * Other origins are (set): a call gave the plan; (environment): a variable did; (calibrated):
 * abd_flush_calibrate() did; (forced): the plan is that of a group of tunables. abd-perf tune
 * measures all kernels on a machine and prints what to set there.
 *
 *   compare             plan          avx512, avx2, sse2, neon, libc, word, scalar;
 *                                     without hints: avx512-near; several runs together:
 *                                     avx512-pair, avx512-four, avx2-pair, avx2-four
 *   copy                plan          avx512, libc, string, nt-avx512; two runs or four together:
 *                                     avx512-four, nt-pair-avx512, nt-four-avx512. Up to 512 bytes
 *                                     between linear memory go by memcpy(), whatever the plan
 *   zero                plan          libc, avx512; several runs together: avx512-four,
 *                                     nt-pair-avx512. Up to 512 bytes of linear memory go by
 *                                     memset(), whatever the plan
 *   lz4                 plan          of decoders, by the block's size: avx512, avx2, neon,
 *                                     portable
 *   fletcher            plan          avx512, avx2, scalar
 *   crc32c              plan          vpclmul, pclmul, portable
 *   xxh3                plan          avx512, avx2, portable
 *   flush_auto, flush_shared, flush_exclusive
 *                       plan          for flush-copies with that flag: nt-avx512, nt-avx2, nt-sse2,
 *                                     movnti, movdir64b, clwb, clflushopt, clflush, cvap, cvac,
 *                                     portable
 *   flush               plan          for every flush-copy, in place of those three; "auto" ends
 *                                     that. abd_tuning_get("flush") is the plan of ABD_FLUSH_AUTO
 *   flush_line          plan          which of clwb, clflushopt, clflush, cvap, cvac, portable
 *                                     writes back the ends of copies that go around the cache
 *
 * Each tunable can also be given in the environment, ABD_MAX_ORDER=0 for instance, which is read
 * when the tunable is first needed. A set-user-ID program does not read it. A value that the
 * tunable does not accept is ignored; abd_tuning_get("ignored") shows such values. A tunable may be
 * set at any time, unless the list above says otherwise. Memory that was allocated before, and
 * kernels that were chosen before, do not change.
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
 * Returns: the text, or NULL for an unknown name. Two names can't be set: "cpu" is this machine's
 *          processor, "ignored" the variables of the environment whose values are not accepted.
 * Owner:   the library; the string lives until this thread's next call.
 * Threads: any.
 * Source:  module parameters in OpenZFS.
 */
ABD_API const char *abd_tuning_get(const char *name);

ABD_END_DECLS

#endif
