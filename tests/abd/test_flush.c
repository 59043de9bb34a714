/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copy between buffers of every kind. The recording backend of tests/flush checks what is
 * sent to memory; a flat array checks what is written.
 */
#include "../flush/flush_recorder.h"

#include "abd_test.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOM 8448 /* 8,192 and the largest offset, a little more than two chunks */

enum kind { LINEAR, SCATTER, RUN, GANG, VIEW, SPLIT, KINDS, ZEROS = KINDS };

static const char *const kind_names[] = {
	"linear", "scatter", "single run", "gang", "view", "split line", "zeros"};

struct made {
	abd_t *abd;
	abd_t *behind; /* what a view looks at */
};

static abd_t *flush_scatter(size_t size)
{
	abd_t *abd;

	cr_assert(abd_tuning_set("max_order", "0") == 0);
	abd = abd_alloc(size, false);
	cr_assert(abd_tuning_set("max_order", "10") == 0);
	cr_assert(abd != NULL);
	return abd;
}

/* Odd sizes throughout, so that children meet within lines. */
static abd_t *flush_gang(void)
{
	abd_t *gang = abd_alloc_gang();
	size_t left = ROOM, sizes[] = {100, 1, 4099, 63, 65, 2000};

	for (size_t i = 0; left > 0; i++) {
		size_t size = i < 6 ? abd_min(sizes[i], left) : left;

		cr_assert(abd_gang_add(gang,
				  i % 2 == 0 ? abd_alloc_linear(size, false)
					     : abd_alloc_for_io(size, false),
				  true) == 0);
		left -= size;
	}
	return gang;
}

/*
 * A gang of views of one linear buffer that divide it within lines: pieces that are neighbours in
 * memory.
 */
static struct made flush_split(void)
{
	struct made made = {abd_alloc_gang(), abd_alloc_linear(ROOM, false)};
	size_t at = 0, size = 40;

	while (at < ROOM) {
		size = abd_min(size, ROOM - at);
		cr_assert(abd_gang_add(
				  made.abd, abd_get_offset_size(made.behind, at, size), true) == 0);
		at += size;
		size = size * 3 % 1031 + 1;
	}
	return made;
}

static struct made flush_make(enum kind kind)
{
	struct made made = {NULL, NULL};

	switch (kind) {
	case LINEAR:
		made.abd = abd_alloc_linear(ROOM, false);
		break;
	case SCATTER:
		made.abd = flush_scatter(ROOM);
		break;
	case RUN:
		made.abd = abd_alloc(ROOM, false);
		break;
	case GANG:
		made.abd = flush_gang();
		break;
	case VIEW:
		made.behind = flush_scatter(ROOM + 5000);
		made.abd = abd_get_offset_size(made.behind, 4077, ROOM);
		break;
	case SPLIT:
		return flush_split();
	case ZEROS:
		made.abd = abd_get_zeros(ROOM);
		break;
	}
	cr_assert(made.abd != NULL && abd_get_size(made.abd) == ROOM);
	return made;
}

static void flush_unmake(struct made made)
{
	abd_free(made.abd);
	abd_free(made.behind);
}

static uint8_t flush_flat_src[ROOM], flush_flat_dst[ROOM], flush_seen[ROOM];

/* src and dst may be the same: it then holds what src should. */
static void flush_fill(abd_t *dst, abd_t *src, enum kind src_kind)
{
	uint64_t state = 8580;

	for (size_t i = 0; i < ROOM; i++) {
		flush_flat_src[i] = src_kind == ZEROS ? 0 : (uint8_t)abd_test_random(&state);
		flush_flat_dst[i] = (uint8_t)(i * 5);
	}
	if (dst != src)
		abd_copy_from_buf(dst, flush_flat_dst, ROOM);
	if (src_kind != ZEROS)
		abd_copy_from_buf(src, flush_flat_src, ROOM);
}

static int flush_expect_piece(void *buf, size_t len, void *priv)
{
	(void)priv;
	recorder_expect(buf, len);
	return 0;
}

