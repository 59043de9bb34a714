/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops that the buffer scenario times. Each takes a case, prepared by abd_perf_case_begin(),
 * and returns the ns that iterations operations took: one allocation and free, one child, or one
 * seek.
 */
#ifndef ABD_PERF_BUFFER_WORK_H
#define ABD_PERF_BUFFER_WORK_H

#include <abd/abd.h>

struct abd_perf_case {
	double (*run)(void *arg, uint64_t iterations);
	size_t size;             /* of the buffer */
	size_t count;            /* children of a gang; buffers of a burst */
	const char *max_order;   /* NULL: 10 */
	const char *linear_page; /* NULL: 1 */
	bool hold;               /* a buffer of this size is there before the clock starts */

	abd_t *abd;   /* that buffer */
	abd_t **many; /* count children, or room for a burst */
	abd_t *gang;
};

void abd_perf_case_begin(struct abd_perf_case *work);
void abd_perf_case_end(struct abd_perf_case *work);

double abd_perf_work_alloc(void *arg, uint64_t iterations); /* abd_alloc(), abd_free() */
/* count times abd_alloc(), then count times abd_free() */
double abd_perf_work_burst(void *arg, uint64_t iterations);
double abd_perf_work_malloc(void *arg, uint64_t iterations); /* malloc(), free() */
/* count times malloc(), then count times free() */
double abd_perf_work_malloc_burst(void *arg, uint64_t iterations);
/* abd_borrow_buf_copy(), abd_return_buf() */
double abd_perf_work_borrow(void *arg, uint64_t iterations);
double abd_perf_work_view(void *arg, uint64_t iterations); /* abd_get_offset_size(), abd_free() */
/* abd_get_offset_struct(), abd_free() */
double abd_perf_work_view_struct(void *arg, uint64_t iterations);
double abd_perf_work_from_buf(void *arg, uint64_t iterations); /* abd_get_from_buf(), abd_free() */
double abd_perf_work_zeros(void *arg, uint64_t iterations);    /* abd_get_zeros(), abd_free() */
/* abd_copy_to_buf_off() of the last byte */
double abd_perf_work_seek_end(void *arg, uint64_t iterations);
double abd_perf_work_seek_start(void *arg, uint64_t iterations); /* the same of the first byte */
/* abd_iterate_func() over the whole buffer, with a callback that does nothing */
double abd_perf_work_iterate(void *arg, uint64_t iterations);
/* abd_gang_add(), per child; making and freeing the gang counts */
double abd_perf_work_gang_append(void *arg, uint64_t iterations);
/* abd_iterate_func(), per child */
double abd_perf_work_gang_iterate(void *arg, uint64_t iterations);
/* abd_copy_to_buf_off() at offsets all over the gang, per seek */
double abd_perf_work_gang_seek(void *arg, uint64_t iterations);
/* a gang of count existing buffers, and its free */
double abd_perf_work_gang_four(void *arg, uint64_t iterations);

#endif
