/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws objects, sizes, places and ranges at random. Most errors are near the end of something, so
 * most ranges end there too.
 * Invariant: a draw depends on the operation's own seed and on the objects it draws from, never on
 * how many operations came before.
 */
#include "model.h"

size_t model_below(size_t limit)
{
	return abd_test_random_below(&model.random, limit);
}

bool model_one_in(size_t n)
{
	return model_below(n) == 0;
}

/*
 * Each object draws a lot from the draw and the step it was made in, so that the choice does not
 * change when others are not there.
 */
struct object *model_any(void)
{
	uint64_t draw = abd_test_random(&model.random), highest = 0;
	struct object *chosen = NULL;

	for (size_t i = 0; i < model.count; i++) {
		uint64_t lot = (draw ^ model.objects[i]->born) * 0x9e3779b97f4a7c15u;

		lot = (lot ^ lot >> 32) * 0xd6e8feb86659fd93u;
		if (chosen == NULL || lot > highest) {
			highest = lot;
			chosen = model.objects[i];
		}
	}
	return chosen;
}

size_t model_random_size(void)
{
	size_t dice = model_below(1000);

	if (dice < 500)
		return 1 + model_below(5000);
	if (dice < 700)
		return 1 + model_below(24000);
	if (dice < 960)
		return (1 + model_below(9)) * 4096 + model_below(3) - 1;
	if (dice < 997)
		return 1 + model_below(150000);
	return 1 + model_below(1 << 20);
}

/* A place in o, most often near where something ends. */
size_t model_random_place(const struct object *o)
{
	const struct slice *s = &o->slices[model_below(o->slice_count > 0 ? o->slice_count : 1)];
	size_t dice = model_below(10), place = 0;

	if (o->size == 0 || dice == 0)
		return 0;
	if (dice == 1)
		return o->size - model_below(2);
	if (dice < 4)
		return model_below(o->size + 1);
	for (const struct slice *before = o->slices; before < s; before++)
		place += before->len;
	if (s->base != NULL && s->base->raw_count > 1 && dice < 9) {
		size_t page = model_below((s->off + s->len) / 4096 + 1) * 4096;

		place += page > s->off ? page - s->off : 0;
	}
	place += model_below(3);
	return abd_min(place > 0 ? place - 1 : 0, o->size);
}

void model_random_range(const struct object *o, size_t *off, size_t *n)
{
	size_t a = model_random_place(o),
	       b = model_one_in(3) ? a + model_below(70) : model_random_place(o);

	b = abd_min(b, o->size);
	*off = abd_min(a, b);
	*n = (a > b ? a : b) - *off;
}

bool model_random_pair(struct model_pair *pair)
{
	struct object *d = model_any(), *s = model_any();
	size_t d_n;

	*pair = (struct model_pair){.d = d, .s = s};
	if (d == NULL || !d->writes)
		return false;
	model_random_range(d, &pair->d_off, &d_n);
	model_random_range(s, &pair->s_off, &pair->n);
	if (d == s && model_one_in(2))
		pair->s_off = pair->d_off;
	pair->n = abd_min(abd_min(pair->n, d_n), s->size - pair->s_off);
	return true;
}

bool model_pair_is_same(const struct model_pair *pair)
{
	return pair->d == pair->s && pair->s_off == pair->d_off && pair->d->slice_count == 1;
}
