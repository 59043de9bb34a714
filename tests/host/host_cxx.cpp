/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As host.c, in C++ and by abd.hpp: operator new and delete are the C++ library's too.
 */
#include "host.h"

#include <abd/abd.hpp>

#include <memory>
#include <string>

int main(int argc, char **argv)
{
	auto made = abd::buffer::alloc(128 << 10);
	auto own = std::make_unique<std::string>(100, 'x');

	if (argc != 2 || !made || own->size() != 100)
		return 2;
	made->zero(0, made->size());
	host_expect_owner("malloc", "libc.so");
	host_expect_owner("free", "libc.so");
	host_expect_owner("_Znwm", "libstdc++.so");
	host_expect_owner("_ZdlPv", "libstdc++.so");
	host_expect_text("chunk_provider", abd_tuning_get("chunk_provider"), argv[1]);
	return host_failed;
}
