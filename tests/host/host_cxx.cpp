/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As host.c, in C++: operator new and delete are the C++ library's too.
 */
#include "host.h"

#include <abd/abd.h>

#include <memory>
#include <string>

int main(int argc, char **argv)
{
	abd_t *abd = abd_alloc(128 << 10, false);
	auto own = std::make_unique<std::string>(100, 'x');

	if (argc != 2 || abd == nullptr || own->size() != 100)
		return 2;
	abd_zero_off(abd, 0, abd_get_size(abd));
	host_expect_owner("malloc", "libc.so");
	host_expect_owner("free", "libc.so");
	host_expect_owner("_Znwm", "libstdc++.so");
	host_expect_owner("_ZdlPv", "libstdc++.so");
	host_expect_text("chunk_provider", abd_tuning_get("chunk_provider"), argv[1]);
	abd_free(abd);
	return host_failed;
}
