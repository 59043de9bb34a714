# SPDX-License-Identifier: BSD-2-Clause
# x86-64 with musl instead of glibc, linked statically (Debian: musl-tools). Debian has no libraries built for musl, so
# their glibc archives are linked. musl lacks one function that such archives call before they give up: abort() stands in for it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(abd_root ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot/amd64)
cmake_path(NORMAL_PATH abd_root)
set(ENV{PKG_CONFIG_LIBDIR} ${abd_root}/usr/lib/x86_64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${abd_root})
set(CMAKE_C_FLAGS_INIT "-isystem ${abd_root}/usr/include/x86_64-linux-gnu -isystem ${abd_root}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT
	"-static -L${abd_root}/usr/lib/x86_64-linux-gnu -Wl,--defsym=__fprintf_chk=abort")
