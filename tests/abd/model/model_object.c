/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects: the table of the living buffers, and what each adds to the gauges.
 * Invariant: model.expected is the sum of the living objects' gauges and of the gangs' tables.
 */
#include "model.h"
#include "abd_gang.h"

struct model model;

void model_gauge_add(struct abd_stats *to, const struct abd_stats *gauge, uint64_t sign)
{
	to->struct_size += sign * gauge->struct_size;
	to->linear_cnt += sign * gauge->linear_cnt;
	to->linear_data_size += sign * gauge->linear_data_size;
	to->scatter_cnt += sign * gauge->scatter_cnt;
	to->scatter_data_size += sign * gauge->scatter_data_size;
	to->scatter_chunk_waste += sign * gauge->scatter_chunk_waste;
	to->scatter_multi_chunk += sign * gauge->scatter_multi_chunk;
	for (size_t i = 0; i < ABD_STATS_ORDERS; i++)
		to->scatter_order[i] += sign * gauge->scatter_order[i];
}

struct object *model_object_new(enum kind kind, abd_t *abd)
{
	struct object *o = calloc(1, sizeof(*o));

	cr_assert_not_null(o);
	o->kind = kind;
	o->abd = abd;
	o->writes = true;
	o->id = model.ids++;
	o->born = model.step;
	return o;
}

/* The object is ready: into the table, its gauges counted in. */
void model_object_begin(struct object *o)
{
	o->size = abd_get_size(o->abd);
	if (!o->own_struct)
		o->gauge.struct_size += sizeof(abd_t);
	model_gauge_add(&model.expected, &o->gauge, 1);
	cr_assert(model.count < OBJECTS);
	model.objects[model.count++] = o;
}

void model_object_forget(struct object *o)
{
	size_t i = 0;

	while (model.objects[i] != o)
		i++;
	model.objects[i] = model.objects[--model.count];
	model_gauge_add(&model.expected, &o->gauge, -(uint64_t)1);
	free(o->data);
	free(o->raw);
	free(o);
}

static void base_begin(struct object *o)
{
	o->data = malloc(abd_get_size(o->abd));
	cr_assert_not_null(o->data);
	model_slice_add(o, o, 0, abd_get_size(o->abd));
	model_object_begin(o);
	abd_test_random_fill(&model.random, o->data, o->size);
	abd_copy_from_buf(o->abd, o->data, o->size);
	model_check_base(o);
}

static void raw_add(struct object *o, void *addr, size_t len)
{
	o->raw = realloc(o->raw, (o->raw_count + 1) * sizeof(*o->raw));
	cr_assert_not_null(o->raw);
	o->raw[o->raw_count++] = (struct iovec){addr, len};
}

static size_t order_of(size_t len)
{
	size_t order = 0;

	while (((size_t)4096 << order) < len)
		order++;
	return order;
}

void model_scatter_begin(struct object *o)
{
	size_t size = abd_get_size(o->abd), classes = 0, last = SIZE_MAX;

	if (abd_is_linear_page(o->abd))
		raw_add(o, abd_to_buf(o->abd), size);
	for (size_t i = 0; !abd_is_linear(o->abd) && i < ABD_SCATTER(o->abd).abd_run_count; i++)
		raw_add(o, ABD_SCATTER(o->abd).abd_runs[i].iov_base,
			ABD_SCATTER(o->abd).abd_runs[i].iov_len);
	check(abd_is_linear_page(o->abd) == (o->raw_count == 1 && model.linear_page),
		"%zu runs, and linear or not", o->raw_count);
	for (size_t i = 0; i < o->raw_count; i++) {
		size_t order = order_of(o->raw[i].iov_len);

		o->gauge.scatter_order[order]++;
		classes += order != last;
		last = order;
	}
	if (!abd_is_linear(o->abd))
		o->gauge.struct_size += sizeof(struct iovec) * o->raw_count +
					(classes > 1 ? (sizeof(size_t) + 8) * classes : 0);
	o->gauge.scatter_cnt = 1;
	o->gauge.scatter_data_size = size;
	o->gauge.scatter_chunk_waste = -size & 4095;
	o->gauge.scatter_multi_chunk = o->raw_count > 1;
	base_begin(o);
}

void model_linear_begin(struct object *o)
{
	raw_add(o, abd_to_buf(o->abd), abd_get_size(o->abd));
	if (o->kind == LINEAR) {
		o->gauge.linear_cnt = 1;
		o->gauge.linear_data_size = abd_get_size(o->abd);
	}
	base_begin(o);
}

/* The gang's table may have grown. */
void model_table_update(struct object *gang)
{
	const struct abd_gang *table = ABD_GANG(gang->abd).abd_table;
	size_t size =
		table == NULL ? 0 : sizeof(*table) + table->capacity * sizeof(table->entries[0]);

	model.expected.struct_size += size - gang->table_size;
	gang->table_size = size;
}
