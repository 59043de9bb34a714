/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that borrow memory and return it, or hand it over for good.
 * Invariant: the model knows the content of every borrowed copy (content); a linear buffer lends
 * its own memory.
 */
#include "model.h"

void model_op_borrow(void)
{
	struct object *o = model_any();
	bool copy = model_one_in(2);

	if (o == NULL || o->size == 0 || o->borrow_count == BORROWS)
		return;

	size_t n = model_one_in(2) ? o->size : 1 + abd_min(model_random_place(o), o->size - 1);
	unsigned id = model.ids++;
	char *buf;

	trace("m%u = abd_borrow_buf%s(o%u, %zu)", id, copy ? "_copy" : "", o->id, n);
	buf = copy ? abd_borrow_buf_copy(o->abd, n) : abd_borrow_buf(o->abd, n);
	check(buf != NULL || (model.oom && errno == ENOMEM), "borrow of %zu refused", n);
	if (buf == NULL)
		return;

	bool linear = abd_is_linear(o->abd);
	struct borrowed *borrowed = &o->borrows[o->borrow_count++];

	model.expected.borrow_cnt++;
	model.expected.borrow_copy_cnt += !linear;
	model.expected.borrow_copy_bytes += !linear && copy ? n : 0;
	*borrowed = (struct borrowed){buf, n, NULL, id};
	model_read(o, 0, n, model.a);
	if (linear) {
		check(buf == abd_to_buf(o->abd), "a linear buffer of %zu bytes lent other memory",
			n);
		return;
	}
	borrowed->content = malloc(n);
	cr_assert_not_null(borrowed->content);
	check(!copy || memcmp(buf, model.a, n) == 0, "borrow_buf_copy of %zu", n);
	if (o->writes && model_one_in(2)) {
		trace("m%u is written", id);
		abd_test_random_fill(&model.random, model.a, n);
	}
	memcpy(buf, model.a, n);
	memcpy(borrowed->content, model.a, n);
}

static void return_linear(struct object *o, struct borrowed *borrowed)
{
	if (model_one_in(2)) {
		size_t at = model_below(borrowed->n);
		uint8_t byte = (uint8_t)model_below(256);

		borrowed->buf[at] = (char)byte;
		trace("m%u[%zu] = (char)%u", borrowed->id, at, byte);
		trace("abd_return_buf_copy(o%u, m%u, %zu)", o->id, borrowed->id, borrowed->n);
		model_write(o, at, 1, &byte);
		abd_return_buf_copy(o->abd, borrowed->buf, borrowed->n);
	} else {
		trace("abd_return_buf(o%u, m%u, %zu)", o->id, borrowed->id, borrowed->n);
		abd_return_buf(o->abd, borrowed->buf, borrowed->n);
	}
}

static void return_copy(struct object *o, struct borrowed *borrowed)
{
	size_t n = borrowed->n;
	bool same = memcmp(model_read(o, 0, n, model.a), borrowed->content, n) == 0;

	check(memcmp(borrowed->buf, borrowed->content, n) == 0, "a borrow of %zu was changed", n);
	if (!o->writes && !same)
		memcpy(borrowed->buf, model.a, n);
	if (!o->writes || (same && model_one_in(2))) {
		trace("abd_return_buf(o%u, m%u, %zu)", o->id, borrowed->id, n);
		abd_return_buf(o->abd, borrowed->buf, n);
	} else {
		trace("abd_return_buf_copy(o%u, m%u, %zu)", o->id, borrowed->id, n);
		abd_return_buf_copy(o->abd, borrowed->buf, n);
		model.expected.borrow_copy_bytes += n;
		model_write(o, 0, n, borrowed->content);
		model_check_written(o, 0, n, "return_buf_copy");
	}
	free(borrowed->content);
}

void model_borrow_return(struct object *o)
{
	struct borrowed borrowed;
	size_t i = model_below(o->borrow_count);

	borrowed = o->borrows[i];
	o->borrows[i] = o->borrows[--o->borrow_count];
	if (borrowed.content != NULL)
		return_copy(o, &borrowed);
	else
		return_linear(o, &borrowed);
}

void model_op_return(void)
{
	struct object *o = model_any();

	if (o != NULL && o->borrow_count > 0)
		model_borrow_return(o);
}

void model_op_ownership(void)
{
	struct object *o = model_any();

	if (o == NULL || (o->kind != LINEAR && o->kind != FROM_BUF) || o->memory_is_malloc)
		return;
	model_gauge_add(&model.expected, &o->gauge, -(uint64_t)1);
	if (o->kind == LINEAR) {
		o->memory = abd_to_buf(o->abd);
		trace("abd_release_ownership_of_buf(o%u)", o->id);
		abd_release_ownership_of_buf(o->abd);
		o->kind = FROM_BUF;
		o->gauge.linear_cnt = 0;
		o->gauge.linear_data_size = 0;
	} else {
		bool meta = model_one_in(2);

		trace("abd_take_ownership_of_buf(o%u, %d)", o->id, meta);
		abd_take_ownership_of_buf(o->abd, meta);
		o->kind = LINEAR;
		o->gauge.linear_cnt = 1;
		o->gauge.linear_data_size = o->size;
	}
	model_gauge_add(&model.expected, &o->gauge, 1);
}

/* How many borrows a codec needs is its own affair. */
void model_borrows_resync(void)
{
	struct abd_stats now = abd_test_stats();

	model.expected.borrow_cnt = now.borrow_cnt;
	model.expected.borrow_copy_cnt = now.borrow_copy_cnt;
	model.expected.borrow_copy_bytes = now.borrow_copy_bytes;
}
