/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer's tunables and the layer's lazy start.
 * OpenZFS: zfs_abd_scatter_enabled, zfs_abd_scatter_min_size, zfs_abd_scatter_max_order in
 * module/os/linux/zfs/abd_os.c.
 */
#include "abd_impl.h"

/*
 * Scatter from 1.5 KiB up and runs of up to 4 MiB: OpenZFS's values on Linux before 6.4. Since then
 * the kernel counts orders otherwise, and OpenZFS's runs end at 2 MiB.
 */
struct abd_tune abd_tune = {
	.scatter_enabled = 1,
	.linear_page = 1,
	.scatter_min_size = 512 * 3,
	.max_order = ABD_CHUNK_ORDER_MAX,
};
atomic_bool abd_started;

static const struct abd_tunable abd_buffer_tunable_table[] = {
	{.name = "scatter_enabled", ABD_TUNABLE_NUMBER(abd_tune.scatter_enabled), .high = 1},
	{.name = "scatter_min_size",
		ABD_TUNABLE_NUMBER(abd_tune.scatter_min_size),
		.high = SIZE_MAX},
	{.name = "max_order", ABD_TUNABLE_NUMBER(abd_tune.max_order), .high = ABD_CHUNK_ORDER_MAX},
	{.name = "linear_page", ABD_TUNABLE_NUMBER(abd_tune.linear_page), .high = 1},
};

const struct abd_tunables abd_buffer_tunables = {
	abd_buffer_tunable_table,
	sizeof(abd_buffer_tunable_table) / sizeof(abd_buffer_tunable_table[0]),
	abd_start,
};

static void abd_start_once(void)
{
	ABD_KEEP_ERRNO;

	abd_chunk_tunables.start();
	abd_tunable_from_environment(&abd_buffer_tunables);
	atomic_store_explicit(&abd_started, true, memory_order_release);
}

void abd_start_slow(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_start_once);
}
