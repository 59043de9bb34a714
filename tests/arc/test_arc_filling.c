/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of fills: who waits, and who is woken.
 */
#include "abd_arc_filling.h"
#include "abd_arc_thread.h"
#include "arc_data.h"

Test(abd_arc_filling, many_keys_share_buckets)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);
	struct abd_arc_filling *filling[300];

	pthread_mutex_lock(&arc->lock);
	for (uint64_t n = 0; n < 300; n++) {
		cr_assert_null(abd_arc_filling_find(arc, n / 7, arc_at(n)));
		filling[n] = abd_arc_filling_begin(arc, thread, n / 7, arc_at(n));
		cr_assert_not_null(filling[n]);
	}
	for (uint64_t n = 0; n < 300; n++) {
		cr_assert_eq(abd_arc_filling_find(arc, n / 7, arc_at(n)), filling[n]);
	}
	cr_assert_eq(arc->fillings, 300);
	pthread_mutex_unlock(&arc->lock);
	for (size_t n = 0; n < 300; n++)
		abd_arc_filling_done(filling[n * 7 % 300]);
	cr_assert_null(abd_arc_filling_any(arc));
	cr_assert_eq(arc->fillings, 0);
	abd_arc_destroy(arc);
}

/* Its struct is kept, and serves the next fill. */
Test(abd_arc_filling, an_ended_one_is_used_again)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);
	abd_arc_key_t one = arc_key(1), two = arc_key(2);

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_filling *first = abd_arc_filling_begin(arc, thread, 1, &one);

	pthread_mutex_unlock(&arc->lock);
	abd_arc_filling_pass(first);
	pthread_mutex_lock(&arc->lock);
	cr_assert_eq(abd_arc_filling_begin(arc, thread, 2, &two), first);
	abd_arc_filling_overtake(arc, 2, &one);
	cr_assert_not(first->is_overtaken);
	abd_arc_filling_overtake(arc, 2, &two);
	cr_assert(first->is_overtaken);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_filling_pass(first);
	abd_arc_destroy(arc);
}
