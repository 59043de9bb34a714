# SPDX-License-Identifier: BSD-2-Clause
# Every build calls this. It rewrites abd_perf_build.h only when the revision has changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
	OUTPUT_VARIABLE ABD_PERF_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT ABD_PERF_REVISION)
	set(ABD_PERF_REVISION unknown)
endif()
configure_file(${SOURCE}/perf/harness/abd_perf_build.h.in ${OUTPUT} @ONLY)
