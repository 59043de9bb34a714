/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compressed record in single pages is decoded where it lies: first the whole record, then 4 KiB
 * out of its middle. No borrow copies anything.
 */
#include <abd/abd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 128 << 10, RANGE = 4 << 10, PAGES = 2 * RECORD / 4096 };

/* Leave memory as in a cache after days: no two free pages are neighbours. */
static void fragment(abd_t **pages)
{
	for (int i = 0; i < PAGES; i++)
		pages[i] = abd_alloc(4096, false);
	for (int i = 0; i < PAGES; i += 2) {
		abd_free(pages[i]);
		pages[i] = NULL;
	}
}

int main(void)
{
	char *record = malloc(RECORD), *read = malloc(RECORD);
	struct abd_stats stats;
	size_t at = 0;

	for (int line = 0; record != NULL && at < RECORD; line++)
		at += (size_t)snprintf(
			record + at, RECORD - at, "line %d: what was written must be read\n", line);

	abd_t *pages[PAGES];

	abd_tuning_set("max_order", "0"); /* single pages only */
	fragment(pages);
	abd_t *source = abd_get_from_buf(record, RECORD), *cached = abd_alloc(RECORD, false);

	if (read == NULL || source == NULL || cached == NULL)
		return 1;
	ssize_t size = abd_lz4_compress(cached, source, 0, 0, RECORD);

	if (size < 0) {
		fprintf(stderr, "lz4_scatter: %s\n", strerror((int)-size));
		return 1;
	}
	abd_stats_get(&stats, sizeof(stats));
	unsigned long long copies = stats.borrow_copy_cnt;
	ssize_t whole = abd_lz4_decompress_to_buf(read, cached, RECORD, 0, (size_t)size);
	int same = memcmp(read, record, RECORD) == 0;
	ssize_t part =
		abd_lz4_decompress_range_to_buf(read, cached, RECORD / 2, RANGE, 0, (size_t)size);

	same &= memcmp(read, record + RECORD / 2, RANGE) == 0;
	abd_stats_get(&stats, sizeof(stats));
	printf("linear %d, whole %zd, part %zd, as written %d, copies while reading %llu\n",
		abd_is_linear(cached), whole, part, same,
		(unsigned long long)stats.borrow_copy_cnt - copies);
	abd_free(source);
	abd_free(cached);
	for (int i = 0; i < PAGES; i++)
		abd_free(pages[i]);
	free(record);
	free(read);
	return same ? 0 : 1;
}
