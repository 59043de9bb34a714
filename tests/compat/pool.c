/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small pool library, written against OpenZFS's sys/abd.h and compiled against ours: records,
 * their raidz columns, a mirror's gather and scatter, on an allocator of the engine's own.
 * Invariant: it names nothing of ours but the header. It uses every call of OpenZFS's ABD that a
 * pool makes (calls.txt), and compares each result with plain memory.
 */
#include <abd/compat/openzfs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 512
#define COLUMNS 4 /* of data */
#define PARITY 2
#define COLUMN (24 * SECTOR)
#define RECORD (COLUMNS * COLUMN)

/* ---- the engine's side ----------------------------------------------------------------------- */

static unsigned failed;
static long engine_bytes; /* what the engine's allocator has given out */

#define CHECK(cond)                                                    \
	do {                                                           \
		if (!(cond)) {                                         \
			failed++;                                      \
			printf("FAIL line %d: %s\n", __LINE__, #cond); \
		}                                                      \
	} while (0)

/*
 * A request as a pool's I/O pipeline has it: the buffer lies inside, whatever the memory held
 * before.
 */
typedef struct request {
	uint_t rq_error;
	abd_t rq_abd;
	boolean_t rq_is_metadata;
} request_t;

static void *engine_alloc(size_t size, size_t alignment, boolean_t is_metadata, void *arg)
{
	(void)is_metadata;
	*(long *)arg += (long)size;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	(void)is_metadata;
	*(long *)arg -= (long)size;
	free(buf);
}

static unsigned char model[RECORD], other[RECORD];

static void fill(unsigned char *bytes, size_t size, uint_t seed)
{
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1103515245u + 12345u;
		bytes[i] = (unsigned char)(seed >> 16);
	}
}

/* ---- allocate, convert ----------------------------------------------------------------------- */

static void linear_buffers(void)
{
	request_t rq;
	memset(&rq, 0xa5, sizeof(rq)); /* by value, uninitialised */
	CHECK(abd_alloc_linear_struct(&rq.rq_abd, 1000, B_TRUE) == &rq.rq_abd);
	CHECK(abd_is_linear(&rq.rq_abd) && !abd_is_linear_page(&rq.rq_abd));
	memcpy(abd_to_buf(&rq.rq_abd), model, 1000);
	CHECK(abd_cmp_buf(&rq.rq_abd, model, 1000) == 0);

	/* Out of one owner's hands and into another's. */
	void *buf = abd_to_buf(&rq.rq_abd);
	abd_release_ownership_of_buf(&rq.rq_abd);
	abd_free(&rq.rq_abd);
	abd_t *abd = abd_get_from_buf(buf, 1000);
	abd_take_ownership_of_buf(abd, B_TRUE);
	abd_t *same = abd_alloc_sametype(abd, 700);
	CHECK(abd_is_linear(same) && abd_get_size(same) == 700);
	abd_copy(same, abd, 700);
	CHECK(abd_cmp_buf(same, model, 700) == 0);
	abd_free(same);
	abd_free(abd);

	memset(&rq, 0, sizeof(rq)); /* by value, zeroed */
	CHECK(abd_get_from_buf_struct(&rq.rq_abd, other, SECTOR) == &rq.rq_abd);
	abd_zero(&rq.rq_abd, SECTOR);
	CHECK(abd_cmp_zero(&rq.rq_abd, SECTOR) == 0);
	abd_free(&rq.rq_abd);
	fill(other, sizeof(other), 2);
}

static void borrows(abd_t *record)
{
	void *buf = abd_borrow_buf_copy(record, RECORD);
	CHECK(memcmp(buf, model, RECORD) == 0);
	abd_return_buf(record, buf, RECORD);

	buf = abd_borrow_buf(record, SECTOR);
	memcpy(buf, other, SECTOR);
	abd_return_buf_copy(record, buf, SECTOR);
	CHECK(abd_cmp_buf_off(record, other, 0, SECTOR) == 0);
	abd_copy_from_buf(record, model, SECTOR);
	CHECK(abd_cmp_buf_off(record, model, 0, RECORD) == 0);
}

