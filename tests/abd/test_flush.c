/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copy between buffers of every kind. The recording backend of tests/flush checks what is
 * sent to memory; a flat array checks what is written.
 */
#include "../flush/flush_recorder.h"

#include "abd_test.h"

#define SIZE ABD_TEST_KIND_SIZE
#define LONGEST ((size_t)8192) /* of a copy */

/*
 * A kind for each way in which pieces meet: one piece, single pages, children of odd sizes, views
 * of one piece that divide it within lines, a view of runs, and zeros.
 */
static const char *const flush_kinds[] = {"linear", "runs of one order", "single run",
	"gang of mixed children", "view of runs of one order", "gang within lines", "zeros"};

#define KINDS (sizeof(flush_kinds) / sizeof(flush_kinds[0]))

static void begin(void)
{
	abd_test_provider_begin();
}

static void end(void)
{
	flush_force(NULL);
	abd_test_provider_end();
}

static int flush_expect_piece(void *buf, size_t len, void *priv)
{
	recorder_expect(buf, len);
	return 0;
}

static void flush_case(struct abd_test_buffer *dst, const struct abd_test_buffer *src,
	size_t dst_off, size_t src_off, size_t size, unsigned flags)
{
	bool drained = (flags & ABD_FLUSH_NODRAIN) == 0;
	const char *fault;

	recorder_reset();
	abd_iterate_func(dst->abd, dst_off, size, flush_expect_piece, NULL);
	abd_flush_copy_off(dst->abd, src->abd, dst_off, src_off, size, flags);
	fault = recorder_fault(drained);
	abd_test_check(fault == NULL, "%s to %s: %zu bytes from %zu to %zu: %s", src->kind,
		dst->kind, size, src_off, dst_off, fault);
	if (!drained) {
		abd_flush_drain();
		fault = recorder_fault(true);
		abd_test_check(fault == NULL, "drain: %s", fault);
	}
	memcpy(dst->model + dst_off, src->model + src_off, size);
}

static void flush_check(const struct abd_test_buffer *dst, const char *from, size_t size)
{
	abd_test_check(abd_test_differs(dst) == dst->size,
		"%s to %s: after copies of %zu bytes the content is wrong", from, dst->kind, size);
}

static size_t flush_next_size(size_t size)
{
	if (getenv("ABD_TEST_LONG") != NULL)
		return size + 1;
	return size < 70 ? size + 3 : size + 271 - size % 3;
}

static void flush_pair(
	struct abd_test_buffer *dst, const struct abd_test_buffer *src, unsigned flags)
{
	size_t step = getenv("ABD_TEST_LONG") != NULL ? 7 : 21;

	for (size_t size = 0; size <= LONGEST; size = flush_next_size(size)) {
		for (size_t head = 0; head < 64; head += step)
			flush_case(dst, src, head, (head * 5 + size) % 67, size, flags);
		flush_case(dst, src, SIZE - size, 0, size, flags);
		flush_case(dst, src, 0, SIZE - size, size, flags);
		flush_check(dst, src->kind, size);
	}
}

static void flush_every_pair(unsigned flags)
{
	for (size_t i = 0; i < KINDS * KINDS; i++) {
		struct abd_test_buffer dst, src;

		abd_test_build(&dst, abd_test_kind(flush_kinds[i / KINDS]), i);
		abd_test_build(&src, abd_test_kind(flush_kinds[i % KINDS]), i + 1000);
		for (size_t p = 0; dst.writes && p < RECORDER_KERNELS; p++) {
			flush_force(&recorder_kernels[p]);
			flush_pair(&dst, &src, flags);
		}
		abd_test_drop(&src);
		abd_test_drop(&dst);
	}
}

Test(abd_flush, every_written_line_is_sent_once_and_one_fence_follows_for_every_pair_of_kinds,
	.init = begin, .fini = end)
{
	flush_every_pair(0);
}

Test(abd_flush, nodrain_leaves_the_fence_to_drain_for_every_pair_of_kinds, .init = begin,
	.fini = end)
{
	flush_every_pair(ABD_FLUSH_NODRAIN | ABD_FLUSH_SHARED);
}

static void flush_buf_case(struct abd_test_buffer *b, size_t size, size_t off, const char *policy)
{
	static _Alignas(64) uint8_t plain[LONGEST + 128];

	memset(plain, 0xa5, sizeof(plain));
	abd_flush_copy_to_buf_off(plain + off, b->abd, off * 2, size, ABD_FLUSH_EXCLUSIVE);
	abd_test_check(memcmp(plain + off, b->model + off * 2, size) == 0, "%s: %s to plain memory",
		policy, b->kind);
	cr_assert(plain[off + size] == 0xa5 && (off == 0 || plain[off - 1] == 0xa5));
	if (!b->writes)
		return;
	abd_flush_copy_from_buf_off(b->abd, plain + off / 2, off, size, ABD_FLUSH_SHARED);
	memcpy(b->model + off, plain + off / 2, size);
	flush_check(b, policy, size);
	abd_test_fill(b, size + off);
}

Test(abd_flush, plain_memory_on_either_side_for_every_kind_and_policy, .init = begin, .fini = end)
{
	static const size_t sizes[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 8192};
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b;

		abd_test_build(&b, kind, kind);
		for (size_t p = 0; p < count; p++) {
			cr_assert(abd_tuning_set("flush", kernels[p]->name) == 0);
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
				for (size_t off = 0; off < 64; off += 31)
					flush_buf_case(&b, sizes[i], off, kernels[p]->name);
		}
		abd_test_drop(&b);
	}
	cr_assert(abd_tuning_set("flush", "auto") == 0);
}

Test(abd_flush, plain_memory_is_sent_as_buffers_are, .init = begin, .fini = end)
{
	static _Alignas(64) uint8_t plain[SIZE];
	struct abd_test_buffer b;
	const char *fault;

	abd_test_build(&b, abd_test_kind("view of runs of one order"), 1);
	for (size_t p = 0; p < RECORDER_KERNELS; p++)
		for (size_t size = 0; size <= LONGEST; size += 211) {
			flush_force(&recorder_kernels[p]);
			recorder_reset();
			recorder_expect(plain + 33, size);
			abd_flush_copy_to_buf_off(plain + 33, b.abd, 17, size, 0);
			fault = recorder_fault(true);
			abd_test_check(fault == NULL, "to memory, %zu bytes: %s", size, fault);

			recorder_reset();
			abd_iterate_func(b.abd, 17, size, flush_expect_piece, NULL);
			abd_flush_copy_from_buf_off(b.abd, plain, 17, size, 0);
			fault = recorder_fault(true);
			abd_test_check(fault == NULL, "from memory, %zu bytes: %s", size, fault);
		}
	abd_test_drop(&b);
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

/* Sizes past the last column of the table of flush policies, which ends at 16 MiB. */
Test(abd_flush, more_than_any_column_is_flushed)
{
	size_t size = ((size_t)20 << 20) + 3;
	abd_t *from = abd_alloc(size, false), *to = abd_alloc(size, false);

	abd_zero(from, size);
	for (size_t i = 0; i < size - 8; i += 999)
		abd_copy_from_buf_off(from, &i, i, 8);
	abd_flush_copy_off(to, from, 0, 0, size, ABD_FLUSH_AUTO);
	cr_assert(abd_equal(to, from));
	abd_free(from);
	abd_free(to);
}