static void flush_case(abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t size,
	unsigned flags, const char *names[2])
{
	bool drained = (flags & ABD_FLUSH_NODRAIN) == 0;
	const char *fault;

	recorder_reset();
	abd_iterate_func(dst, dst_off, size, flush_expect_piece, NULL);
	abd_flush_copy_off(dst, src, dst_off, src_off, size, flags);
	fault = recorder_fault(drained);
	abd_test_check(fault == NULL, "%s to %s: %zu bytes from %zu to %zu: %s", names[1], names[0],
		size, src_off, dst_off, fault);
	if (!drained) {
		abd_flush_drain();
		fault = recorder_fault(true);
		abd_test_check(fault == NULL, "drain: %s", fault);
	}
	memcpy(flush_flat_dst + dst_off, flush_flat_src + src_off, size);
}

static void flush_check(abd_t *dst, const char *names[2], size_t size)
{
	abd_copy_to_buf(flush_seen, dst, ROOM);
	abd_test_check(memcmp(flush_seen, flush_flat_dst, ROOM) == 0,
		"%s to %s: after copies of %zu bytes the content is wrong", names[1], names[0],
		size);
}

static size_t flush_next_size(size_t size)
{
	if (getenv("ABD_TEST_LONG") != NULL)
		return size + 1;
	return size < 70 ? size + 3 : size + 271 - size % 3;
}

static void flush_pair(struct made dst, struct made src, unsigned flags, const char *names[2])
{
	size_t step = getenv("ABD_TEST_LONG") != NULL ? 7 : 21;

	for (size_t size = 0; size <= 8192; size = flush_next_size(size)) {
		for (size_t head = 0; head < 64; head += step)
			flush_case(
				dst.abd, src.abd, head, (head * 5 + size) % 67, size, flags, names);
		flush_case(dst.abd, src.abd, ROOM - size, 0, size, flags, names);
		flush_case(dst.abd, src.abd, 0, ROOM - size, size, flags, names);
		flush_check(dst.abd, names, size);
	}
}

static void flush_every_pair(unsigned flags)
{
	for (int d = 0; d < KINDS; d++)
		for (int s = 0; s <= ZEROS; s++) {
			struct made dst = flush_make((enum kind)d), src = flush_make((enum kind)s);
			const char *names[2] = {kind_names[d], kind_names[s]};

			for (size_t p = 0; p < RECORDER_KERNELS; p++) {
				flush_fill(dst.abd, src.abd, (enum kind)s);
				flush_force(&recorder_kernels[p]);
				flush_pair(dst, src, flags, names);
				flush_force(NULL);
			}
			flush_unmake(dst);
			flush_unmake(src);
		}
}

Test(abd_flush, every_written_line_is_sent_once_and_one_fence_follows_for_every_pair_of_kinds)
{
	flush_every_pair(0);
}

Test(abd_flush, nodrain_leaves_the_fence_to_drain_for_every_pair_of_kinds)
{
	flush_every_pair(ABD_FLUSH_NODRAIN | ABD_FLUSH_SHARED);
}

static void flush_buf_case(enum kind kind, size_t size, size_t off, const char *policy)
{
	static _Alignas(64) uint8_t plain[ROOM + 64];
	struct made made = flush_make(kind);

	flush_fill(made.abd, made.abd, kind);
	memset(plain, 0xa5, sizeof(plain));
	abd_flush_copy_to_buf_off(plain + off, made.abd, off * 2, size, ABD_FLUSH_EXCLUSIVE);
	abd_test_check(memcmp(plain + off, flush_flat_src + off * 2, size) == 0,
		"%s: %s to plain memory", policy, kind_names[kind]);
	cr_assert(plain[off + size] == 0xa5 && (off == 0 || plain[off - 1] == 0xa5));
	if (kind != ZEROS) {
		abd_copy_from_buf(made.abd, flush_flat_dst, ROOM);
		abd_flush_copy_from_buf_off(
			made.abd, flush_flat_src + off, off, size, ABD_FLUSH_SHARED);
		memcpy(flush_flat_dst + off, flush_flat_src + off, size);
		flush_check(made.abd, (const char *[2]){kind_names[kind], policy}, size);
	}
	flush_unmake(made);
}

