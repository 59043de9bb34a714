/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signal handler sets one flag, which is read between rounds.
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
	/* SA_RESETHAND: a second ctrl-C ends the program at once. */
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
