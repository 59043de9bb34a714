/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The iterator's rare cases: buffers of zeros, and seeking in a gang.
 */
#include "abd_iter.h"

/* Needs no offset: zeros are the same everywhere. */
struct abd_iter abd_iter_zeros(struct abd_iter iter, const abd_t *zeros)
{
	ABD_REQUIRE_IN(iter.writer, iter.writer == NULL,
		"a buffer of zeros, %zu bytes, can't be written", zeros->abd_size);
	iter.run = ABD_SCATTER(zeros).abd_runs;
	iter.run_step = 0;
	abd_iter_map(&iter, 0);
	return iter;
}

const struct abd_gang_entry *abd_iter_entry(const abd_t *gang, size_t at)
{
	return abd_gang_seek(abd_gang_table(gang), at);
}
