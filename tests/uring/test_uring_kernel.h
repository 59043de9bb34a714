/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring whose kernel is this test program: what a real one answers once in a while, it answers
 * when it is told to. Works where the system refuses io_uring, too.
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
