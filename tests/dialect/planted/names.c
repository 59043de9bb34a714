/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library with a name of OpenZFS's.
 */
#include "names.h"

int abd_fletcher_4_byteswap(int a)
{
	return a;
}
