/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the administrator gave: nbdkit's key=value parameters, checked as far as they can be without
 * looking at files.
 * Invariant: after params_check() every field holds a value that the rest of the plugin accepts.
 */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMS_BLOCK_MIN ((size_t)4 << 10)
#define PARAMS_BLOCK_MAX ((size_t)1 << 20)
/* Limits from counters of 32 bits: blocks, and lines of a segment. */
#define PARAMS_BLOCKS_MAX ((uint64_t)1 << 32)
#define PARAMS_LOG_MAX ((uint64_t)128 << 30)

struct params {
	char *file; /* absolute: nbdkit changes its directory */
	char *log;
	uint64_t size; /* 0: as large as the file is */
	uint64_t log_size;
	size_t cache_size;
	size_t block_size;
	bool readonly;
	bool adopt;
};

/** Defaults. */
void params_init(struct params *params);

/** Take one parameter. Returns 0, or -1 after nbdkit_error(). */
int params_set(struct params *params, const char *key, const char *value);

/** Check that all parameters fit together. Returns 0, or -1 after nbdkit_error(). */
int params_check(struct params *params);

void params_fini(struct params *params);

/** The least log for a block size: two segments that hold a few records per thread each. */
uint64_t params_log_min(size_t block_size);

#define PARAMS_HELP                                                                              \
	"file=<FILENAME>     (required) The backing file, a raw image.\n"                        \
	"size=<SIZE>         Size of the device; needed to create the file.\n"                   \
	"log=<FILENAME>      The log (default: the backing file's name and .log).\n"             \
	"log-size=<SIZE>     Size of the log when it is created (default: 256M).\n"              \
	"cache=<SIZE>        Memory for cached blocks (default: 256M).\n"                        \
	"block=<SIZE>        Bytes per block, a power of two from 4K to 1M (default: 8K).\n"     \
	"readonly=<BOOL>     Write to no file; serve what file and log hold (default: false).\n" \
	"adopt=<BOOL>        Let this file and this log, or none, go together from now on."

#endif
