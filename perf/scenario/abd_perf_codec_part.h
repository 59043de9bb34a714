/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the codec scenario that don't decode whole records: ranges and checksums.
 */
#ifndef ABD_PERF_CODEC_PART_H
#define ABD_PERF_CODEC_PART_H

#include "abd_perf_data.h"

/** 4 KiB out of a record of 128 KiB, against decoding all of it. */
void abd_perf_codec_range(const struct abd_perf_data *data, const struct abd_perf_options *options);

/** fletcher_4, crc32c and xxh3 of 128 KiB in 4 KiB runs, against a sum over the same bytes. */
void abd_perf_codec_sums(const struct abd_perf_options *options);

#endif
