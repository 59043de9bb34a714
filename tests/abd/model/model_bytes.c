/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flat bytes: what a buffer of any kind must hold, slice by slice, and the comparison with real
 * memory.
 * Invariant: a slice lies within its base; the slices of a buffer follow each other and add up to
 * its size.
 */
#include "model.h"

void model_slice_add(struct object *o, struct object *base, size_t off, size_t len)
{
	cr_assert(o->slice_count < ENTRIES);
	o->slices[o->slice_count++] = (struct slice){base, off, len};
	o->writes &= base != NULL;
}

struct walk model_walk(const struct object *o, size_t off, size_t n)
{
	return (struct walk){.o = o, .off = off, .n = n};
}

bool model_walk_next(struct walk *w)
{
	while (w->next < w->o->slice_count) {
		const struct slice *s = &w->o->slices[w->next++];
		size_t start = w->start, from = start > w->off ? start : w->off;
		size_t to = abd_min(start + s->len, w->off + w->n);

		w->start += s->len;
		if (from >= to)
			continue;
		w->base = s->base;
		w->base_off = s->off + (from - start);
		w->at = from - w->off;
		w->len = to - from;
		return true;
	}
	return false;
}

uint8_t *model_read(const struct object *o, size_t off, size_t n, uint8_t *to)
{
	for (struct walk w = model_walk(o, off, n); model_walk_next(&w);) {
		if (w.base != NULL)
			memcpy(to + w.at, w.base->data + w.base_off, w.len);
		else
			memset(to + w.at, 0, w.len);
	}
	return to;
}

void model_write(const struct object *o, size_t off, size_t n, const uint8_t *from)
{
	for (struct walk w = model_walk(o, off, n); model_walk_next(&w);)
		memcpy(w.base->data + w.base_off, from + w.at, w.len);
}

/* The real memory of a base: compare it with the model, or take it over. */
static bool raw_walk(const struct object *base, size_t off, size_t n, bool take)
{
	size_t start = 0;
	bool same = true;

	for (size_t i = 0; i < base->raw_count && start < off + n; i++) {
		size_t len = base->raw[i].iov_len;
		size_t from = start > off ? start : off;
		size_t to = start + len < off + n ? start + len : off + n;

		if (from < to) {
			uint8_t *memory = (uint8_t *)base->raw[i].iov_base + (from - start);

			same &= memcmp(memory, base->data + from, to - from) == 0;
			if (take)
				memcpy(base->data + from, memory, to - from);
		}
		start += len;
	}
	return same;
}

void model_check_base(const struct object *base)
{
	check(raw_walk(base, 0, base->size, false), "a buffer of kind %d and %zu bytes is damaged",
		(int)base->kind, base->size);
}

/* What was written is there, and 16 bytes on each side are as they were. */
void model_check_written(const struct object *o, size_t off, size_t n, const char *what)
{
	for (struct walk w = model_walk(o, off, n); model_walk_next(&w);) {
		if (w.base == NULL)
			continue;

		size_t from = w.base_off - abd_min(w.base_off, 16);
		size_t to = abd_min(w.base_off + w.len + 16, w.base->size);

		check(raw_walk(w.base, from, to - from, false),
			"%s of [%zu, +%zu) of kind %d, %zu bytes: wrong near %zu of a base of kind "
			"%d",
			what, off, n, (int)o->kind, o->size, off + w.at, (int)w.base->kind);
	}
}

/* The range may hold anything: take what is there for the truth. */
void model_resync(const struct object *o, size_t off, size_t n)
{
	for (struct walk w = model_walk(o, off, n); model_walk_next(&w);)
		if (w.base != NULL)
			raw_walk(w.base, w.base_off, w.len, true);
}

bool model_overlap(const struct object *a, size_t a_off, size_t a_n, const struct object *b,
	size_t b_off, size_t b_n)
{
	for (struct walk x = model_walk(a, a_off, a_n); model_walk_next(&x);)
		for (struct walk y = model_walk(b, b_off, b_n); model_walk_next(&y);)
			if (x.base != NULL && x.base == y.base && x.base_off < y.base_off + y.len &&
				y.base_off < x.base_off + x.len)
				return true;
	return false;
}

/*
 * Whether the range holds the same bytes twice, as a gang with a child twice may: no place for a
 * codec's output.
 */
bool model_repeats(const struct object *o, size_t off, size_t n)
{
	for (struct walk w = model_walk(o, off, n); model_walk_next(&w);)
		if (model_overlap(o, off, w.at, o, off + w.at, w.len))
			return true;
	return false;
}
