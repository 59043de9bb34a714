/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sign's first byte says how many follow: none below 0xc0, and one, two or three from 0xc0, 0xe0
 * and 0xf0 up. Those are 0x80 to 0xbf.
 */
#include "abd_perf_text.h"

#include <string.h>

void abd_perf_text_whole(char *text)
{
	size_t size = strlen(text), follow = 0;
	unsigned char first;

	while (follow < size && follow < 3 &&
		((unsigned char)text[size - 1 - follow] & 0xc0) == 0x80)
		follow++;
	if (follow == size)
		return;
	first = (unsigned char)text[size - 1 - follow];
	if (follow < (size_t)((first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0)))
		text[size - 1 - follow] = '\0';
}

void abd_perf_text_plain(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}
