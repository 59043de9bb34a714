/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One buffer of every kind, all of the same size, each with its model and with the memory that its
 * bytes are known to lie in.
 * Invariant: what lies where is worked out here from how the buffer was made, never asked of the
 * iterator; so a mistake in seeking that reading and writing share shows as a difference between
 * memory and model.
 * Needs the test provider (abd_test_provider_begin()).
 */
#ifndef ABD_TEST_KINDS_H
#define ABD_TEST_KINDS_H

#include <abd/abd.h>

/* Four pages but for 384 bytes: a single run of order 2, or several of any mix. */
#define ABD_TEST_KIND_SIZE ((size_t)16000)
#define ABD_TEST_PIECES 64
#define ABD_TEST_PARTS 16

struct abd_test_buffer {
	const char *kind;
	abd_t *abd;
	uint8_t *model; /* what its bytes are */
	size_t size;
	bool writes;                         /* false: made of zeros, at least in part */
	struct iovec piece[ABD_TEST_PIECES]; /* where its bytes lie, in order */
	size_t piece_count;

	abd_t *part[ABD_TEST_PARTS]; /* what it is made from: freed after it, last first */
	size_t part_count;
	void *memory[ABD_TEST_PARTS];
	size_t memory_count;
	abd_t own[4]; /* structs of the caller's */
};

extern const size_t abd_test_kind_count;

/**
 * Make a buffer of a kind, 0 to abd_test_kind_count - 1, with random content. Aborts when it can't.
 */
void abd_test_build(struct abd_test_buffer *buffer, size_t kind, uint64_t seed);

/** End it, its parts and its model. */
void abd_test_drop(struct abd_test_buffer *buffer);

/** Give it new random content, model and memory alike; what is zeros stays so. */
void abd_test_fill(struct abd_test_buffer *buffer, uint64_t seed);

/** The first byte whose memory differs from the model; size when none does. */
size_t abd_test_differs(const struct abd_test_buffer *buffer);

#define ABD_TEST_OFFSETS 96

/**
 * Offsets that matter: both ends, and around each boundary between pieces. Sorted; returns how
 * many.
 */
size_t abd_test_offsets(const struct abd_test_buffer *buffer, size_t offsets[ABD_TEST_OFFSETS]);

#endif
