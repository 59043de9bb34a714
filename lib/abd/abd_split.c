/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Split buffers: scatter buffers whose whole pages are runs, and whose rest, less than a page, lies
 * in memory of the caller's, as do struct and tables. So no part of a page is wasted behind it.
 *
 *   caller's memory                                          runs of lib/mem
 *   +--------+-----------------+---------+-----+------+      +-------------------+
 *   | struct | table           | classes | ... | rest |   -->| 4 KiB << n        |
 *   |        | run 0 ... rest  |         |     |      |      +-------------------+
 *   +--------+-----------------+---------+-----+------+
 *
 * Everybody else sees a scatter buffer, whose last run may be short. It is not an owner: who made
 * it ends it with abd_split_free().
 * OpenZFS: none; there the rest of the last page is wasted.
 */
#include "abd_check.h"
#include "abd_impl.h"

static struct abd_run_plan abd_split_plan(size_t size, unsigned max_order)
{
	size_t pages = size >> ABD_CHUNK_SHIFT;
	struct abd_run_plan plan = abd_run_plan(pages, max_order);

	/* The rest is a run too. It has order 0, as a last page has. */
	plan.run_count++;
	plan.class_count += max_order > 0 && (pages & 1) == 0;
	return plan;
}

size_t abd_split_head_size(size_t size)
{
	struct abd_run_plan plan = abd_split_plan(size, ABD_TUNE(max_order));

	return abd_scatter_head_bytes(plan.run_count, plan.class_count);
}

/* False: the provider refused one, and none is taken. */
static bool abd_split_take(unsigned provider, struct iovec *runs, size_t pages, unsigned max_order)
{
	for (size_t i = 0; pages > 0; i++) {
		unsigned order = (unsigned)abd_min(abd_log2(pages), max_order);

		runs[i] = (struct iovec){abd_chunk_alloc(provider, order), ABD_CHUNK_SIZE << order};
		if (runs[i].iov_base == NULL) {
			abd_run_free(provider, runs, i);
			return false;
		}
		pages -= (size_t)1 << order;
	}
	return true;
}

/* Add whole pages to the counters (sign 1), or subtract them (-1). */
static void abd_split_count(const abd_t *abd, uint64_t sign)
{
	size_t count = ABD_SCATTER(abd).abd_run_count - 1;

	abd_counter_add(ABD_COUNTER(scatter_cnt), sign);
	abd_counter_add(ABD_COUNTER(scatter_multi_chunk), sign);
	abd_counter_add(
		ABD_COUNTER(scatter_data_size), sign * (abd->abd_size & ~(ABD_CHUNK_SIZE - 1)));
	for (size_t i = 0; i < count; i++)
		abd_counter_add(ABD_COUNTER(scatter_order) +
					abd_run_order(ABD_SCATTER(abd).abd_runs[i].iov_len),
			sign);
}

abd_t *abd_split_make(void *head, size_t head_size, size_t size, void *tail, bool is_metadata)
{
	unsigned provider = abd_chunk_provider_now(), max_order = ABD_TUNE(max_order);
	struct abd_run_plan plan = abd_split_plan(size, max_order);
	abd_t *abd = head;
	struct iovec *runs = (struct iovec *)(void *)(abd + 1);
	size_t rest = size & (ABD_CHUNK_SIZE - 1);

	assert(size > ABD_CHUNK_SIZE && rest > 0);
	if (abd_scatter_head_bytes(plan.run_count, plan.class_count) > head_size ||
		!abd_split_take(provider, runs, size >> ABD_CHUNK_SHIFT, max_order))
		return NULL;
	runs[plan.run_count - 1] = (struct iovec){tail, rest};

	abd_struct_init(abd, ABD_FLAG_MULTI_CHUNK | (is_metadata ? ABD_FLAG_META : 0), size);
	abd->abd_provider = (uint8_t)provider;
	abd->abd_class_count = (uint8_t)plan.class_count;
	abd->abd_order = (uint8_t)abd_run_order(runs[0].iov_len);
	ABD_SCATTER(abd).abd_runs = runs;
	ABD_SCATTER(abd).abd_run_count = plan.run_count;
	if (plan.class_count > 1)
		abd_run_classes((struct abd_run_class *)(void *)(runs + plan.run_count), runs,
			plan.run_count);
	assert(abd_scatter_classes_hold(abd));
	abd_split_count(abd, 1);
	return abd;
}

void abd_split_free(abd_t *abd)
{
	abd_check_end(__func__, abd);
	abd_split_count(abd, -(uint64_t)1);
	abd_run_free(
		abd->abd_provider, ABD_SCATTER(abd).abd_runs, ABD_SCATTER(abd).abd_run_count - 1);
	abd_struct_init(abd, (abd_flags_t)0, 0);
}
