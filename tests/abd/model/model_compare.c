/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that compare: order, equality, the first difference, zeros, short keys.
 */
#include "model.h"

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t at = 0;

	if (memcmp(a, b, n) == 0)
		return n;
	while (a[at] == b[at])
		at++;
	return at;
}

/* Make two ranges equal but for one byte, or not even that, so that comparing goes far. */
static void make_alike(struct object *d, struct object *s, size_t d_off, size_t s_off, size_t n)
{
	uint8_t other;

	if (!d->writes || n == 0 || model_overlap(d, d_off, n, s, s_off, n))
		return;
	model_read(s, s_off, n, model.a);
	trace("copy(o%u, o%u, %zu, %zu, %zu)", d->id, s->id, d_off, s_off, n);
	abd_copy_from_buf_off(d->abd, model.a, d_off, n);
	model_write(d, d_off, n, model.a);
	if (model_one_in(2))
		return;

	size_t at = model_one_in(3) ? n - 1 : model_below(n);

	other = (uint8_t)(model.a[at] + 1 + model_below(255));
	trace("set_byte(o%u, %zu, %u)", d->id, d_off + at, other);
	abd_copy_from_buf_off(d->abd, &other, d_off + at, 1);
	model_write(d, d_off + at, 1, &other);
}

void model_op_compare_buf(void)
{
	struct object *o = model_any();
	size_t off, n;

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	model_read(o, off, n, model.a);
	memcpy(model.b, model.a, n);
	if (n > 0 && model_one_in(2)) {
		size_t at = model_one_in(3) ? n - 1 : model_below(n);

		model.b[at] ^= (uint8_t)(1 + model_below(255));
		trace("byte %zu differs", at);
	}
	trace("compare_buf(o%u, %zu, %zu)", o->id, off, n);

	int order = sign(memcmp(model.a, model.b, n));

	check(sign(abd_cmp_buf_off(o->abd, model.b, off, n)) == order, "cmp_buf_off [%zu, +%zu)",
		off, n);
	check(off != 0 || sign(abd_cmp_buf(o->abd, model.b, n)) == order, "cmp_buf of %zu", n);
	check(abd_equal_buf_off(o->abd, model.b, off, n) == (order == 0),
		"equal_buf_off [%zu, +%zu)", off, n);
	check(abd_key_equal(model.a, model.b, n) == (order == 0), "key_equal of %zu", n);
	memset(model.b, 0, n);
	check((abd_cmp_zero_off(o->abd, off, n) == 0) == (memcmp(model.a, model.b, n) == 0),
		"cmp_zero_off [%zu, +%zu)", off, n);
	check(off != 0 || (abd_cmp_zero(o->abd, n) == 0) == (memcmp(model.a, model.b, n) == 0),
		"cmp_zero %zu", n);
}

void model_op_compare(void)
{
	struct object *a = model_any(), *b = model_any();
	size_t a_off, b_off, n, b_n;

	if (a == NULL)
		return;
	model_random_range(a, &a_off, &n);
	model_random_range(b, &b_off, &b_n);
	if (a->size == b->size && model_one_in(2))
		a_off = b_off = 0, n = b_n = a->size;
	n = abd_min(n, b_n);
	make_alike(a, b, a_off, b_off, n);
	model_read(a, a_off, n, model.a);
	model_read(b, b_off, n, model.b);

	size_t diff = first_difference(model.a, model.b, n);

	trace("compare(o%u, o%u, %zu, %zu, %zu)", a->id, b->id, a_off, b_off, n);

	check(abd_diff_off(a->abd, b->abd, a_off, b_off, n) == diff,
		"diff_off %zu, %zu, %zu: not %zu", a_off, b_off, n, diff);
	check(abd_equal_off(a->abd, b->abd, a_off, b_off, n) == (diff == n),
		"equal_off %zu, %zu, %zu", a_off, b_off, n);
	if (a->size != b->size) {
		check(!abd_equal(a->abd, b->abd), "%zu equals %zu bytes", a->size, b->size);
	} else if (n == a->size) {
		check(abd_equal(a->abd, b->abd) == (diff == n), "equal of %zu", n);
		check(sign(abd_cmp(a->abd, b->abd)) == sign(memcmp(model.a, model.b, n)),
			"cmp of %zu", n);
	}
}
