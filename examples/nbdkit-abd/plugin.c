/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nbdkit's side: parameters, and one device for all connections, any number of requests at once.
 *
 * The log is replayed before nbdkit goes into the background, where errors still reach the
 * administrator. The cache is made after that, because a child must not use its parent's cache.
 * Source: nbdkit-plugin(3), "Callback lifecycle".
 */
#include "device.h"

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <stdlib.h>
#include <string.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static char *path; /* absolute: nbdkit changes its directory */
static uint64_t log_size = (uint64_t)64 << 20;
static uint64_t cache_size = (uint64_t)256 << 20;
static struct device device;
static bool is_open;

static int take_size(uint64_t *to, const char *key, const char *value, uint64_t least)
{
	int64_t size = nbdkit_parse_size(value);

	if (size >= 0 && (uint64_t)size < least) {
		nbdkit_error("%s must be %llu or more", key, (unsigned long long)least);
		size = -1;
	}
	*to = (uint64_t)size;
	return size < 0 ? -1 : 0;
}

static int plugin_config(const char *key, const char *value)
{
	if (strcmp(key, "file") == 0) {
		free(path);
		path = nbdkit_absolute_path(value);
		return path != NULL ? 0 : -1;
	}
	if (strcmp(key, "log-size") == 0)
		return take_size(&log_size, key, value, LOG_SIZE_MIN);
	if (strcmp(key, "cache") == 0)
		return take_size(&cache_size, key, value, ABD_ARC_CAPACITY_MIN);
	nbdkit_error("unknown parameter '%s'", key);
	return -1;
}

static int plugin_config_complete(void)
{
	if (path == NULL)
		nbdkit_error("file=<FILENAME> is missing: the raw image");
	return path != NULL ? 0 : -1;
}

static int plugin_get_ready(void)
{
	is_open = device_open(&device, path, log_size) == 0;
	return is_open ? 0 : -1;
}

static int plugin_after_fork(void)
{
	int error = device_start(&device, (size_t)cache_size);

	if (error != 0)
		nbdkit_error("can't make the cache: %s", strerror(-error));
	return error == 0 ? 0 : -1;
}

static void plugin_unload(void)
{
	if (is_open)
		device_close(&device);
	free(path);
}

static void *plugin_open(int readonly)
{
	(void)readonly; /* nbdkit refuses writes by itself then */
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t plugin_get_size(void *handle)
{
	(void)handle;
	return (int64_t)(device.blocks * BLOCK);
}

static int plugin_block_size(
	void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void)handle;
	*minimum = 1;
	*preferred = BLOCK;
	*maximum = UINT32_MAX;
	return 0;
}

/* A flush on one connection covers what was written on all of them: there is one log. */
static int plugin_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int answer(int error)
{
	if (error != 0)
		nbdkit_set_error(-error);
	return error == 0 ? 0 : -1;
}

static int plugin_read(void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_read(&device, buf, count, offset));
}

/* nbdkit calls plugin_flush() after a write with FUA. */
static int plugin_write(
	void *handle, const void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_write(&device, buf, count, offset));
}

static int plugin_zeroes(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_write(&device, NULL, count, offset));
}

static int plugin_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_flush(&device));
}

static struct nbdkit_plugin plugin = {
	.name = "abd",
	.longname = "libabd example: a raw image behind a compressed cache and a log",
	.unload = plugin_unload,
	.config = plugin_config,
	.config_complete = plugin_config_complete,
	.config_help = "file=<FILENAME>   (required) The raw image, of a multiple of 8192 bytes.\n"
		       "log-size=<SIZE>   Size of the log when it is made (default: 64M).\n"
		       "cache=<SIZE>      Memory for cached blocks (default: 256M).",
	.magic_config_key = "file",
	.get_ready = plugin_get_ready,
	.after_fork = plugin_after_fork,
	.open = plugin_open,
	.get_size = plugin_get_size,
	.block_size = plugin_block_size,
	.can_multi_conn = plugin_can_multi_conn,
	.pread = plugin_read,
	.pwrite = plugin_write,
	.zero = plugin_zeroes,
	.trim = plugin_zeroes,
	.flush = plugin_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
