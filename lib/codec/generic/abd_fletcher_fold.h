/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folding lanes of fletcher_4: from two lanes that took words by turns to the sums of one lane that
 * took the words of both.
 * Invariant: all sums are modulo 2^64; factors are powers of two, so no multiplication is needed.
 */
#ifndef ABD_FLETCHER_FOLD_H
#define ABD_FLETCHER_FOLD_H

#include <stdint.h>

/* Four lanes: as narrow as vectors get, because narrow ones take less time on AMD Zen 4. */
typedef uint64_t abd_fletcher_quad __attribute__((vector_size(32)));

/* For each of the four sums. */
#define EACH(f)                        \
	{                              \
		f(0), f(1), f(2), f(3) \
	}

/*
 * Fold lanes of second into those of first, which took the first word of each turn; both are a, b,
 * c, d, as vectors of lanes. A word counts once in a; when x words of its lane have come since it
 * did, the word itself included, x times in b, C(x + 1, 2) times in c and C(x + 2, 3) times in d.
 * In the folded lane 2x have come since a word of the first, 2x - 1 since one of the second, and
 * C(2x + 1, 2) = 4 C(x + 1, 2) - x, C(2x, 2) = 4 C(x + 1, 2) - 3x,
 * C(2x + 2, 3) = 8 C(x + 2, 3) - 4 C(x + 1, 2), C(2x + 1, 3) = 8 C(x + 2, 3) - 8 C(x + 1, 2) + x.
 */
#define FOLD(first, second)                                                                      \
	do {                                                                                     \
		__typeof__((first)[0]) a_ = (second)[0], b_ = (second)[1], c_ = (second)[2],     \
				       both_b = (first)[1] + b_, both_c = 4 * ((first)[2] + c_); \
                                                                                                 \
		(first)[3] = 8 * ((first)[3] + (second)[3]) - both_c - 4 * c_ + b_;              \
		(first)[2] = both_c - both_b - 2 * b_;                                           \
		(first)[1] = 2 * both_b - a_;                                                    \
		(first)[0] += a_;                                                                \
	} while (0)

#endif
