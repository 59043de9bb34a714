/* SPDX-License-Identifier: BSD-2-Clause */
/* A disk whose every read takes ABD_SLOW_READS milliseconds, so that much can happen during one. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

__attribute__((visibility("default"))) ssize_t preadv(
	int fd, const struct iovec *iov, int count, off_t offset)
{
	static ssize_t (*next)(int, const struct iovec *, int, off_t);
	const char *wanted = getenv("ABD_SLOW_READS");
	long ms = wanted != NULL ? atol(wanted) : 0;
	struct timespec latency = {ms / 1000, ms % 1000 * 1000000};

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "preadv");
	ssize_t got = next(fd, iov, count, offset);

	nanosleep(&latency, NULL); /* after it: what was read is old by then */
	return got;
}
