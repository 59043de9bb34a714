/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder with 16-byte vectors, which every x86-64 has.
 * Invariant: as in abd_lz4_decode_quick.h.
 */
#include "abd_base.h"
#include "abd_lz4_decode_words.h"
#include "abd_lz4_decode_x86.h"

#include "abd_lz4_decode_quick.h"

ABD_LZ4_DECODER(sse2, abd_cpu_runs_sse2);
