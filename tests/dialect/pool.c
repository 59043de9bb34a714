/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small pool: records are compressed, padded, checksummed, laid out over files with parity, read
 * back with columns damaged, found out by trying, repaired. Its patterns are those of
 * docs/notes/reliances.md.
 * Invariant: written to OpenZFS's sys/abd.h, so that it would compile over that header as well;
 * every byte, also on the disks, is compared with plain memory.
 * usage: dialect_pool ROUNDS [SEED]
 */
#include "raidz.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX (160 << 10)
#define DISK_STRIDE (1 << 20)

/* Engines declare it where they use it. */
extern int zfs_abd_scatter_enabled;

static unsigned long checks;
static uint64_t seed;

#define CHECK(cond)                                                            \
	do {                                                                   \
		checks++;                                                      \
		if (!(cond)) {                                                 \
			printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                               \
		}                                                              \
	} while (0)

static uint64_t draw(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* A request of the I/O pipeline: what was pushed onto it comes off again, in reverse. */
typedef struct io {
	abd_t *abd, *orig;
	size_t size, psize;
	uint64_t checksum[2];
	boolean_t compressed;
} io_t;

/* ---- checksums, compression: by iterating, by borrowing -------------------------------------- */

static int sum(void *buf, size_t len, void *priv)
{
	uint64_t *sums = priv;

	for (size_t i = 0; i < len; i++) {
		sums[0] += ((unsigned char *)buf)[i];
		sums[1] += sums[0];
	}
	return 0;
}

static void checksum(abd_t *abd, size_t size, uint64_t sums[2])
{
	sums[0] = sums[1] = 0;
	(void)abd_iterate_func(abd, 0, size, sum, sums);
}

/* Compressed if that saves a sector; padded with zeros to whole ones. */
static void io_compress(io_t *io)
{
	abd_t *cabd = abd_alloc_sametype(io->abd, io->size);
	char *from = abd_borrow_buf_copy(io->abd, io->size);
	char *to = abd_borrow_buf(cabd, io->size);
	int made = LZ4_compress_default(from, to, (int)io->size, (int)io->size - SECTOR);

	abd_return_buf(io->abd, from, io->size);
	abd_return_buf_copy(cabd, to, io->size);
	io->compressed = made > 0;
	io->psize = (made > 0 ? (size_t)made : io->size) + SECTOR - 1;
	io->psize -= io->psize % SECTOR;
	if (made <= 0) {
		io->psize = io->size;
		abd_free(cabd);
		return;
	}
	abd_zero_off(cabd, (size_t)made, io->psize - (size_t)made);
	io->orig = io->abd;
	io->abd = cabd;
}

static void io_decompress(const io_t *io, abd_t *stored, abd_t *out)
{
	if (!io->compressed) {
		abd_copy(out, stored, io->size);
		return;
	}

	char *from = abd_borrow_buf_copy(stored, io->psize), *to = abd_borrow_buf(out, io->size);
	char flat[RECORD_MAX];
	int made = 0;

	/* lz4 wants to know where the block ends: the padding is not its own. */
	for (size_t n = io->psize; made != (int)io->size && n > io->psize - SECTOR; n--)
		made = LZ4_decompress_safe(from, flat, (int)n, (int)io->size);
	CHECK(made == (int)io->size);
	memcpy(to, flat, io->size);
	abd_return_buf(stored, from, io->psize);
	abd_return_buf_copy(out, to, io->size);
}

/* ---- disks: files, which borrow -------------------------------------------------------------- */

static FILE *disk[COLUMNS_MAX];

static void disk_write(uint_t d, abd_t *abd, size_t size)
{
	void *buf = abd_borrow_buf_copy(abd, size);

	CHECK(pwrite(fileno(disk[d]), buf, size, DISK_STRIDE) == (ssize_t)size);
	abd_return_buf(abd, buf, size);
}

static void disk_read(uint_t d, abd_t *abd, size_t size)
{
	void *buf = abd_borrow_buf(abd, size);

	CHECK(pread(fileno(disk[d]), buf, size, DISK_STRIDE) == (ssize_t)size);
	abd_return_buf_copy(abd, buf, size);
}

static void disk_damage(uint_t d, size_t size)
{
	unsigned char wrong[SECTOR];
	size_t at = draw(size / SECTOR) * SECTOR;

	for (size_t i = 0; i < SECTOR; i++)
		wrong[i] = (unsigned char)draw(256);
	CHECK(pwrite(fileno(disk[d]), wrong, SECTOR, DISK_STRIDE + (off_t)at) == SECTOR);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Parity is linear, data a view; short columns get a sector of zeros, as a gang or as padding. */
static void row_map_write(row_t *row, abd_t *abd)
{
	size_t off = 0, longest = row->col[0].size;

	for (uint_t c = 0; c < row->columns; c++) {
		column_t *col = &row->col[c];

		if (c < row->parity) {
			col->abd = abd_alloc_linear_struct(&col->own, col->size + SECTOR, B_FALSE);
			abd_zero_off(col->abd, col->size, SECTOR);
			continue;
		}
		col->abd = abd_get_offset_struct(&col->own, abd, off, col->size);
		off += col->size;
		if (col->size == longest)
			continue;
		abd_t *gang = abd_alloc_gang();
		abd_gang_add(gang, col->abd, B_TRUE); /* a struct of ours, ended by the gang */
		abd_gang_add(gang, abd_get_zeros(SECTOR), B_TRUE);
		col->abd = gang;
	}
}

static void row_free(row_t *row)
{
	for (uint_t c = 0; c < row->columns; c++)
		abd_free(row->col[c].abd);
}

/* Two columns in one gang, as neighbouring requests are joined; one is in another gang as well. */
static void check_aggregate(row_t *row)
{
	column_t *a = &row->col[0], *b = &row->col[row->columns - 1];
	size_t size = abd_get_size(a->abd);
	abd_t *joined = abd_alloc_gang(), *ditto = abd_alloc_gang();

	abd_gang_add(joined, a->abd, B_FALSE);
	abd_gang_add(joined, abd_get_zeros(3 * SECTOR), B_TRUE);
	abd_gang_add(joined, abd_get_offset_size(b->abd, 0, b->size), B_TRUE);
	abd_gang_add(ditto, a->abd, B_FALSE);
	abd_gang_add(ditto, joined, B_FALSE); /* child by child */
	CHECK(abd_get_size(ditto) == 2 * size + 3 * SECTOR + b->size);
	abd_t *back = abd_get_offset(ditto, size), *again = abd_get_offset_size(back, 0, size);
	CHECK(abd_cmp(back, joined) == 0 && abd_cmp(again, a->abd) == 0);
	abd_free(again);
	abd_free(back);
	abd_free(ditto);
	abd_free(joined);
}

static void row_write(row_t *row, abd_t *abd)
{
	row_map_write(row, abd);
	row_generate(row);
	check_aggregate(row);
	for (uint_t c = 0; c < row->columns; c++)
		disk_write(c, row->col[c].abd, abd_get_size(row->col[c].abd));
	row_free(row);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void row_map_read(row_t *row, abd_t *abd)
{
	size_t off = 0;

	for (uint_t c = 0; c < row->columns; c++) {
		column_t *col = &row->col[c];

		if (c < row->parity) {
			col->abd = abd_alloc_linear_struct(&col->own, col->size, B_FALSE);
		} else {
			col->abd = abd_get_offset_struct(&col->own, abd, off, col->size);
			off += col->size;
		}
		disk_read(c, col->abd, col->size);
	}
}

/* Whether the record is whole if just these columns were wrong. What was read is kept aside. */
static boolean_t row_try(row_t *row, abd_t *abd, const io_t *io, uint_t wrong)
{
	uint_t missing[PARITY_MAX], code[PARITY_MAX], count = 0, codes = 0;
	uint64_t sums[2];

	for (uint_t c = row->parity; c < row->columns; c++)
		if ((wrong >> c & 1) != 0)
			missing[count++] = c;
	for (uint_t c = 0; c < row->parity && codes < count; c++)
		if ((wrong >> c & 1) == 0)
			code[codes++] = c;
	for (uint_t i = 0; i < count; i++) {
		column_t *col = &row->col[missing[i]];

		col->orig = abd_alloc_linear(col->size, B_FALSE);
		abd_copy(col->orig, col->abd, col->size);
	}
	if (count > 0)
		row_rebuild(row, missing, code, count);
	checksum(abd, io->psize, sums);
	boolean_t whole = memcmp(sums, io->checksum, sizeof(sums)) == 0;
	for (uint_t i = 0; i < count; i++) {
		column_t *col = &row->col[missing[i]];

		if (!whole)
			abd_copy(col->abd, col->orig, col->size);
		abd_free(col->orig);
	}
	return whole;
}

static uint_t bits(uint_t mask)
{
	uint_t n = 0;

	for (; mask != 0; mask &= mask - 1)
		n++;
	return n;
}

static void row_read(row_t *row, abd_t *abd, const io_t *io)
{
	boolean_t whole = B_FALSE;

	row_map_read(row, abd);
	for (uint_t n = 0; n <= row->parity && !whole; n++)
		for (uint_t wrong = 0; wrong < 1u << row->columns && !whole; wrong++)
			whole = bits(wrong) == n && row_try(row, abd, io, wrong);
	CHECK(whole);
	row_generate(row);
	for (uint_t c = 0; c < row->columns; c++)
		disk_write(c, row->col[c].abd, row->col[c].size);
	row_free(row);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void check_disks(const row_t *row, const unsigned char *stored)
{
	static unsigned char there[RECORD_MAX];

	for (uint_t c = 0; c < row->columns; c++) {
		size_t size = row->col[c].size;

		CHECK(pread(fileno(disk[c]), there, size, DISK_STRIDE) == (ssize_t)size);
		if (c >= row->parity) {
			CHECK(memcmp(there, stored, size) == 0);
			stored += size;
			continue;
		}
		for (size_t k = 0; k < size; k++)
			CHECK(there[k] == row_model(row, stored, c, k));
	}
}

static void fill(unsigned char *bytes, size_t size)
{
	uint64_t kind = draw(3);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(kind == 0   ? draw(256)
					   : kind == 1 ? i / 97
						       : draw(4) / 3);
}

/* A record is whole or not; a reader wants a part of it, in a buffer that lives on the stack. */
static void check_reader(abd_t *out, const unsigned char *model, size_t size)
{
	size_t off = draw(size), n = 1 + draw(size - off);
	unsigned char *part = malloc(n);
	abd_t to, own = {0}; /* zeroed: see row_init() */

	abd_get_from_buf_struct(&to, part, n);
	abd_t *from = abd_get_offset_struct(&own, out, off, n); /* there it may be another struct */
	abd_copy(&to, from, n);
	CHECK(memcmp(part, model + off, n) == 0);
	CHECK(abd_cmp_buf_off(out, model + off, off, n) == 0 && abd_cmp(&to, from) == 0);
	abd_free(from);
	abd_free(&to);
	free(part);
}

/* Memory goes from the engine's hands into a buffer and back, as a shared ARC buffer's does. */
static void check_shared(const unsigned char *model, size_t size)
{
	abd_t *first = abd_alloc_linear(size, B_FALSE);
	void *buf = abd_to_buf(first);

	memcpy(buf, model, size);
	abd_release_ownership_of_buf(first);
	abd_free(first);
	abd_t *second = abd_get_from_buf(buf, size);
	abd_take_ownership_of_buf(second, B_FALSE);
	CHECK(abd_cmp_buf(second, model, size) == 0);
	abd_free(second);
}

static int differ(void *a, void *b, size_t len, void *priv)
{
	(void)priv;
	return memcmp(a, b, len) != 0;
}

/* The calls that a pool makes elsewhere (calls.txt): a mirror, an indirect device, the debug log.
 */
static void check_elsewhere(abd_t *record, const unsigned char *model, size_t size)
{
	abd_t own, room = {0}, *copy = abd_alloc(size, B_FALSE);
	size_t at = draw(size / 8) * 8; /* OpenZFS tests only whole words for zero */
	unsigned char last;

	CHECK(abd_size_alloc_linear(size) == (abd_is_linear(copy) && !abd_is_linear_page(copy)));
	CHECK(abd_alloc_gang_struct(&own) == &own && abd_is_gang(&own) && abd_get_size(&own) == 0);
	abd_gang_add(&own, record, B_FALSE); /* returns nothing in OpenZFS */
	CHECK(abd_cmp(&own, record) == 0);
	abd_verify(&own);
	abd_free(&own);
	abd_t *zeros = abd_get_zeros_struct(&room, size);
	CHECK(abd_get_size(zeros) == size && abd_cmp_zero(zeros, size) == 0);
	abd_free(zeros);

	abd_copy_from_buf_off(copy, model, 0, at);
	abd_copy_off(copy, record, at, at, size - at);
	CHECK(abd_iterate_func2(copy, record, 0, 0, size, differ, NULL) == 0);
	abd_copy_to_buf_off(&last, copy, size - 1, 1);
	CHECK(last == model[size - 1]);
	last = (unsigned char)~last;
	abd_copy_from_buf_off(copy, &last, size - 1, 1);
	CHECK(abd_iterate_func2(copy, record, 0, 0, size, differ, NULL) != 0);
	abd_zero_off(copy, at, size - at);
	CHECK(abd_cmp_zero_off(copy, at, size - at) == 0);
	CHECK(abd_cmp_buf(copy, model, at) == 0);
	abd_free(copy);
}

static void one_record(void)
{
	static unsigned char model[RECORD_MAX], stored[RECORD_MAX];
	size_t size = SECTOR * (1 + draw(draw(2) == 0 ? 40 : RECORD_MAX / SECTOR));
	uint_t parity = 1 + (uint_t)draw(PARITY_MAX);
	uint_t disks = parity + 1 + (uint_t)draw(COLUMNS_MAX - parity);
	io_t io = {.size = size};
	row_t row;

	fill(model, size);
	zfs_abd_scatter_enabled = draw(8) != 0;
	io.abd = abd_alloc(size, B_FALSE);
	abd_copy_from_buf(io.abd, model, size);
	io_compress(&io);
	checksum(io.abd, io.psize, io.checksum);
	abd_copy_to_buf(stored, io.abd, io.psize);
	row_init(&row, parity, disks, io.psize);
	row_write(&row, io.abd);
	check_disks(&row, stored);
	abd_free(io.abd);
	if (io.orig != NULL)
		abd_free(io.orig);

	row_init(&row, parity, disks, io.psize);
	for (uint_t n = (uint_t)draw(parity + 1), first = (uint_t)draw(row.columns); n > 0; n--)
		disk_damage((first + n) % row.columns, row.col[(first + n) % row.columns].size);
	abd_t *back = draw(2) == 0 ? abd_alloc_for_io(io.psize, B_FALSE)
				   : abd_alloc_linear(io.psize, B_FALSE);
	row_read(&row, back, &io);
	CHECK(abd_cmp_buf(back, stored, io.psize) == 0);
	check_disks(&row, stored);
	abd_t *out = abd_alloc(size, B_FALSE);
	io_decompress(&io, back, out);
	CHECK(abd_cmp_buf(out, model, size) == 0);
	check_reader(out, model, size);
	check_shared(model, size);
	check_elsewhere(out, model, size);
	abd_free(out);
	abd_free(back);
	zfs_abd_scatter_enabled = B_TRUE;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	abd_init();
	for (uint_t d = 0; d < COLUMNS_MAX; d++) {
		disk[d] = tmpfile();
		CHECK(disk[d] != NULL);
	}
	for (unsigned long i = 0; i < rounds; i++)
		one_record();
	for (uint_t d = 0; d < COLUMNS_MAX; d++)
		fclose(disk[d]);
	abd_cache_reap_now();
	abd_fini();
	printf("%lu records, %lu checks\n", rounds, checks);
	return rounds > 0 && checks < rounds;
}
