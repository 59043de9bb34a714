/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass of LZ4_compress_default(). ZFS's own compressor is closely related: the same format, and
 * the same search through a hash table without chains.
 */
#include "abd_perf_data.h"
#include "abd_perf_say.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

void abd_perf_records_make(
	struct abd_perf_records *records, const struct abd_perf_data *data, size_t record_size)
{
	size_t pieces = data->size / record_size;
	size_t most = record_size - record_size / 8; /* what ZFS accepts as worth it */
	size_t used = 0;

	memset(records, 0, sizeof(*records));
	records->record_size = record_size;
	records->record = calloc(pieces + 1, sizeof(*records->record));
	records->payloads = malloc(pieces * most + 1);
	if (records->record == NULL || records->payloads == NULL)
		abd_perf_say_die(1, "no memory to compress %zu MiB", data->size >> 20);
	for (size_t i = 0; i < pieces; i++) {
		const unsigned char *source = data->bytes + i * record_size;
		int size = LZ4_compress_default((const char *)source, records->payloads + used,
			(int)record_size, (int)most);

		if (size <= 0) {
			records->raw++;
			continue;
		}
		records->record[records->count++] =
			(struct abd_perf_record){source, records->payloads + used, (uint32_t)size};
		used += (size_t)size;
	}
}

void abd_perf_records_free(struct abd_perf_records *records)
{
	free(records->record);
	free(records->payloads);
	memset(records, 0, sizeof(*records));
}
