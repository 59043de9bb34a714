# SPDX-License-Identifier: BSD-2-Clause
# 64-bit ARM, with NEON kernels (Debian: gcc-aarch64-linux-gnu qemu-user).
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(abd_arch arm64)
set(abd_triplet aarch64-linux-gnu)
# An older CPU model: qemu-user 7.2 claims dc cvap for its newer models, but does not execute it. tests/cross runs the flush tests on its
# newest too, with a stand-in for that instruction (tests/flush/test_flush_line_cvap.c).
set(abd_qemu qemu-aarch64 -cpu cortex-a72)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
