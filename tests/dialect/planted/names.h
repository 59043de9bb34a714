/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that must not pass. One that OpenZFS has elsewhere, as a function, a macro and a type; one
 * that has no prefix; and sources that are not so.
 * OpenZFS: abd_gone() in module/zfs/abd.c, abd_verify() in module/zfs/arc.c; abd_never_was().
 */
#ifndef ABD_PLANTED_NAMES_H
#define ABD_PLANTED_NAMES_H

#define abd_enter_critical(flags) (void)(flags)

typedef int abd_checksum_off;

int abd_fletcher_4_byteswap(int a);
int without_prefix(void);

#endif
