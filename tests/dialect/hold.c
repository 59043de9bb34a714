/* SPDX-License-Identifier: BSD-2-Clause */
/* A held record in C: hold.h. */
#include "hold.h"

int main(void)
{
	return hold_run();
}
