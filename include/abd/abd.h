/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The umbrella: everything an engine needs of libabd. Declares nothing itself.
 *
 * buffer.h   make, view, borrow and free buffers     compare.h  equality, first difference
 * key.h      short keys and names in plain memory
 * operate.h  iterate, copy, compare, zero, raidz     codec.h    lz4 from and to buffers, checksums
 * stats.h    counters                                io.h       iovecs, files, memory of any origin
 * pool.h     the fixed pool's region                 flush.h    durable copies
 * tuning.h   tunables and kernels by name (unstable)
 * arc.h      a cache of compressed records (where the library has it: ABD_HAS_ARC)
 * uring.h    files by io_uring, through registered pool memory (where the library has it:
 *            ABD_HAS_URING)
 */
#ifndef ABD_ABD_H
#define ABD_ABD_H

#include <abd/buffer.h>
#include <abd/codec.h>
#include <abd/compare.h>
#include <abd/flush.h>
#include <abd/io.h>
#include <abd/key.h>
#include <abd/operate.h>
#include <abd/pool.h>
#include <abd/stats.h>
#include <abd/tuning.h>
#include <abd/version.h>

#if ABD_HAS_ARC
#include <abd/arc.h>
#endif
#if ABD_HAS_URING
#include <abd/uring.h>
#endif

#endif
