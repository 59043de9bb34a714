/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations on several buffers at a time, as RAID-Z does them: making parity from data, and
 * rebuilding columns from parity.
 */
#include "model.h"

static struct {
	unsigned parity;
	size_t at;
	bool odd; /* a piece that was no multiple of 512 was met */
	bool wrong;
} raidz;

static void raidz_gen(void **c, const void *d, size_t csize, size_t dsize)
{
	raidz.wrong |= raidz.odd || dsize > csize || (dsize > 0) != (d != NULL);
	raidz.odd = csize % 512 != 0;
	for (unsigned i = 0; i < raidz.parity; i++)
		for (size_t k = 0; k < csize; k++)
			((uint8_t *)c[i])[k] ^=
				k < dsize ? ((const uint8_t *)d)[k] : (uint8_t)(i + 1);
	raidz.at += csize;
}

static void raidz_rec(void **t, const size_t tsize, void **c, const unsigned *mul)
{
	raidz.wrong |= raidz.odd;
	raidz.odd = tsize % 512 != 0;
	for (unsigned i = 0; i < raidz.parity; i++)
		for (size_t k = 0; k < tsize; k++)
			((uint8_t *)t[i])[k] ^= (uint8_t)(((uint8_t *)c[i])[k] * mul[i]);
	raidz.at += tsize;
}

/* Pieces end at multiples of 512 of the buffer: one base, from a sector's start. */
static bool in_sectors(const struct object *o)
{
	return o->slice_count == 1 && o->slices[0].base != NULL && o->slices[0].off % 512 == 0;
}

static bool raidz_choose(struct object **o, size_t count, bool last_may_be_read_only)
{
	for (size_t i = 0; i < count; i++) {
		o[i] = model_any();
		if (o[i] == NULL || !in_sectors(o[i]) ||
			(!o[i]->writes && !(last_may_be_read_only && i + 1 == count)))
			return false;
		for (size_t j = 0; j < i; j++)
			if (model_overlap(o[i], 0, o[i]->size, o[j], 0, o[j]->size))
				return false;
	}
	return true;
}

void model_op_raidz_gen(void)
{
	struct object *o[4];
	abd_t *cabds[3];
	size_t parity = 1 + model_below(3), csize = SIZE_MAX, off, dsize;

	if (!raidz_choose(o, parity + 1, true))
		return;
	for (size_t i = 0; i < parity; i++) {
		cabds[i] = o[i]->abd;
		csize = abd_min(csize, o[i]->size);
	}
	csize = abd_min(csize, 40000);
	off = abd_min(model_one_in(2) ? 0 : 512, csize & ~(size_t)511);
	csize -= off;
	dsize = o[parity]->size < off ? 0 : abd_min(o[parity]->size - off, csize);
	if (dsize < csize)
		dsize &= ~(size_t)511;
	raidz.parity = (unsigned)parity;
	raidz.at = 0;
	raidz.odd = raidz.wrong = false;
	trace("raidz_gen((abd_t *[]){o%u, o%u, o%u}, o%u, %zu, %zu, %zu, %zu)", o[0]->id,
		o[parity > 1 ? 1 : 0]->id, o[parity > 2 ? 2 : 0]->id, o[parity]->id, off, csize,
		dsize, parity);
	abd_raidz_gen_iterate(cabds, dsize > 0 ? o[parity]->abd : NULL, off, csize, dsize,
		(unsigned)parity, raidz_gen);
	check(raidz.at == csize && !raidz.wrong, "raidz_gen: %zu of %zu, %zu of data", raidz.at,
		csize, dsize);
	for (size_t i = 0; i < parity; i++) {
		model_read(o[i], off, csize, model.a);
		model_read(o[parity], off, dsize, model.b);
		for (size_t k = 0; k < csize; k++)
			model.a[k] ^= k < dsize ? model.b[k] : (uint8_t)(i + 1);
		model_write(o[i], off, csize, model.a);
	}
	/* Only now: columns may be neighbours in one base, and a check looks a little beyond. */
	for (size_t i = 0; i < parity; i++)
		model_check_written(o[i], off, csize, "raidz_gen");
}

void model_op_raidz_rec(void)
{
	struct object *o[6];
	abd_t *tabds[3], *cabds[3];
	unsigned mul[] = {3, 5, 7};
	size_t parity = 1 + model_below(3), tsize = 40000;

	if (!raidz_choose(o, 2 * parity, false))
		return;
	for (size_t i = 0; i < parity; i++) {
		tabds[i] = o[i]->abd;
		cabds[i] = o[parity + i]->abd;
		tsize = abd_min(tsize, abd_min(o[i]->size, o[parity + i]->size));
	}
	raidz.parity = (unsigned)parity;
	raidz.at = 0;
	raidz.odd = raidz.wrong = false;
	trace("raidz_rec((abd_t *[]){o%u, o%u, o%u}, (abd_t *[]){o%u, o%u, o%u}, %zu, %zu)",
		o[parity]->id, o[parity > 1 ? parity + 1 : 0]->id,
		o[parity > 2 ? parity + 2 : 0]->id, o[0]->id, o[parity > 1 ? 1 : 0]->id,
		o[parity > 2 ? 2 : 0]->id, tsize, parity);
	abd_raidz_rec_iterate(cabds, tabds, tsize, (unsigned)parity, raidz_rec, mul);
	check(raidz.at == tsize && !raidz.wrong, "raidz_rec: %zu of %zu", raidz.at, tsize);
	for (size_t i = 0; i < parity; i++) {
		model_read(o[i], 0, tsize, model.a);
		model_read(o[parity + i], 0, tsize, model.b);
		for (size_t k = 0; k < tsize; k++)
			model.a[k] ^= (uint8_t)(model.b[k] * mul[i]);
		model_write(o[i], 0, tsize, model.a);
	}
	for (size_t i = 0; i < parity; i++)
		model_check_written(o[i], 0, tsize, "raidz_rec");
}
