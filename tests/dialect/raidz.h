/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A row of a raidz-like layout: parity columns, then data columns, the first ones a sector longer
 * where the record does not fill all.
 * Invariant: written to OpenZFS's sys/abd.h; nothing of ours but the compat header is named.
 */
#ifndef DIALECT_RAIDZ_H
#define DIALECT_RAIDZ_H

#include <abd/compat/openzfs.h>

#define SECTOR 512
#define PARITY_MAX 3
#define COLUMNS_MAX 9

typedef struct column {
	size_t size; /* without the skip sector */
	abd_t *abd;  /* of size bytes, or a skip sector more */
	abd_t own;   /* the struct behind abd, where it is embedded */
	abd_t *orig; /* what was read, while a guess at the damage is tried */
} column_t;

typedef struct row {
	uint_t parity, columns;
	column_t col[COLUMNS_MAX];
} row_t;

/** Lay size bytes, a multiple of SECTOR, out over so many disks. */
void row_init(row_t *row, uint_t parity, uint_t disks, size_t size);
/** Parity of the data columns, into the parity columns. */
void row_generate(row_t *row);
/** Rebuild the count <= parity missing data columns, in order, from the parities named by code. */
void row_rebuild(row_t *row, const uint_t *missing, const uint_t *code, uint_t count);
/** The plain model: parity i of byte k of what lies in data, column by column. */
unsigned char row_model(const row_t *row, const unsigned char *data, uint_t i, size_t k);

#endif
