/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The codec scenario's other forms of the same work: scattered output, runs of mixed orders, single
 * pages, compression, and decoding with a checksum.
 */
#ifndef ABD_PERF_CODEC_FORMS_H
#define ABD_PERF_CODEC_FORMS_H

#include "abd_perf_data.h"

/**
 * The number of comparisons that abd_perf_codec_forms() makes for a data set. first: it is the
 * scenario's first data set.
 */
unsigned abd_perf_codec_forms_count(bool first, const struct abd_perf_options *options);

/** Measure them. Returns nonzero when a path gave a wrong result. */
int abd_perf_codec_forms(
	const struct abd_perf_data *data, bool first, const struct abd_perf_options *options);

#endif