static void switches(void)
{
	CHECK(abd_size_alloc_linear(SECTOR) && !abd_size_alloc_linear(RECORD));
	int was = zfs_abd_scatter_enabled;
	zfs_abd_scatter_enabled = B_FALSE;
	abd_t *abd = abd_alloc(RECORD, B_FALSE);
	abd_t *linear = abd_alloc_linear(RECORD, B_FALSE);
	CHECK(abd_is_linear(abd) && abd_is_linear(linear));
	abd_free(linear);
	abd_free(abd);
	zfs_abd_scatter_enabled = was;
}

/* ---- operate --------------------------------------------------------------------------------- */

static int sum_func(void *buf, size_t len, void *priv)
{
	for (size_t i = 0; i < len; i++)
		*(uint64_t *)priv += ((unsigned char *)buf)[i];
	return 0;
}

static int find_func(void *bufa, void *bufb, size_t len, void *priv)
{
	for (size_t i = 0; i < len; i++, ++*(size_t *)priv)
		if (((unsigned char *)bufa)[i] != ((unsigned char *)bufb)[i])
			return 1;
	return 0;
}

static void operations(abd_t *record)
{
	abd_t *copy = abd_alloc_for_io(RECORD, B_FALSE);
	uint64_t sum = 0, expected = 0;
	for (size_t i = 100; i < RECORD - 7; i++)
		expected += model[i];
	CHECK(abd_iterate_func(record, 100, RECORD - 107, sum_func, &sum) == 0 && sum == expected);

	abd_copy_off(copy, record, 0, 0, RECORD);
	CHECK(abd_cmp(copy, record) == 0);
	abd_copy_from_buf_off(copy, other, RECORD - 1, 1);
	size_t at = 0;
	int differs = model[RECORD - 1] != other[0];
	CHECK(abd_iterate_func2(copy, record, 0, 0, RECORD, find_func, &at) == differs);
	CHECK(at == RECORD - (size_t)differs);
	abd_zero_off(copy, 1, RECORD - 1);
	CHECK(abd_cmp_zero_off(copy, 1, RECORD - 1) == 0 && abd_cmp(copy, record) != 0);

	unsigned char back[777];
	abd_copy_to_buf(back, record, sizeof(back));
	CHECK(memcmp(back, model, sizeof(back)) == 0);
	abd_copy_to_buf_off(back, record, RECORD - sizeof(back), sizeof(back));
	CHECK(memcmp(back, model + RECORD - sizeof(back), sizeof(back)) == 0);
	abd_verify(copy);
	abd_free(copy);
}

/* ---- views and gangs: a mirror child's gather ------------------------------------------------ */

static void gathers(abd_t *record)
{
	request_t rq;
	abd_t *gang = abd_alloc_gang();
	CHECK(abd_gang_add(gang, abd_get_offset_size(record, COLUMN, COLUMN), B_TRUE) == 0);
	CHECK(abd_gang_add(gang, abd_get_zeros(3 * SECTOR), B_TRUE) == 0);
	CHECK(abd_gang_add(gang, abd_get_offset(record, RECORD - SECTOR), B_TRUE) == 0);
	CHECK(abd_is_gang(gang) && !abd_is_linear(gang));
	CHECK(abd_get_size(gang) == COLUMN + 4 * SECTOR);
	CHECK(abd_cmp_buf_off(gang, model + COLUMN, 0, COLUMN) == 0);
	CHECK(abd_cmp_zero_off(gang, COLUMN, 3 * SECTOR) == 0);
	CHECK(abd_cmp_buf_off(gang, model + RECORD - SECTOR, COLUMN + 3 * SECTOR, SECTOR) == 0);
	abd_verify(gang);

	CHECK(abd_get_offset_struct(&rq.rq_abd, gang, COLUMN - 1, 2) == &rq.rq_abd);
	CHECK(abd_cmp_buf_off(&rq.rq_abd, model + 2 * COLUMN - 1, 0, 1) == 0);
	abd_free(&rq.rq_abd);
	abd_free(gang);

	abd_alloc_gang_struct(&rq.rq_abd);
	CHECK(abd_get_size(&rq.rq_abd) == 0);
	CHECK(abd_gang_add(&rq.rq_abd, record, B_FALSE) == 0);
	CHECK(abd_cmp(&rq.rq_abd, record) == 0);
	abd_free(&rq.rq_abd);

	CHECK(abd_get_zeros_struct(&rq.rq_abd, RECORD) == &rq.rq_abd);
	CHECK(abd_cmp_zero(&rq.rq_abd, RECORD) == 0);
	abd_free(&rq.rq_abd);
}

