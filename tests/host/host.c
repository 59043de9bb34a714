/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's allocator stays the host's: in a program that uses libabd, malloc and free are the C
 * library's, while buffers come from the provider named in argv[1]. And nobody here has operator
 * delete: the next library in C++ that the program uses or opens must find libstdc++'s.
 */
#include "host.h"

#include <abd/abd.h>

int main(int argc, char **argv)
{
	abd_t *abd = abd_alloc(128 << 10, false);
	void *own = malloc(100);

	if (argc != 2 || abd == NULL || own == NULL)
		return 2;
	abd_zero_off(abd, 0, abd_get_size(abd));
	host_expect_owner("malloc", "libc.so");
	host_expect_owner("free", "libc.so");
	host_expect_owner("aligned_alloc", "libc.so");
	host_expect_owner("_ZdlPv", "nobody");
	host_expect_text("chunk_provider", abd_tuning_get("chunk_provider"), argv[1]);
	abd_free(abd);
	free(own);
	return host_failed;
}
