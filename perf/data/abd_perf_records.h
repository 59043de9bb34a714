/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records: data cut into pieces of the record size, each compressed as ZFS would store it.
 * Records that ZFS would store uncompressed (less than 12.5 % saved) are left out: reading them
 * decodes nothing.
 */
#ifndef ABD_PERF_RECORDS_H
#define ABD_PERF_RECORDS_H

#include "abd_perf_data.h"

struct abd_perf_record {
	const unsigned char *source; /* what decoding must give */
	const char *payload;         /* the lz4 block */
	uint32_t payload_size;
};

struct abd_perf_records {
	size_t record_size;
	struct abd_perf_record *record;
	size_t count;
	size_t raw;     /* left out */
	char *payloads; /* the memory all of them lie in */
};

/** Cut and compress. Ends the program when there is no memory. */
void abd_perf_records_make(
	struct abd_perf_records *records, const struct abd_perf_data *data, size_t record_size);
void abd_perf_records_free(struct abd_perf_records *records);

#endif
