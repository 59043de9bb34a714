/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A header of which one call says nothing, one too little, and one that there is nothing to say.
 */
#ifndef ABD_PLANTED_H
#define ABD_PLANTED_H

ABD_API int abd_planted_silent(void);

/**
 * Says little.
 * Returns: 0.
 */
ABD_API void *abd_planted_terse(size_t size);

/**
 * Says more than it has to.
 *
 * Returns: 0.
 * Threads: any.
 * Source:  none.
 */
ABD_API int abd_planted_empty(void);

#endif
