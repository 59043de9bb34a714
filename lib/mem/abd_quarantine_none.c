/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds without the deep checks have no quarantine.
 */
#include "abd_quarantine.h"

void abd_quarantine_empty(void)
{
}