/* ---- raidz: P is the columns' exclusive or; Q here their sum --------------------------------- */

static void gen_func(void **parity, const void *data, size_t csize, size_t dsize)
{
	CHECK(csize % SECTOR == 0 && dsize <= csize);
	for (size_t i = 0; i < dsize; i++) {
		((unsigned char *)parity[0])[i] ^= ((const unsigned char *)data)[i];
		((unsigned char *)parity[1])[i] += ((const unsigned char *)data)[i];
	}
}

static void rec_func(void **targets, const size_t size, void **parity, const unsigned *mul)
{
	CHECK(size % SECTOR == 0);
	for (int i = 0; i < PARITY; i++)
		memcpy(targets[i], parity[mul[i]], size);
}

static void raidz(abd_t *record)
{
	abd_t *parity[PARITY], *target[PARITY];
	static unsigned char p[COLUMN], q[COLUMN];
	memset(p, 0, sizeof(p));
	memset(q, 0, sizeof(q));
	for (int i = 0; i < PARITY; i++) {
		parity[i] = abd_alloc(COLUMN, B_FALSE);
		abd_zero(parity[i], COLUMN);
	}
	for (int column = 0; column < COLUMNS; column++) {
		/* The last column is short, as a record's tail is. */
		size_t dsize = column == COLUMNS - 1 ? COLUMN - 5 * SECTOR : COLUMN;
		abd_t *data = abd_get_offset_size(record, (size_t)column * COLUMN, dsize);
		abd_raidz_gen_iterate(parity, data, 0, COLUMN, dsize, PARITY, gen_func);
		abd_free(data);
		for (size_t i = 0; i < dsize; i++) {
			p[i] ^= model[(size_t)column * COLUMN + i];
			q[i] = (unsigned char)(q[i] + model[(size_t)column * COLUMN + i]);
		}
	}
	CHECK(abd_cmp_buf(parity[0], p, COLUMN) == 0 && abd_cmp_buf(parity[1], q, COLUMN) == 0);

	const unsigned swapped[PARITY] = {1, 0};
	for (int i = 0; i < PARITY; i++)
		target[i] = abd_alloc_sametype(parity[i], COLUMN);
	abd_raidz_rec_iterate(parity, target, COLUMN, PARITY, rec_func, swapped);
	CHECK(abd_cmp(target[0], parity[1]) == 0 && abd_cmp(target[1], parity[0]) == 0);
	for (int i = 0; i < PARITY; i++) {
		abd_free(target[i]);
		abd_free(parity[i]);
	}
}

int main(void)
{
	struct abd_allocator engine = {engine_alloc, engine_free, &engine_bytes};
	CHECK(abd_allocator_set(&engine) == 0);
	fill(model, sizeof(model), 1);
	fill(other, sizeof(other), 2);
	linear_buffers();
	switches();
	abd_t *record = abd_alloc(RECORD, B_FALSE);
	abd_copy_from_buf_off(record, model, 0, RECORD);
	borrows(record);
	operations(record);
	gathers(record);
	raidz(record);
	abd_free(record);
	abd_cache_reap_now();
	CHECK(engine_bytes == 0);
	printf("%u failed\n", failed);
	return failed != 0;
}
