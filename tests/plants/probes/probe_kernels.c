/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the kernels in use, in one line, for the gate that runs the tests at each level of CPU: a
 * level that silently changed nothing would test nothing.
 */
#include <abd/abd.h>

#include <stdio.h>

int main(void)
{
	static const char *const names[] = {"compare", "lz4", "flush", "flush_auto", "flush_line",
		"copy", "fletcher", "crc32c"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("%s%s %s", i > 0 ? "; " : "", names[i], abd_tuning_get(names[i]));
	printf("\n");
	return 0;
}
