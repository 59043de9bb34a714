/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

size_t evict_some(struct hdr *marker, size_t bytes)
{
	size_t done = 0;
	unsigned ended = 0;

	while (done < bytes && ended < EVICT_MOST && marker->newer != NULL) {
		struct hdr *hdr = marker->newer;

		list_past(marker);
		if (hdr->marker || !lock_try(hdr))
			continue;
		list_out(hdr);
		done += hdr->size;
		ended++;
		lock_end(hdr);
		hdr_end(hdr);
	}
	return done;
}
