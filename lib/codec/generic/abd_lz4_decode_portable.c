/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder for any machine: either byte order, any alignment rules. It writes matches at offsets
 * below 16 word by word.
 */
#include "abd_lz4_decode_words.h"

#include "abd_lz4_decode_quick.h"

ABD_LZ4_DECODER(portable, abd_cpu_runs_any);
