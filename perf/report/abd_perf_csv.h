/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All figures and ratios as rows of comma-separated values (RFC 4180), for a spreadsheet.
 */
#ifndef ABD_PERF_CSV_H
#define ABD_PERF_CSV_H

/** Write it, whole or not at all. 0 or -errno. */
int abd_perf_csv_write(const char *path);

#endif
