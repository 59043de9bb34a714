/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nbdkit's side: one device for all connections, any number of requests at once.
 *
 * Files are opened and the log is replayed before nbdkit goes into the background, where errors
 * still reach the administrator; the cache and the checkpoint's thread begin after that, because
 * neither survives fork().
 * Source: nbdkit-plugin(3), "Callback lifecycle".
 */
#include "device.h"
#include "params.h"

#include "nbdkit_api.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static struct params params;
static struct device device;
static bool is_open;

static void abd_load(void)
{
	/* a limit on file sizes then returns EFBIG instead of ending the server */
	signal(SIGXFSZ, SIG_IGN);
	params_init(&params);
}

static void abd_cleanup(void)
{
	if (is_open)
		device_close(&device);
	is_open = false;
}

static void abd_unload(void)
{
	abd_cleanup();
	params_fini(&params);
}

static int abd_config(const char *key, const char *value)
{
	return params_set(&params, key, value);
}

static int abd_config_complete(void)
{
	return params_check(&params);
}

static int abd_get_ready(void)
{
	if (device_open(&device, &params) != 0)
		return -1;
	is_open = true;
	return 0;
}

static int abd_after_fork(void)
{
	return device_start(&device);
}

static void *abd_open(int readonly)
{
	(void)readonly; /* nbdkit refuses writes by itself then */
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t abd_get_device_size(void *handle)
{
	(void)handle;
	return (int64_t)device.size;
}

static int abd_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void)handle;
	*minimum = 1;
	*preferred = (uint32_t)device.block_size;
	*maximum = UINT32_MAX;
	return 0;
}

static int abd_can_write(void *handle)
{
	(void)handle;
	return !params.readonly;
}

/* A flush on one connection covers what all of them wrote: there is one log. */
static int abd_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int abd_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

static int abd_yes(void *handle)
{
	(void)handle;
	return 1;
}

/* Turn 0 or -errno into nbdkit's result and error number. */
static int answer(int error)
{
	if (error == 0)
		return 0;
	/* A limit on file sizes is, for the client, a full disk. */
	nbdkit_set_error(error == -EFBIG || error == -EDQUOT ? ENOSPC : -error);
	return -1;
}

static int finish(int error, uint32_t flags)
{
	if (error == 0 && (flags & NBDKIT_FLAG_FUA) != 0)
		error = device_flush(&device);
	return answer(error);
}

static int abd_device_pread(
	void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_read(&device, buf, count, offset));
}

static int abd_device_pwrite(
	void *handle, const void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	return finish(device_write(&device, buf, count, offset), flags);
}

static int abd_device_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	return finish(device_zero(&device, count, offset), flags);
}

static int abd_device_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return answer(device_flush(&device));
}

/* Enough for one answer: the client asks again for what lies behind. */
#define EXTENT_BLOCKS 65536

static int abd_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags,
	struct nbdkit_extents *extents)
{
	uint64_t end = offset + count;

	(void)handle;
	(void)flags;
	for (unsigned i = 0; i < EXTENT_BLOCKS && offset < end; i++) {
		uint64_t next = (offset / device.block_size + 1) * device.block_size;
		uint32_t type = device_is_zero(&device, offset)
					? NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO
					: 0;

		if (next > device.size)
			next = device.size;
		if (nbdkit_add_extent(extents, offset, next - offset, type) != 0)
			return -1;
		offset = next;
	}
	return 0;
}

static void abd_dump_plugin(void)
{
	printf("abd_flush=%s\n", abd_tuning_get("flush"));
	printf("abd_lz4=%s\n", abd_tuning_get("lz4"));
	printf("abd_compare=%s\n", abd_tuning_get("compare"));
}

static struct nbdkit_plugin plugin = {
	.name = "abd",
	.longname = "libabd example: compressed, deduplicated cache with a log over a raw image",
	.load = abd_load,
	.unload = abd_unload,
	.cleanup = abd_cleanup,
	.config = abd_config,
	.config_complete = abd_config_complete,
	.config_help = PARAMS_HELP,
	.magic_config_key = "file",
	.dump_plugin = abd_dump_plugin,
	.get_ready = abd_get_ready,
	.after_fork = abd_after_fork,
	.open = abd_open,
	.get_size = abd_get_device_size,
	.block_size = abd_block_size,
	.can_write = abd_can_write,
	.can_flush = abd_yes,
	.can_trim = abd_yes,
	.can_zero = abd_yes,
	.can_fast_zero = abd_yes,
	.can_extents = abd_yes,
	.can_fua = abd_can_fua,
	.can_multi_conn = abd_can_multi_conn,
	.pread = abd_device_pread,
	.pwrite = abd_device_pwrite,
	.zero = abd_device_zero,
	.trim = abd_device_zero,
	.flush = abd_device_flush,
	.extents = abd_extents,
	.errno_is_preserved = 0,
};

NBDKIT_REGISTER_PLUGIN(plugin)
