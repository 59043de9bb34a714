/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library with wrong exports, which tests/exports must notice.
 */
void stray_name(void);
void abd_probe_undeclared(void);

void stray_name(void)
{
}

void abd_probe_undeclared(void)
{
}
