/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters count all the time, in user mode; a sample takes the difference. If the kernel lets
 * several take turns on one register, a value is scaled by the share of time that it was counted.
 */
#include "abd_perf_counter.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const abd_perf_counter_name[ABD_PERF_COUNTERS] = {
	"cycles", "instructions", "cache misses", "branch misses", "TLB misses", "page faults"};

#define ABD_PERF_COUNTER_TLB                                           \
	(PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
		PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
	uint32_t type;
	uint64_t event;
} abd_perf_counter_event[ABD_PERF_COUNTERS] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{PERF_TYPE_HW_CACHE, ABD_PERF_COUNTER_TLB},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};

static int abd_perf_counter_file[ABD_PERF_COUNTERS] = {-1, -1, -1, -1, -1, -1};

const char *abd_perf_counter_open(void)
{
	static char text[200];
	char absent[120] = "";

	text[0] = '\0';
	for (unsigned i = 0; i < ABD_PERF_COUNTERS; i++) {
		struct perf_event_attr attr = {.type = abd_perf_counter_event[i].type,
			.size = sizeof(attr),
			.config = abd_perf_counter_event[i].event,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.read_format =
				PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
		int *file = &abd_perf_counter_file[i];
		char *list;

		if (*file < 0) {
			int opened = (int)syscall(
				SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

			/* A closed standard output must not become a counter. */
			*file = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
			close(opened);
		}
		list = *file < 0 ? absent : text;
		strcat(strcat(list, *list != '\0' ? ", " : ""), abd_perf_counter_name[i]);
	}
	if (*absent != '\0')
		strcat(strcat(text, *text != '\0' ? "; not available: " : "not available: "),
			absent);
	return text;
}

void abd_perf_counter_read(uint64_t value[ABD_PERF_COUNTERS])
{
	for (unsigned i = 0; i < ABD_PERF_COUNTERS; i++) {
		uint64_t said[3]; /* the count, and the ns it was on and counted */

		value[i] = 0;
		if (abd_perf_counter_file[i] < 0 ||
			read(abd_perf_counter_file[i], said, sizeof(said)) != sizeof(said) ||
			said[2] == 0)
			continue;
		value[i] = (uint64_t)((double)said[0] * ((double)said[1] / (double)said[2]));
	}
}
