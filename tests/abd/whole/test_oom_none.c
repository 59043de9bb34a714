/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that need no memory ask for none: each works while every allocation is refused, and reaches
 * no allocation site. tests/made looks whether every public call is tested so, or in test_oom.c or
 * elsewhere while memory is refused.
 */
#include "abd_test.h"

#define SIZE ABD_TEST_KIND_SIZE

static struct abd_test_buffer x, y;
static abd_t own, *gang;
static char flat[SIZE];
static struct abd_stats stats;

static int piece(void *buf, size_t n, void *arg)
{
	return 0;
}

static int piece_const(const void *a, size_t n, void *arg)
{
	return 0;
}

static int pieces(void *a, void *b, size_t n, void *arg)
{
	return 0;
}

static void raidz_gen(void **c, const void *d, size_t csize, size_t dsize)
{
}

static void raidz_rec(void **t, const size_t n, void **c, const unsigned *mul)
{
}

static void begin(void)
{
	abd_test_provider_begin();
	abd_test_build(&x, 7, 1);
	abd_test_build(&y, 5, 2);
	gang = abd_alloc_gang();
	abd_free(abd_get_zeros(1)); /* the shared zeroes are made once */
}

static void end(void)
{
	abd_free(gang);
	abd_test_drop(&y);
	abd_test_drop(&x);
	abd_test_provider_end();
}

Test(abd_oom, structs_of_the_callers_and_views_need_no_memory, .init = begin, .fini = end)
{
	abd_test_no_memory_is(abd_alloc_gang_struct(&own), &own);
	abd_test_no_memory(abd_free(&own));
	abd_test_no_memory_is(abd_get_from_buf_struct(&own, flat, SIZE), &own);
	abd_free(&own);
	abd_test_no_memory_is(abd_get_zeros_struct(&own, 5), &own);
	abd_free(&own);
	abd_test_no_memory_is(abd_get_offset_struct(&own, x.abd, 5, 6), &own);
	abd_free(&own);
	abd_test_no_memory_is(abd_size_alloc_linear(1), true);
}

Test(abd_oom, comparing_needs_no_memory, .init = begin, .fini = end)
{
	abd_test_no_memory_is(abd_cmp(x.abd, x.abd), 0);
	abd_test_no_memory_is(abd_cmp_buf_off(x.abd, x.model, 0, SIZE), 0);
	abd_test_no_memory_is(abd_cmp_buf(x.abd, x.model, SIZE), 0);
	abd_test_no_memory_is(abd_cmp_zero_off(x.abd, 0, SIZE), 1);
	abd_test_no_memory_is(abd_cmp_zero(x.abd, SIZE), 1);
	abd_test_no_memory_is(abd_equal(x.abd, x.abd), true);
	abd_test_no_memory_is(abd_equal_off(x.abd, x.abd, 1, 1, 99), true);
	abd_test_no_memory_is(abd_equal_buf_off(x.abd, x.model, 0, SIZE), true);
	abd_test_no_memory_is(abd_diff_off(x.abd, x.abd, 3, 3, 50), 50);
	abd_test_no_memory_is(abd_key_equal_long(x.model, x.model, 100), true);
}

Test(abd_oom, copying_needs_no_memory, .init = begin, .fini = end)
{
	abd_test_no_memory(abd_copy_off(x.abd, y.abd, 0, 0, SIZE));
	abd_test_no_memory(abd_copy_stream_off(x.abd, y.abd, 0, 0, SIZE));
	abd_test_no_memory(abd_copy(x.abd, y.abd, SIZE));
	abd_test_no_memory(abd_copy_from_buf_off(x.abd, x.model, 0, SIZE));
	abd_test_no_memory(abd_copy_from_buf(x.abd, x.model, SIZE));
	abd_test_no_memory(abd_copy_to_buf_off(flat, x.abd, 0, SIZE));
	abd_test_no_memory(abd_copy_to_buf(flat, x.abd, SIZE));
	abd_test_no_memory(abd_zero_off(y.abd, 0, SIZE));
	abd_test_no_memory(abd_zero(y.abd, SIZE));
	abd_test_no_memory(abd_flush_copy_off(x.abd, y.abd, 0, 0, SIZE, 0));
	abd_test_no_memory(abd_flush_copy_from_buf_off(x.abd, x.model, 0, SIZE, 0));
	abd_test_no_memory(abd_flush_copy_to_buf_off(flat, x.abd, 0, SIZE, 0));
	abd_test_no_memory(abd_flush_drain());
	abd_test_no_memory(abd_flush_durability());
	abd_test_no_memory(abd_verify(x.abd));
	cr_assert_eq(memcmp(flat, x.model, SIZE), 0);
}

