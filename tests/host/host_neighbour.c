/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One of many libraries in a host's process that have thread-local words. It is built twice: with
 * words that the loader finds room for at any time, and with words in static TLS, which runs out.
 */
__attribute__((visibility("default"))) int host_neighbour_use(void);

static _Thread_local int words[16];

int host_neighbour_use(void)
{
	return ++*(volatile int *)&words[15];
}
