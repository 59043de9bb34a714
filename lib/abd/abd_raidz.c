/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raidz: walk parity and data buffers side by side, and hand out pieces that are contiguous in all
 * of them.
 * Invariant: every piece but the last is a multiple of 512 bytes, as the parity kernels of engines
 *            need it.
 * The parity's size decides how far to walk. When parity is made, a short data column ends before
 * it. When a short column is rebuilt, the columns it is rebuilt from may be longer.
 * OpenZFS: abd_raidz_gen_iterate(), abd_raidz_rec_iterate() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_iter.h"

#include <abd/operate.h>

#define ABD_RAIDZ_MAX 3
#define ABD_RAIDZ_SECTOR ((size_t)512)

/* writer: the call, if it writes these buffers; NULL: it reads them. */
static void abd_raidz_begin(const char *call, const char *name, struct abd_iter *iters,
	abd_t **abds, unsigned parity, size_t off, size_t size, const char *writer)
{
	ABD_REQUIRE_IN(call, parity >= 1 && parity <= ABD_RAIDZ_MAX,
		"%u parity buffers; there must be 1 to 3", parity);
	ABD_REQUIRE_IN(call, abds != NULL, "%s is NULL", name);
	for (unsigned i = 0; i < parity; i++) {
		abd_check_range_of(call, name, abds[i], off, size);
		abd_iter_start(&iters[i], abds[i], off, size, writer);
	}
}

/* No buffer is written twice, or written and read: func would see half of its own work. */
static void abd_raidz_apart(const char *call, const char *name, abd_t *const *written,
	unsigned count, abd_t *const *read, unsigned read_count)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < i; j++)
			ABD_REQUIRE_IN(call, written[i] != written[j],
				"%s[%u] and %s[%u] are one buffer", name, j, name, i);
		for (unsigned j = 0; j < read_count; j++)
			ABD_REQUIRE_IN(
				call, written[i] != read[j], "%s[%u] is also read from", name, i);
	}
}

/* The addresses of the next piece, and how long it is on all sides: at most size. */
static size_t abd_raidz_map(struct abd_iter *iters, void **addresses, unsigned parity, size_t size)
{
	for (unsigned i = 0; i < parity; i++) {
		addresses[i] = iters[i].addr;
		size = abd_min(size, iters[i].len);
	}
	return size;
}

static void abd_raidz_advance(struct abd_iter *iters, unsigned parity, size_t n)
{
	for (unsigned i = 0; i < parity; i++)
		abd_iter_advance(&iters[i], n);
}

/* Cut a piece to whole sectors, unless it is the last one. */
static size_t abd_raidz_sectors(const char *call, size_t n, size_t left)
{
	size_t whole = n & ~(ABD_RAIDZ_SECTOR - 1);

	if (n == left)
		return n;
	ABD_REQUIRE_IN(call, whole > 0, "a sector is split %zu bytes from its end", n);
	return whole;
}

void abd_raidz_gen_iterate(abd_t **cabds, abd_t *dabd, size_t off, size_t csize, size_t dsize,
	const unsigned parity, void (*func_raidz_gen)(void **, const void *, size_t, size_t))
{
	struct abd_iter c[ABD_RAIDZ_MAX], d = {.len = 0};
	void *addresses[ABD_RAIDZ_MAX];

	ABD_REQUIRE(func_raidz_gen != NULL, "func_raidz_gen is NULL");
	abd_raidz_begin(__func__, "cabds", c, cabds, parity, off, csize, __func__);
	abd_raidz_apart(__func__, "cabds", cabds, parity, &dabd, dsize > 0);
	if (dsize > 0) {
		abd_check_range(__func__, dabd, off, dsize);
		dsize = abd_min(dsize, csize);
		ABD_REQUIRE(dsize == csize || dsize % ABD_RAIDZ_SECTOR == 0,
			"%zu bytes of data end within a sector", dsize);
		abd_iter_begin(&d, dabd, off, dsize);
	}
	while (csize > 0) {
		size_t n = abd_raidz_map(c, addresses, parity, d.len > 0 ? d.len : csize);

		/* Where the data ends but the parity continues, no sector is split. */
		n = abd_raidz_sectors(__func__, n, d.len > 0 ? d.left : csize);
		func_raidz_gen(addresses, d.len > 0 ? d.addr : NULL, n, d.len > 0 ? n : 0);
		abd_raidz_advance(c, parity, n);
		if (d.len > 0)
			abd_iter_advance(&d, n);
		csize -= n;
	}
}

void abd_raidz_rec_iterate(abd_t **cabds, abd_t **tabds, size_t tsize, const unsigned parity,
	void (*func_raidz_rec)(void **t, const size_t tsize, void **c, const unsigned *mul),
	const unsigned *mul)
{
	struct abd_iter c[ABD_RAIDZ_MAX], t[ABD_RAIDZ_MAX];
	void *caddresses[ABD_RAIDZ_MAX], *taddresses[ABD_RAIDZ_MAX];

	ABD_REQUIRE(func_raidz_rec != NULL, "func_raidz_rec is NULL");
	abd_raidz_begin(__func__, "cabds", c, cabds, parity, 0, tsize, NULL);
	abd_raidz_begin(__func__, "tabds", t, tabds, parity, 0, tsize, __func__);
	abd_raidz_apart(__func__, "tabds", tabds, parity, cabds, parity);
	while (tsize > 0) {
		size_t n = abd_raidz_map(c, caddresses, parity, tsize);

		n = abd_raidz_map(t, taddresses, parity, n);
		n = abd_raidz_sectors(__func__, n, tsize);
		func_raidz_rec(taddresses, n, caddresses, mul);
		abd_raidz_advance(c, parity, n);
		abd_raidz_advance(t, parity, n);
		tsize -= n;
	}
}
