# SPDX-License-Identifier: BSD-2-Clause
# What the toolchain files of Debian's cross compilers share. Set before: abd_arch (Debian's name), abd_triplet (the compiler's),
# abd_libs (the folder of libraries, if it isn't the triplet's), abd_qemu (the emulator, or nothing where this machine runs it).
# Libraries come from build/sysroot/ARCH (tools/sysroot.sh). Programs are linked statically, so they run without that architecture's
# loader.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${abd_triplet}-gcc)
if(NOT abd_libs)
	set(abd_libs ${abd_triplet})
endif()
set(abd_root ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot/${abd_arch})
cmake_path(NORMAL_PATH abd_root)
set(ENV{PKG_CONFIG_LIBDIR} ${abd_root}/usr/lib/${abd_libs}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${abd_root})
set(CMAKE_C_FLAGS_INIT "-isystem ${abd_root}/usr/include/${abd_libs} -isystem ${abd_root}/usr/include ${abd_flags}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -L${abd_root}/usr/lib/${abd_libs}")
set(CMAKE_CROSSCOMPILING_EMULATOR ${abd_qemu})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
