/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that copy and make durable: with all intents and policies, drained or not. tests/flush
 * checks what is durable; here only the bytes are checked.
 */
#include "model.h"

static unsigned random_flags(void)
{
	static const unsigned intents[] = {ABD_FLUSH_AUTO, ABD_FLUSH_SHARED, ABD_FLUSH_EXCLUSIVE};
	unsigned intent = intents[model_below(3)];

	return model_one_in(2) ? intent | ABD_FLUSH_NODRAIN : intent;
}

static void drain(unsigned flags)
{
	if ((flags & ABD_FLUSH_NODRAIN) == 0 || model_one_in(2))
		return;
	trace("abd_flush_drain()");
	abd_flush_drain();
}

void model_op_flush_copy(void)
{
	unsigned flags = random_flags();
	struct model_pair p;

	if (!model_random_pair(&p) ||
		(!model_pair_is_same(&p) && model_overlap(p.d, p.d_off, p.n, p.s, p.s_off, p.n)))
		return;
	trace("abd_flush_copy_off(o%u, o%u, %zu, %zu, %zu, %u)", p.d->id, p.s->id, p.d_off, p.s_off,
		p.n, flags);
	abd_flush_copy_off(p.d->abd, p.s->abd, p.d_off, p.s_off, p.n, flags);
	drain(flags);
	model_write(p.d, p.d_off, p.n, model_read(p.s, p.s_off, p.n, model.a));
	model_check_written(p.d, p.d_off, p.n, "flush_copy_off");
}

static void flush_from_buf(const struct object *o, size_t off, size_t n, unsigned flags)
{
	trace("abd_flush_copy_from_buf_off(o%u, buf, %zu, %zu, %u)", o->id, off, n, flags);
	abd_test_random_fill(&model.random, model.a, n);
	abd_flush_copy_from_buf_off(o->abd, model.a, off, n, flags);
	drain(flags);
	model_write(o, off, n, model.a);
	model_check_written(o, off, n, "flush_copy_from_buf_off");
}

static void flush_to_buf(const struct object *o, size_t off, size_t n, unsigned flags)
{
	/* All of it, so that a byte that was left out is not there from an earlier operation. */
	memset(model.a, 0xa5, n + 2);
	trace("abd_flush_copy_to_buf_off(buf, o%u, %zu, %zu, %u)", o->id, off, n, flags);
	abd_flush_copy_to_buf_off(model.a + 1, o->abd, off, n, flags);
	drain(flags);
	check(model.a[0] == 0xa5 && model.a[n + 1] == 0xa5,
		"flush_copy_to_buf_off wrote around %zu bytes", n);
	check(memcmp(model.a + 1, model_read(o, off, n, model.b), n) == 0,
		"flush_copy_to_buf_off [%zu, +%zu) of kind %d", off, n, (int)o->kind);
}

void model_op_flush_copy_buf(void)
{
	struct object *o = model_any();
	unsigned flags = random_flags();
	size_t off, n;

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	if (o->writes && model_one_in(2))
		flush_from_buf(o, off, n, flags);
	else
		flush_to_buf(o, off, n, flags);
}
