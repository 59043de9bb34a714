# SPDX-License-Identifier: BSD-2-Clause
# 32-bit ARM (Debian: gcc-arm-linux-gnueabihf qemu-user).
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(abd_arch armhf)
set(abd_triplet arm-linux-gnueabihf)
set(abd_qemu qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
