/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One flag, set by the handler, asked between samples.
 */
#include "abd_perf_stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t abd_perf_stop;

static void abd_perf_stop_handle(int signal)
{
	(void)signal;
	abd_perf_stop = 1;
}

void abd_perf_stop_install(void)
{
	/* Reset: the second one has the system's meaning. */
	struct sigaction action = {
		.sa_handler = abd_perf_stop_handle, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool abd_perf_stop_wanted(void)
{
	return abd_perf_stop != 0;
}
