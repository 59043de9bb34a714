/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparing buffers: the walk gives segments, and a kernel of lib/compare compares them. The kernel
 * also gets the addresses of the next segments, to fetch them while it compares these.
 * OpenZFS: abd_cmp(), abd_cmp_buf_off(), abd_cmp_zero_off() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_compare_kernel.h"
#include "abd_walk.h"

#include <abd/compare.h>
#include <abd/operate.h>

struct abd_cmp {
	const struct abd_compare_kernel *kernel;
	int order;    /* memcmp's sign */
	size_t first; /* where the first difference is */
};

static inline size_t abd_cmp_lanes(
	void *priv, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	struct abd_cmp *op = priv;

	return op->kernel->lanes(now, size, next);
}

/* ---- order ---- */

static inline bool abd_order_segment(void *priv, const struct abd_segment *s)
{
	struct abd_cmp *op = priv;

	op->order = op->kernel->order(s->a, s->b, s->size, s->next_a, s->next_b);
	return op->order == 0;
}

static const struct abd_body abd_order_body = {
	.segment = abd_order_segment, .lanes = abd_cmp_lanes, .small = true};

/* Inlined into callers that know at compile time which side is memory. */
ABD_WALK_INLINE int abd_order_walk(struct abd_side a, struct abd_side b, size_t size)
{
	struct abd_cmp op = {.kernel = abd_compare_for(size)};

	abd_walk(NULL, &a, &b, size, op.kernel->lane_count, abd_order_body, &op);
	return op.order;
}

/* Not inline, like the checking functions below, so that small operations save no registers. */
static ABD_NOINLINE int abd_order_buffers(const abd_t *a, const abd_t *b, size_t size)
{
	return abd_order_walk(abd_side(a, 0), abd_side(b, 0), size);
}

int abd_cmp(const abd_t *dabd, const abd_t *sabd)
{
	char *d, *s;

	abd_check(__func__, dabd);
	abd_check(__func__, sabd);
	ABD_REQUIRE(dabd->abd_size == sabd->abd_size,
		"buffers of %zu and %zu bytes are compared; their sizes must be equal",
		dabd->abd_size, sabd->abd_size);

	size_t size = dabd->abd_size;

	if (abd_small(dabd, 0, size, &d) && abd_small(sabd, 0, size, &s))
		return abd_compare_for(size)->order(d, s, size, NULL, NULL);
	return abd_order_buffers(dabd, sabd, size);
}

static ABD_NOINLINE int abd_cmp_buf_checked(
	const char *call, const abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	return abd_order_walk(abd_side(abd, off), abd_side_from(buf), size);
}

static inline int abd_cmp_buf_as(
	const char *call, const abd_t *abd, const void *buf, size_t off, size_t size)
{
	char *at;

	if (abd_small(abd, off, size, &at) && buf != NULL)
		return abd_compare_for(size)->order(at, buf, size, NULL, NULL);
	return abd_cmp_buf_checked(call, abd, buf, off, size);
}

int abd_cmp_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size)
{
	return abd_cmp_buf_as(__func__, abd, buf, off, size);
}

int abd_cmp_buf(const abd_t *abd, const void *buf, size_t size)
{
	return abd_cmp_buf_as(__func__, abd, buf, 0, size);
}

/* ---- equality ---- */

static inline bool abd_equal_segment(void *priv, const struct abd_segment *s)
{
	const struct abd_cmp *op = priv;

	return op->kernel->equal(s->a, s->b, s->size, s->next_a, s->next_b);
}

static const struct abd_body abd_equal_body = {
	.segment = abd_equal_segment, .lanes = abd_cmp_lanes, .small = true};

ABD_WALK_INLINE bool abd_equal_walk(struct abd_side a, struct abd_side b, size_t size)
{
	struct abd_cmp op = {.kernel = abd_compare_for(size)};

	return abd_walk(NULL, &a, &b, size, op.kernel->lane_count, abd_equal_body, &op);
}

