# SPDX-License-Identifier: BSD-2-Clause
# IBM Z: big-endian (Debian: gcc-s390x-linux-gnu qemu-user).
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(abd_arch s390x)
set(abd_triplet s390x-linux-gnu)
set(abd_qemu qemu-s390x)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