Test(abd_flush, plain_memory_on_either_side_for_every_kind_and_policy)
{
	static const size_t sizes[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 8192};
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	for (size_t p = 0; p < count; p++) {
		cr_assert(abd_tuning_set("flush", kernels[p]->name) == 0);
		for (int kind = 0; kind <= ZEROS; kind++)
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
				for (size_t off = 0; off < 64; off += 31)
					flush_buf_case(
						(enum kind)kind, sizes[i], off, kernels[p]->name);
	}
	cr_assert(abd_tuning_set("flush", "auto") == 0);
}

Test(abd_flush, plain_memory_is_sent_as_buffers_are)
{
	static _Alignas(64) uint8_t plain[ROOM];
	struct made made = flush_make(VIEW);
	const char *fault;

	flush_fill(made.abd, made.abd, VIEW);
	for (size_t p = 0; p < RECORDER_KERNELS; p++)
		for (size_t size = 0; size <= 8192; size += 211) {
			flush_force(&recorder_kernels[p]);
			recorder_reset();
			recorder_expect(plain + 33, size);
			abd_flush_copy_to_buf_off(plain + 33, made.abd, 17, size, 0);
			fault = recorder_fault(true);
			abd_test_check(fault == NULL, "to memory, %zu bytes: %s", size, fault);

			recorder_reset();
			abd_iterate_func(made.abd, 17, size, flush_expect_piece, NULL);
			abd_flush_copy_from_buf_off(made.abd, plain, 17, size, 0);
			fault = recorder_fault(true);
			abd_test_check(fault == NULL, "from memory, %zu bytes: %s", size, fault);
		}
	flush_force(NULL);
	flush_unmake(made);
}

Test(abd_flush, contracts)
{
	abd_t *abd = abd_alloc(8192, false), *zeros = abd_get_zeros(8192);
	char plain[64] = {0};

	abd_test_expect_contract(abd_flush_copy_off(abd, abd, 1, 0, 8192, 0), "range");
	abd_test_expect_contract(abd_flush_copy_off(abd, zeros, 0, SIZE_MAX, 2, 0), "range");
	abd_test_expect_contract(abd_flush_copy_off(NULL, abd, 0, 0, 1, 0), "NULL");
	abd_test_expect_contract(abd_flush_copy_off(abd, NULL, 0, 0, 1, 0), "NULL");
	abd_test_expect_contract(abd_flush_copy_off(zeros, abd, 0, 0, 1, 0), "zeros");
	abd_test_expect_contract(abd_flush_copy_from_buf_off(zeros, plain, 0, 1, 0), "zeros");
	abd_test_expect_contract(abd_flush_copy_off(abd, zeros, 0, 0, 1, 3), "abd_flush_copy_off");
	abd_test_expect_contract(abd_flush_copy_off(abd, zeros, 0, 0, 0, 1 << 9), "flags");
	abd_test_expect_contract(abd_flush_copy_to_buf_off(plain, abd, 0, 1, 4), "flags");
	abd_test_expect_contract(abd_flush_copy_to_buf_off(NULL, abd, 0, 1, 0), "NULL");
	abd_test_expect_contract(abd_flush_copy_to_buf_off(plain, abd, 8192, 1, 0), "range");
	abd_test_expect_contract(abd_flush_copy_from_buf_off(abd, NULL, 0, 1, 0), "NULL");
	abd_test_expect_contract(abd_flush_copy_from_buf_off(abd, plain, 0, 1, 8), "flags");
	abd_test_expect_contract(abd_flush_copy_from_buf_off(abd, plain, 8190, 3, 0), "range");
	abd_flush_copy_to_buf_off(NULL, abd, 8192, 0, 0);
	abd_flush_copy_from_buf_off(abd, NULL, 8192, 0, ABD_FLUSH_NODRAIN);
	abd_free(abd);
	abd_free(zeros);
}