static ABD_NOINLINE bool abd_equal_checked(
	const char *call, const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	abd_check_range(call, a, a_off, size);
	abd_check_range(call, b, b_off, size);
	return abd_equal_walk(abd_side(a, a_off), abd_side(b, b_off), size);
}

bool abd_equal_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	char *x, *y;

	if (abd_small(a, a_off, size, &x) && abd_small(b, b_off, size, &y))
		return abd_compare_for(size)->equal(x, y, size, NULL, NULL);
	return abd_equal_checked(__func__, a, b, a_off, b_off, size);
}

bool abd_equal(const abd_t *a, const abd_t *b)
{
	char *x, *y;

	abd_check(__func__, a);
	abd_check(__func__, b);
	if (a->abd_size != b->abd_size)
		return false;
	if (abd_small(a, 0, a->abd_size, &x) && abd_small(b, 0, a->abd_size, &y))
		return abd_compare_for(a->abd_size)->equal(x, y, a->abd_size, NULL, NULL);
	return abd_equal_checked(__func__, a, b, 0, 0, a->abd_size);
}

static ABD_NOINLINE bool abd_equal_buf_checked(
	const char *call, const abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_check_range(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	return abd_equal_walk(abd_side(abd, off), abd_side_from(buf), size);
}

bool abd_equal_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size)
{
	char *at;

	if (abd_small(abd, off, size, &at) && buf != NULL)
		return abd_compare_for(size)->equal(at, buf, size, NULL, NULL);
	return abd_equal_buf_checked(__func__, abd, buf, off, size);
}

/* ---- the first difference ---- */

static inline bool abd_diff_segment(void *priv, const struct abd_segment *s)
{
	struct abd_cmp *op = priv;
	size_t same = op->kernel->diff(s->a, s->b, s->size, s->next_a, s->next_b);

	if (same == s->size)
		return true;
	op->first = s->at + same;
	return false;
}

static const struct abd_body abd_diff_body = {.segment = abd_diff_segment, .lanes = abd_cmp_lanes};

size_t abd_diff_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	struct abd_side x = abd_side(a, a_off), y = abd_side(b, b_off);
	struct abd_cmp op = {.first = size};

	abd_check_range(__func__, a, a_off, size);
	abd_check_range(__func__, b, b_off, size);
	op.kernel = abd_compare_for(size);
	abd_walk(NULL, &x, &y, size, op.kernel->lane_count, abd_diff_body, &op);
	return op.first;
}

/* ---- zeros ---- */

static inline bool abd_cmp_zero_segment(void *priv, const struct abd_segment *s)
{
	const struct abd_cmp *op = priv;

	return op->kernel->zero(s->a, s->size, s->next_a);
}

static inline size_t abd_cmp_zero_lanes(
	void *priv, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	const struct abd_cmp *op = priv;

	return op->kernel->zero_lanes(now, size, next) ? size : ABD_WALK_STOP;
}

static const struct abd_body abd_cmp_zero_body = {
	.segment = abd_cmp_zero_segment, .lanes = abd_cmp_zero_lanes, .small = true};

/* Half the size, because plans are made for two sides, which fill the caches twice as fast. */
static ABD_NOINLINE int abd_cmp_zero_checked(
	const char *call, const abd_t *abd, size_t off, size_t size)
{
	struct abd_cmp op = {.kernel = abd_compare_for(size / 2)};
	struct abd_side a = abd_side(abd, off);

	abd_check_pieces(call, abd, off, size);
	return !abd_walk(NULL, &a, NULL, size, op.kernel->lane_count, abd_cmp_zero_body, &op);
}

static inline int abd_cmp_zero_as(const char *call, const abd_t *abd, size_t off, size_t size)
{
	char *at;

	if (abd_small(abd, off, size, &at))
		return !abd_compare_for(size / 2)->zero(at, size, NULL);
	return abd_cmp_zero_checked(call, abd, off, size);
}

int abd_cmp_zero_off(const abd_t *abd, size_t off, size_t size)
{
	return abd_cmp_zero_as(__func__, abd, off, size);
}

int abd_cmp_zero(const abd_t *abd, size_t size)
{
	return abd_cmp_zero_as(__func__, abd, 0, size);
}
