/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that read and write: copy, zero, iterate.
 */
#include "model.h"

void model_op_copy(void)
{
	struct model_pair p;

	if (!model_random_pair(&p))
		return;
	if (model_pair_is_same(&p) && p.n > 0) {
		trace("abd_copy_off(o%u, o%u, %zu, %zu, %zu)", p.d->id, p.s->id, p.d_off, p.s_off,
			p.n);
		abd_copy_off(p.d->abd, p.s->abd, p.d_off, p.s_off, p.n);
	} else if (!model_overlap(p.d, p.d_off, p.n, p.s, p.s_off, p.n)) {
		trace("abd_copy_off(o%u, o%u, %zu, %zu, %zu)", p.d->id, p.s->id, p.d_off, p.s_off,
			p.n);
		if (p.d_off == 0 && p.s_off == 0)
			abd_copy(p.d->abd, p.s->abd, p.n);
		else
			abd_copy_off(p.d->abd, p.s->abd, p.d_off, p.s_off, p.n);
		model_write(p.d, p.d_off, p.n, model_read(p.s, p.s_off, p.n, model.a));
	}
	model_check_written(p.d, p.d_off, p.n, "copy_off");
}

void model_op_copy_from_buf(void)
{
	struct object *o = model_any();
	size_t off, n;

	if (o == NULL || !o->writes)
		return;
	model_random_range(o, &off, &n);
	trace("abd_copy_from_buf_off(o%u, buf, %zu, %zu)", o->id, off, n);
	abd_test_random_fill(&model.random, model.a, n);
	if (off == 0)
		abd_copy_from_buf(o->abd, model.a, n);
	else
		abd_copy_from_buf_off(o->abd, model.a, off, n);
	model_write(o, off, n, model.a);
	model_check_written(o, off, n, "copy_from_buf_off");
}

void model_op_copy_to_buf(void)
{
	struct object *o = model_any();
	size_t off, n;

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	model.a[n] = 0xa5;
	trace("abd_copy_to_buf_off(buf, o%u, %zu, %zu)", o->id, off, n);
	if (off == 0)
		abd_copy_to_buf(model.a, o->abd, n);
	else
		abd_copy_to_buf_off(model.a, o->abd, off, n);
	check(model.a[n] == 0xa5, "copy_to_buf_off wrote behind %zu bytes", n);
	check(memcmp(model.a, model_read(o, off, n, model.b), n) == 0,
		"copy_to_buf_off [%zu, +%zu) of kind %d", off, n, (int)o->kind);
}

void model_op_zero(void)
{
	struct object *o = model_any();
	size_t off, n;

	if (o == NULL || !o->writes)
		return;
	model_random_range(o, &off, &n);
	trace("abd_zero_off(o%u, %zu, %zu)", o->id, off, n);
	if (off == 0)
		abd_zero(o->abd, n);
	else
		abd_zero_off(o->abd, off, n);
	memset(model.a, 0, n);
	model_write(o, off, n, model.a);
	model_check_written(o, off, n, "zero_off");
}

static int iterate_write(void *buf, size_t len, void *priv)
{
	size_t *at = priv;

	memcpy(buf, model.a + *at, len);
	*at += len;
	return 0;
}

static int iterate_read(void *buf, size_t len, void *priv)
{
	size_t *at = priv;
	bool same = memcmp(buf, model.a + *at, len) == 0;

	*at += len;
	return same ? 0 : -EIO;
}

static int iterate_copy(void *bufa, void *bufb, size_t len, void *priv)
{
	memcpy(bufa, bufb, len);
	*(size_t *)priv += len;
	return 0;
}

void model_op_iterate(void)
{
	struct object *o = model_any(), *s = model_any();
	size_t off, n, s_off, s_n, at = 0;

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	model_random_range(s, &s_off, &s_n);
	model_read(o, off, n, model.a);
	trace("abd_iterate_func(o%u, %zu, %zu, read)", o->id, off, n);
	check(abd_iterate_func(o->abd, off, n, iterate_read, &at) == 0,
		"iterate_func reads [%zu, +%zu)", off, n);
	check(at == n, "iterate_func met %zu bytes of %zu", at, n);
	if (!o->writes)
		return;
	if (model_one_in(2)) {
		trace("abd_iterate_func(o%u, %zu, %zu, write)", o->id, off, n);
		abd_test_random_fill(&model.random, model.a, n);
		at = 0;
		abd_iterate_func(o->abd, off, n, iterate_write, &at);
		model_write(o, off, n, model.a);
		model_check_written(o, off, n, "iterate_func");
		return;
	}
	n = abd_min(n, s_n);
	if (model_overlap(o, off, n, s, s_off, n))
		return;
	at = 0;
	trace("abd_iterate_func2(o%u, o%u, %zu, %zu, %zu, copy)", o->id, s->id, off, s_off, n);
	abd_iterate_func2(o->abd, s->abd, off, s_off, n, iterate_copy, &at);
	check(at == n, "iterate_func2 met %zu bytes of %zu", at, n);
	model_write(o, off, n, model_read(s, s_off, n, model.a));
	model_check_written(o, off, n, "iterate_func2");
}

struct stop {
	size_t at, calls_after;
};

static int iterate_until(void *buf, size_t len, void *priv)
{
	struct stop *stop = priv;

	stop->calls_after += stop->at == 0;
	stop->at -= abd_min(stop->at, len);
	return stop->at == 0 ? 77 : 0;
}

/* A function that returns something ends the loop, which returns it. */
void model_op_iterate_stop(void)
{
	struct object *o = model_any();
	size_t off, n;
	struct stop stop = {0};
	int got;

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	stop.at = n > 0 ? 1 + model_below(n) : 0;
	trace("abd_iterate_func(o%u, %zu, %zu), stopped at %zu", o->id, off, n, stop.at);
	got = abd_iterate_func(o->abd, off, n, iterate_until, &stop);
	check(got == (n > 0 ? 77 : 0) && stop.at == 0 && stop.calls_after == 0,
		"iterate_func [%zu, +%zu) gave %d, %zu calls too many", off, n, got,
		stop.calls_after);
}
