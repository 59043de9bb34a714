/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A refusal of the Linux kernel is reported with its own error number, even -EPERM, which is -1 and
 * thus next to the sizes.
 */
#include "abd_test.h"

#include <abd/uring.h>
#include <liburing.h>

Test(abd_uring_refused, a_file_that_is_sealed_is_not_written)
{
	struct io_uring ring;
	struct abd_uring uring = {.ring = &ring};
	int fd = memfd_create("abd", MFD_ALLOW_SEALING), error = io_uring_queue_init(8, &ring, 0);
	abd_t *abd = abd_alloc(20000, false);

	if (error != 0) {
		fprintf(stderr, "left out, no io_uring here: %s\n", strerror(-error));
	} else {
		abd_zero(abd, 20000);
		cr_assert_eq(ftruncate(fd, 20000), 0);
		cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
		cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, 20000, 0), -EPERM);
		cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, 20000, 0), 20000);
		io_uring_queue_exit(&ring);
	}
	abd_free(abd);
	close(fd);
}
