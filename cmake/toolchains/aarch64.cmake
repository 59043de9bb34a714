# SPDX-License-Identifier: BSD-2-Clause
# 64-bit ARM, with NEON kernels (Debian: gcc-aarch64-linux-gnu qemu-user).
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(abd_arch arm64)
set(abd_triplet aarch64-linux-gnu)
set(abd_qemu qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
