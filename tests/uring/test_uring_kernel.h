/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring whose Linux kernel is played by this test program: it gives rare answers on request. Works
 * even if the system refuses io_uring.
 */
#ifndef TEST_URING_KERNEL_H
#define TEST_URING_KERNEL_H

#include <liburing.h>
#include <stdbool.h>

/** Whether the ring has no other kernel. */
bool test_uring_kernel_is(const struct io_uring *ring);

/** io_uring_submit() for such a ring. */
int test_uring_kernel_submit(struct io_uring *ring);

#endif
