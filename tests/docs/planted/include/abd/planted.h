/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A header of which one call says nothing and one too little.
 */
#ifndef ABD_PLANTED_H
#define ABD_PLANTED_H

ABD_API int abd_planted_silent(void);

/**
 * Says little.
 * Returns: 0.
 */
ABD_API int abd_planted_terse(void);

#endif
