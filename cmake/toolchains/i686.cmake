# SPDX-License-Identifier: BSD-2-Clause
# 32-bit x86, which an x86-64 kernel runs itself (Debian: gcc-i686-linux-gnu).
set(CMAKE_SYSTEM_PROCESSOR i686)
set(abd_arch i386)
set(abd_triplet i686-linux-gnu)
set(abd_libs i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
