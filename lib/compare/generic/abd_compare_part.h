/* SPDX-License-Identifier: BSD-2-Clause */
/* For 16-byte vectors: spans of up to one vector are read as one or two words. */
#ifndef ABD_COMPARE_PART_H
#define ABD_COMPARE_PART_H

#include "abd_compare_word.h"

#define part_equal abd_short_equal
#define part_order abd_short_order
#define part_diff abd_short_diff
#define part_zero abd_short_zero

#endif
