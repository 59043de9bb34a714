/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters: taken one by one, then checked together.
 * Source: nbdkit-plugin(3), "config" and "config_complete".
 */
#include "params.h"

#include "nbdkit_api.h"

#include <abd/abd.h>

#include <stdlib.h>
#include <string.h>

void params_init(struct params *params)
{
	*params = (struct params){
		.log_size = (uint64_t)256 << 20,
		.cache_size = (size_t)256 << 20,
		.block_size = (size_t)8 << 10,
	};
}

void params_fini(struct params *params)
{
	free(params->file);
	free(params->log);
	params->file = params->log = NULL;
}

uint64_t params_log_min(size_t block_size)
{
	return 2 * ((uint64_t)64 << 10) + 2 * (uint64_t)64 * block_size;
}

static int set_size(uint64_t *to, const char *key, const char *value)
{
	int64_t size = nbdkit_parse_size(value);

	if (size < 0)
		return -1; /* it has said why */
	if (size == 0) {
		nbdkit_error("%s must be more than 0", key);
		return -1;
	}
	*to = (uint64_t)size;
	return 0;
}

static int set_bool(bool *to, const char *value)
{
	int parsed = nbdkit_parse_bool(value);

	if (parsed < 0)
		return -1;
	*to = parsed != 0;
	return 0;
}

static int set_path(char **to, const char *key, const char *value)
{
	if (*to != NULL) {
		nbdkit_error("%s is given twice", key);
		return -1;
	}
	if (value[0] == '\0') {
		nbdkit_error("%s is empty", key);
		return -1;
	}
	*to = nbdkit_absolute_path(value);
	return *to != NULL ? 0 : -1;
}

static int set_size_t(size_t *to, const char *key, const char *value)
{
	uint64_t size;

	if (set_size(&size, key, value) != 0)
		return -1;
	*to = (size_t)size;
	return 0;
}

int params_set(struct params *params, const char *key, const char *value)
{
	if (strcmp(key, "file") == 0)
		return set_path(&params->file, key, value);
	if (strcmp(key, "log") == 0)
		return set_path(&params->log, key, value);
	if (strcmp(key, "size") == 0)
		return set_size(&params->size, key, value);
	if (strcmp(key, "log-size") == 0)
		return set_size(&params->log_size, key, value);
	if (strcmp(key, "cache") == 0)
		return set_size_t(&params->cache_size, key, value);
	if (strcmp(key, "block") == 0)
		return set_size_t(&params->block_size, key, value);
	if (strcmp(key, "readonly") == 0)
		return set_bool(&params->readonly, value);
	if (strcmp(key, "adopt") == 0)
		return set_bool(&params->adopt, value);
	nbdkit_error("unknown parameter '%s'; nbdkit --help with this plugin lists them", key);
	return -1;
}

static int default_log(struct params *params)
{
	size_t size = strlen(params->file) + sizeof(".log");

	params->log = malloc(size);
	if (params->log == NULL) {
		nbdkit_error("no memory");
		return -1;
	}
	memcpy(params->log, params->file, size - sizeof(".log"));
	memcpy(params->log + size - sizeof(".log"), ".log", sizeof(".log"));
	return 0;
}

static int check_sizes(const struct params *params)
{
	size_t block = params->block_size;

	if (block < PARAMS_BLOCK_MIN || block > PARAMS_BLOCK_MAX || (block & (block - 1)) != 0) {
		nbdkit_error("block=%zu is not a power of two from %zu to %zu", block,
			PARAMS_BLOCK_MIN, PARAMS_BLOCK_MAX);
		return -1;
	}
	if (params->log_size < params_log_min(block) || params->log_size > PARAMS_LOG_MAX) {
		nbdkit_error("log-size=%llu must be from %llu to %llu with blocks of %zu bytes",
			(unsigned long long)params->log_size,
			(unsigned long long)params_log_min(block),
			(unsigned long long)PARAMS_LOG_MAX, block);
		return -1;
	}
	if (params->cache_size < ABD_ARC_CAPACITY_MIN) {
		nbdkit_error("cache=%zu is less than the smallest cache, %zu bytes",
			params->cache_size, ABD_ARC_CAPACITY_MIN);
		return -1;
	}
	if (params->size % 512 != 0) {
		nbdkit_error(
			"size=%llu is not a multiple of 512", (unsigned long long)params->size);
		return -1;
	}
	return 0;
}

int params_check(struct params *params)
{
	if (params->file == NULL) {
		nbdkit_error("file=<FILENAME> is missing: it names the backing file");
		return -1;
	}
	if (check_sizes(params) != 0)
		return -1;
	if (params->log == NULL && default_log(params) != 0)
		return -1;
	if (strcmp(params->file, params->log) == 0) {
		nbdkit_error("file and log are the same file, %s", params->file);
		return -1;
	}
	return 0;
}
