/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin that holds libabd's archive. host_close.c opens it.
 */
#include <abd/abd.h>

__attribute__((visibility("default"))) int host_plugin_use(void);

/* 0: a scatter buffer, a linear one and a reap did what they should. */
int host_plugin_use(void)
{
	abd_t *scatter = abd_alloc(1 << 20, false), *linear = abd_alloc(512, false);
	int result = 1;

	if (scatter != NULL && linear != NULL) {
		abd_zero(scatter, 1 << 20);
		abd_zero(linear, 512);
		result = abd_cmp_zero(scatter, 1 << 20) != 0 || abd_cmp_zero(linear, 512) != 0;
	}
	abd_free(scatter);
	abd_free(linear);
	abd_cache_reap_now();
	return result;
}
