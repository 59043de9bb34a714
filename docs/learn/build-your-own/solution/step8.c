/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

unsigned hdr_hold(struct hdr *hdr)
{
	if (hdr->users == 0)
		list_out(hdr);
	return ++hdr->users;
}

unsigned hdr_release(struct hdr *hdr)
{
	unsigned left = --hdr->users;

	if (left == 0) {
		if (hdr->gone)
			hdr_end(hdr);
		else
			list_in(hdr->state, hdr);
	}
	return left;
}
