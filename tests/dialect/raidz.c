/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parity by abd_raidz_gen_iterate(); rebuilding by that and by abd_raidz_rec_iterate(). Parity i is
 * a sum over GF(256) of the data columns; each column is multiplied by 2^i once more than the next
 * one. So a column whose data has ended still multiplies the sum: its missing data counts as zeros.
 */
#include "raidz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In every build. */
#define REQUIRE(cond)                                                          \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                               \
		}                                                              \
	} while (0)

static unsigned char times(unsigned char a, unsigned char b)
{
	unsigned char product = 0;

	for (; b != 0; b >>= 1, a = (unsigned char)((a << 1) ^ ((a & 0x80) != 0 ? 0x1d : 0)))
		if ((b & 1) != 0)
			product ^= a;
	return product;
}

static unsigned char power(unsigned char a, size_t n)
{
	unsigned char result = 1;

	while (n-- > 0)
		result = times(result, a);
	return result;
}

void row_init(row_t *row, uint_t parity, uint_t disks, size_t size)
{
	size_t sectors = size / SECTOR, full = sectors / (disks - parity);
	size_t longer = sectors % (disks - parity);

	memset(row, 0, sizeof(*row)); /* OpenZFS looks for a run table's room in the structs */
	row->parity = parity;
	row->columns = full > 0 ? disks : parity + (uint_t)longer;
	for (uint_t c = 0; c < row->columns; c++) {
		size_t data = c < parity ? 0 : c - parity;

		row->col[c].size = (full + (longer > 0 && (c < parity || data < longer))) * SECTOR;
	}
}

/* What the kernels know: which parities they make. */
static uint_t codes, code_of[PARITY_MAX];

static void add(void **c, const void *d, size_t csize, size_t dsize)
{
	REQUIRE(csize % SECTOR == 0 && dsize <= csize && (d == NULL) == (dsize == 0));
	REQUIRE((size_t)d % 64 == 0); /* what vector kernels load by */
	for (uint_t i = 0; i < codes; i++) {
		unsigned char *parity = c[i], g = (unsigned char)(1u << code_of[i]);

		REQUIRE((size_t)parity % 64 == 0);
		for (size_t k = 0; k < csize; k++)
			parity[k] =
				(unsigned char)(times(parity[k], g) ^
						(k < dsize ? ((const unsigned char *)d)[k] : 0));
	}
}

void row_generate(row_t *row)
{
	abd_t *parity[PARITY_MAX];
	size_t size = row->col[0].size;

	codes = row->parity;
	for (uint_t i = 0; i < row->parity; i++) {
		code_of[i] = i;
		parity[i] = row->col[i].abd;
		abd_zero(parity[i], size);
	}
	/* As the engine does, so that parity stays in the processor's cache: 64 KiB at a time. */
	for (size_t off = 0; off < size; off += 65536) {
		size_t csize = size - off < 65536 ? size - off : 65536;

		for (uint_t c = row->parity; c < row->columns; c++) {
			size_t dsize = row->col[c].size > off ? row->col[c].size - off : 0;

			abd_raidz_gen_iterate(parity, row->col[c].abd, off, csize,
				dsize < csize ? dsize : csize, row->parity, add);
		}
	}
}

/* t holds what the columns that are there make; with parity that leaves the missing ones' sums. */
static void solve(void **t, const size_t size, void **c, const unsigned *mul)
{
	for (size_t k = 0; k < size; k++) {
		unsigned char sum[PARITY_MAX];

		for (uint_t i = 0; i < codes; i++)
			sum[i] = ((unsigned char *)t[i])[k] ^ ((const unsigned char *)c[i])[k];
		for (uint_t i = 0; i < codes; i++) {
			unsigned char byte = 0;

			for (uint_t j = 0; j < codes; j++)
				byte ^= times((unsigned char)mul[i * codes + j], sum[j]);
			((unsigned char *)t[i])[k] = byte;
		}
	}
}

/* Gauss and Jordan, of at most three equations. */
static void invert(uint_t n, unsigned char m[PARITY_MAX][2 * PARITY_MAX], unsigned *inverse)
{
	for (uint_t i = 0; i < n; i++) {
		uint_t pivot = i;

		while (m[pivot][i] == 0)
			pivot++;
		for (uint_t j = 0; j < 2 * n; j++) {
			unsigned char swap = m[i][j];

			m[i][j] = m[pivot][j];
			m[pivot][j] = swap;
		}
		unsigned char over = power(m[i][i], 254);
		for (uint_t j = 0; j < 2 * n; j++)
			m[i][j] = times(m[i][j], over);
		for (uint_t r = 0; r < n; r++) {
			unsigned char factor = r == i ? 0 : m[r][i];

			for (uint_t j = 0; j < 2 * n; j++)
				m[r][j] ^= times(factor, m[i][j]);
		}
	}
	for (uint_t i = 0; i < n * n; i++)
		inverse[i] = m[i / n][n + i % n];
}

void row_rebuild(row_t *row, const uint_t *missing, const uint_t *code, uint_t count)
{
	size_t size = row->col[missing[0]].size; /* the longest: columns never grow */
	unsigned char m[PARITY_MAX][2 * PARITY_MAX] = {{0}};
	abd_t *target[PARITY_MAX], *parity[PARITY_MAX];
	unsigned inverse[PARITY_MAX * PARITY_MAX] = {0};

	codes = count;
	for (uint_t i = 0; i < count; i++) {
		column_t *col = &row->col[missing[i]];

		code_of[i] = code[i];
		parity[i] = row->col[code[i]].abd;
		target[i] = col->size < size ? abd_alloc(size, B_FALSE) : col->abd;
		abd_zero(target[i], size);
		for (uint_t j = 0; j < count; j++)
			m[i][j] = power(
				(unsigned char)(1u << code[i]), row->columns - 1 - missing[j]);
		m[i][count + i] = 1;
	}
	invert(count, m, inverse);
	for (uint_t c = row->parity; c < row->columns; c++) {
		boolean_t there = B_TRUE;

		for (uint_t i = 0; i < count; i++)
			there = there && c != missing[i];
		/* A column that is there may be longer than the one that is not. */
		abd_raidz_gen_iterate(target, there ? row->col[c].abd : NULL, 0, size,
			there ? row->col[c].size : 0, count, add);
	}
	abd_raidz_rec_iterate(parity, target, size, count, solve, inverse);
	for (uint_t i = 0; i < count; i++) {
		column_t *col = &row->col[missing[i]];

		if (col->size == size)
			continue;
		abd_copy(col->abd, target[i], col->size);
		abd_free(target[i]);
	}
}

unsigned char row_model(const row_t *row, const unsigned char *data, uint_t i, size_t k)
{
	unsigned char byte = 0;

	for (uint_t c = row->parity; c < row->columns; data += row->col[c++].size)
		byte = (unsigned char)(times(byte, (unsigned char)(1u << i)) ^
				       (k < row->col[c].size ? data[k] : 0));
	return byte;
}
