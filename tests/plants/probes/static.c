/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mistakes that the tools of tests/gates/static must find; never compiled into anything.
 */
#include <stdlib.h>
#include <string.h>

int plant(char *text, int n)
{
	int table[4] = {0};
	char *copy = malloc((size_t)n);

	memset(table, '0', sizeof(table));
	if (copy == NULL)
		return 0;
	memcpy(copy, text, (size_t)n);
	if (n == 3)
		free(copy);
	free(copy);
	text[1] = copy[2];
	table[n == 2 ? 4 : 0] = 1;
	if (text[0] == 'a' && text != NULL)
		return table[4];
	return (int)strlen(text + 1) + table[0];
}