Test(abd_oom, iterating_and_files_need_no_memory, .init = begin, .fini = end)
{
	abd_t *parity[] = {y.abd}, *data[] = {x.abd};
	abd_span_const_t only_read;
	struct iovec iov[64];
	abd_span_t span;
	size_t covered;
	int pipes[2];

	abd_test_no_memory_is(abd_iterate_func(x.abd, 0, SIZE, piece, NULL), 0);
	abd_test_no_memory_is(abd_iterate_func_const(x.abd, 0, SIZE, piece_const, NULL), 0);
	abd_test_no_memory(abd_span_begin(&span, x.abd, 0, SIZE));
	abd_test_no_memory(abd_span_next(&span));
	abd_test_no_memory(abd_span_begin_const(&only_read, x.abd, 0, SIZE));
	abd_test_no_memory(abd_span_next_const(&only_read));
	abd_test_no_memory_is(abd_is_aligned(x.abd, 0, SIZE, 1), true);
	abd_test_no_memory_is(abd_iterate_func2(x.abd, y.abd, 0, 0, SIZE, pieces, NULL), 0);
	abd_test_no_memory_is(abd_to_iov(x.abd, 0, SIZE, iov, 64, &covered) > 0, true);
	abd_test_no_memory(abd_raidz_gen_iterate(parity, x.abd, 0, 512, 512, 1, raidz_gen));
	abd_test_no_memory(abd_raidz_rec_iterate(parity, data, 512, 1, raidz_rec, NULL));
	cr_assert_eq(pipe(pipes), 0);
	/* A pipe has no places: both say so, having asked the system and nobody else. */
	abd_test_no_memory_is(abd_pwrite(pipes[1], x.abd, 0, SIZE, 0), -ESPIPE);
	abd_test_no_memory_is(abd_pread(pipes[0], x.abd, 0, SIZE, 0), -ESPIPE);
	close(pipes[0]);
	close(pipes[1]);
}

Test(abd_oom, checksums_need_no_memory, .init = begin, .fini = end)
{
	uint64_t sum[4];
	uint32_t index[6] = {1024, 512, 1};
	uint8_t form[sizeof(index) + ABD_LZ4_INDEX_FORM];

	abd_test_no_memory(abd_fletcher_4(x.abd, 0, SIZE, sum));
	abd_test_no_memory(abd_fletcher_4_swapped(x.abd, 0, SIZE, sum));
	abd_test_no_memory(abd_crc32c(x.abd, 0, SIZE, 0));
	abd_test_no_memory(abd_xxh3(x.abd, 0, SIZE, 0));
	abd_test_no_memory(abd_lz4_length_put(y.abd, 4094, 77));
	abd_test_no_memory_is(abd_lz4_length_get(y.abd, 4094, 100), 77);
	abd_test_no_memory_is(abd_lz4_pays(200, 100), true);
	abd_test_no_memory_is(abd_lz4_might_pay(x.abd, 0, SIZE), true);
	abd_test_no_memory_is(abd_lz4_index_size(1, 1024), sizeof(index));
	abd_test_no_memory_is(
		abd_lz4_index_check((struct abd_lz4_index *)index, sizeof(index), 1), 0);
	abd_test_no_memory_is(
		abd_lz4_index_put(form, sizeof(form), (void *)index, sizeof(index), 1),
		sizeof(form));
	abd_test_no_memory_is(
		abd_lz4_index_get((void *)index, sizeof(index), form, sizeof(form), 1),
		sizeof(form));
}

static void on_contract(const char *message)
{
}

Test(abd_oom, owning_and_returning_need_no_memory, .init = begin, .fini = end)
{
	abd_t *linear = abd_alloc_linear(100, false);
	void *buf = abd_borrow_buf_copy(x.abd, SIZE);

	abd_test_no_memory(abd_return_buf_copy(x.abd, buf, SIZE));
	buf = abd_borrow_buf_copy(x.abd, SIZE);
	abd_test_no_memory(abd_return_buf(x.abd, buf, SIZE));
	const void *copy = abd_borrow_buf_const(x.abd, SIZE);
	const abd_t *view = abd_get_offset_const(x.abd, 1, 2);

	abd_test_no_memory(abd_return_buf_const(x.abd, copy, SIZE));
	abd_test_no_memory(abd_free_const(view));
	abd_test_no_memory_is(abd_to_buf_const(linear), abd_to_buf(linear));
	abd_test_no_memory_is(abd_to_buf(linear), buf = abd_to_buf(linear));
	abd_test_no_memory(abd_release_ownership_of_buf(linear));
	abd_test_no_memory(abd_take_ownership_of_buf(linear, false));
	abd_free(linear);
	buf = abd_buf_alloc(100, false);
	abd_test_no_memory(abd_buf_free(buf, 100));
	buf = abd_buf_alloc(100, true);
	abd_test_no_memory(abd_buf_free_marked(buf, 100, true));
	abd_test_no_memory(abd_contract_handler_set(on_contract));
	abd_contract_handler_set(NULL);
}

Test(abd_oom, asking_and_tuning_need_no_memory, .init = begin, .fini = end)
{
	struct abd_allocator none = {NULL, NULL, NULL};
	struct abd_pool_stats pool;
	void *base;
	size_t size;

	abd_test_no_memory_is(abd_stats_get(&stats, sizeof(stats)), 0);
	abd_test_no_memory_is(abd_pool_stats_get(&pool, sizeof(pool)), 0);
	abd_test_no_memory(abd_init());
	abd_test_no_memory(abd_fini());
	abd_test_no_memory(abd_cache_reap_now());
	abd_test_no_memory_is(abd_tuning_set("max_order", "10"), 0);
	abd_test_no_memory(abd_tuning_get("max_order"));
	abd_test_no_memory_is(abd_allocator_set(&none), -EINVAL);
	abd_test_no_memory(abd_version());
	/* its first call reserves address space, not memory */
	cr_assert_eq(abd_pool_region(&base, &size), 0);
	abd_test_no_memory_is(abd_pool_region(&base, &size), 0);
}
