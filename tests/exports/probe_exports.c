/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library whose exports are wrong, so that tests/exports can be seen to notice.
 */
void stray_name(void);
void abd_probe_undeclared(void);

void stray_name(void)
{
}

void abd_probe_undeclared(void)
{
}
