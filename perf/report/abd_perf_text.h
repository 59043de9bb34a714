/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in UTF-8 that came from outside, or was cut by a limit of bytes.
 */
#ifndef ABD_PERF_TEXT_H
#define ABD_PERF_TEXT_H

/** Take off the part of a sign that a limit may have left at the end. */
void abd_perf_text_whole(char *text);
/**
 * Question marks instead of control signs: what a file holds may not steer a terminal or break a
 * table.
 */
void abd_perf_text_plain(char *text);

#endif
