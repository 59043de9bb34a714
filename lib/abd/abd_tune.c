/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer's tunables and the layer's lazy start.
 * OpenZFS: zfs_abd_scatter_enabled, zfs_abd_scatter_min_size, zfs_abd_scatter_max_order in
 * module/os/linux/zfs/abd_os.c.
 */
#include "abd_impl.h"

#include <stdio.h>

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

static int abd_tune_flag(int *flag, const char *value)
{
	uint64_t number;

	if (!abd_tunable_parse(value, 0, 1, &number))
		return -EINVAL;
	__atomic_store_n(flag, (int)number, __ATOMIC_RELAXED);
	return 0;
}

static int abd_tune_scatter_enabled_set(const char *value)
{
	return abd_tune_flag(&abd_tune.scatter_enabled, value);
}

static int abd_tune_linear_page_set(const char *value)
{
	return abd_tune_flag(&abd_tune.linear_page, value);
}

static int abd_tune_scatter_min_size_set(const char *value)
{
	uint64_t number;

	if (!abd_tunable_parse(value, 0, SIZE_MAX, &number))
		return -EINVAL;
	__atomic_store_n(&abd_tune.scatter_min_size, (size_t)number, __ATOMIC_RELAXED);
	return 0;
}

static int abd_tune_max_order_set(const char *value)
{
	uint64_t number;

	if (!abd_tunable_parse(value, 0, ABD_CHUNK_ORDER_MAX, &number))
		return -EINVAL;
	__atomic_store_n(&abd_tune.max_order, (unsigned)number, __ATOMIC_RELAXED);
	return 0;
}

static const char *abd_tune_print(char *text, size_t size, size_t value)
{
	snprintf(text, size, "%zu", value);
	return text;
}

static const char *abd_tune_scatter_enabled_get(char *text, size_t size)
{
	return abd_tune_print(text, size, ABD_TUNE(scatter_enabled) != 0);
}

static const char *abd_tune_linear_page_get(char *text, size_t size)
{
	return abd_tune_print(text, size, ABD_TUNE(linear_page) != 0);
}

static const char *abd_tune_scatter_min_size_get(char *text, size_t size)
{
	return abd_tune_print(text, size, ABD_TUNE(scatter_min_size));
}

static const char *abd_tune_max_order_get(char *text, size_t size)
{
	return abd_tune_print(text, size, ABD_TUNE(max_order));
}

static const struct abd_tunable abd_buffer_tunable_table[] = {
	{"scatter_enabled", abd_tune_scatter_enabled_set, abd_tune_scatter_enabled_get},
	{"scatter_min_size", abd_tune_scatter_min_size_set, abd_tune_scatter_min_size_get},
	{"max_order", abd_tune_max_order_set, abd_tune_max_order_get},
	{"linear_page", abd_tune_linear_page_set, abd_tune_linear_page_get},
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
