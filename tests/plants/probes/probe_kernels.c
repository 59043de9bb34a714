/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the kernels in use, in one line, for the gate that runs the tests at each level of CPU: a
 * level that silently changed nothing would test nothing.
 */
#include <abd/abd.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
	static const char *const names[] = {"compare", "lz4", "flush", "flush_auto", "flush_line",
		"copy", "fletcher", "crc32c", "xxh3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *plan = abd_tuning_get(names[i]);

		/* without the origin in brackets */
		printf("%s%s %.*s", i > 0 ? "; " : "", names[i], (int)strcspn(plan, " "), plan);
	}
	printf("\n");
	return 0;
}
