/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of every kind, all of one size. Each comes with its model (the bytes it must hold) and
 * with the memory in which its bytes are known to lie.
 * Invariant: that memory is worked out here from how the buffer was made, without the iterator. So
 * if reading and writing share a mistake in seeking, memory and model differ.
 * Needs the test provider (abd_test_provider_begin()).
 */
#ifndef ABD_TEST_KINDS_H
#define ABD_TEST_KINDS_H

#include <abd/abd.h>

/*
 * 384 bytes less than four pages: fits a single run of order 2, or several runs of any mix of
 * orders.
 */
#define ABD_TEST_KIND_SIZE ((size_t)16000)
#define ABD_TEST_PIECES 64
#define ABD_TEST_PARTS 16

struct abd_test_buffer {
	const char *kind;
	abd_t *abd;
	uint8_t *model; /* the bytes it must hold */
	size_t size;
	bool writes;                         /* false: made of zeros, at least in part */
	struct iovec piece[ABD_TEST_PIECES]; /* where its bytes lie, in order */
	size_t piece_count;

	abd_t *part[ABD_TEST_PARTS]; /* what it is made from: freed after it, last first */
	size_t part_count;
	void *memory[ABD_TEST_PARTS];
	size_t memory_count;
	abd_t own[4]; /* for abd_t structs that the caller provides */
};

extern const size_t abd_test_kind_count;
/** The number of the kind of this name. */
size_t abd_test_kind(const char *name);

/**
 * Make a buffer of a kind, 0 to abd_test_kind_count - 1, with random content. Aborts when it can't.
 */
void abd_test_build(struct abd_test_buffer *buffer, size_t kind, uint64_t seed);

/** Free the buffer, its parts and its model. */
void abd_test_drop(struct abd_test_buffer *buffer);

/** Write new random content to model and memory. Parts that are zeros stay zeros. */
void abd_test_fill(struct abd_test_buffer *buffer, uint64_t seed);

/** The offset of the first byte whose memory differs from the model; size if none differs. */
size_t abd_test_differs(const struct abd_test_buffer *buffer);

#define ABD_TEST_OFFSETS 96

/**
 * Offsets that matter: both ends, and around each boundary between pieces. Sorted; returns how
 * many.
 */
size_t abd_test_offsets(const struct abd_test_buffer *buffer, size_t offsets[ABD_TEST_OFFSETS]);

/** Call try with a buffer of each kind, or of each pair of kinds; with random content. */
void abd_test_each_kind(void (*try)(struct abd_test_buffer *buffer));
void abd_test_each_pair(void (*try)(struct abd_test_buffer *a, struct abd_test_buffer *b));

/** Call try with each kind and each range between two offsets that matter. */
void abd_test_each_range(void (*try)(struct abd_test_buffer *buffer, size_t off, size_t size));

#endif
