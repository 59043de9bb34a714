/* SPDX-License-Identifier: BSD-2-Clause */
/* The same host in C++. */
#include "host_late.c"
