/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose function a name is in this process, for the programs that hold jemalloc to its place.
 */
#ifndef HOST_H
#define HOST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int host_failed;

/* The library's file name must begin with expected, "libc." for instance. */
static inline void host_expect_owner(const char *name, const char *expected)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	Dl_info info;
	const char *file = "nobody";

	if (function != NULL && dladdr(function, &info) != 0)
		file = strrchr(info.dli_fname, '/') != NULL ? strrchr(info.dli_fname, '/') + 1
							    : info.dli_fname;
	printf("%s belongs to %s\n", name, file);
	if (strncmp(file, expected, strlen(expected)) != 0) {
		printf("FAIL: not to %s*\n", expected);
		host_failed = 1;
	}
}

static inline void host_expect_text(const char *what, const char *text, const char *expected)
{
	printf("%s is %s\n", what, text);
	if (strcmp(text, expected) != 0) {
		printf("FAIL: not %s\n", expected);
		host_failed = 1;
	}
}

#endif
