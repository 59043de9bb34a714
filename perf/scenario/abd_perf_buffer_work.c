/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops contain only the calls: no timing, and no branches that a call's result does not need.
 */
#include "abd_perf_buffer_work.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

#define ABD_PERF_CHILD_SIZE 4096

static void abd_perf_case_tune(const struct abd_perf_case *work)
{
	abd_perf_place_tune("max_order", work->max_order != NULL ? work->max_order : "10");
	abd_perf_place_tune("linear_page", work->linear_page != NULL ? work->linear_page : "1");
}

static void *abd_perf_case_need(void *memory, size_t size)
{
	if (memory == NULL)
		abd_perf_say_die(1, "no memory for a buffer of %zu bytes", size);
	return memory;
}

static void abd_perf_case_gang(struct abd_perf_case *work)
{
	work->gang = abd_perf_case_need(abd_alloc_gang(), 0);
	for (size_t i = 0; i < work->count; i++) {
		work->many[i] = abd_perf_case_need(
			abd_alloc_linear(ABD_PERF_CHILD_SIZE, false), ABD_PERF_CHILD_SIZE);
		if (abd_gang_add(work->gang, work->many[i], false) != 0)
			abd_perf_case_need(NULL, ABD_PERF_CHILD_SIZE);
	}
}

void abd_perf_case_begin(struct abd_perf_case *work)
{
	abd_perf_case_tune(work);
	if (work->hold) {
		work->abd = abd_perf_case_need(abd_alloc(work->size, false), work->size);
		abd_zero(work->abd, work->size);
	}
	if (work->count > 0)
		work->many = abd_perf_case_need(calloc(work->count, sizeof(abd_t *)), work->count);
	if (work->count > 0 && work->size == 0)
		abd_perf_case_gang(work);
}

void abd_perf_case_end(struct abd_perf_case *work)
{
	abd_free(work->gang);
	for (size_t i = 0; work->gang != NULL && i < work->count; i++)
		abd_free(work->many[i]);
	free(work->many);
	abd_free(work->abd);
	work->gang = NULL;
	work->many = NULL;
	work->abd = NULL;
}

double abd_perf_work_alloc(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start;

	abd_perf_case_tune(work);
	start = abd_perf_clock_ns();
	for (uint64_t i = 0; i < iterations; i++)
		abd_free(abd_alloc(work->size, false));
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_burst(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	uint64_t bursts = iterations / work->count + 1;
	double start;

	abd_perf_case_tune(work);
	start = abd_perf_clock_ns();
	for (uint64_t i = 0; i < bursts; i++) {
		for (size_t j = 0; j < work->count; j++)
			work->many[j] = abd_alloc(work->size, false);
		for (size_t j = 0; j < work->count; j++)
			abd_free(work->many[j]);
	}
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(bursts * work->count);
}

double abd_perf_work_malloc(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		void *memory = malloc(work->size);

		abd_perf_keep(memory);
		free(memory);
	}
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_malloc_burst(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	uint64_t bursts = iterations / work->count + 1;
	void **block = (void **)work->many;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < bursts; i++) {
		for (size_t j = 0; j < work->count; j++)
			block[j] = malloc(work->size);
		abd_perf_keep(block);
		for (size_t j = 0; j < work->count; j++)
			free(block[j]);
	}
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(bursts * work->count);
}

double abd_perf_work_borrow(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		void *buf = abd_borrow_buf_copy(work->abd, work->size);

		abd_return_buf(work->abd, buf, work->size);
	}
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_view(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++)
		abd_free(abd_get_offset_size(work->abd, work->size - 512, 512));
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_view_struct(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();
	abd_t view;

	for (uint64_t i = 0; i < iterations; i++)
		abd_free(abd_get_offset_struct(&view, work->abd, work->size - 512, 512));
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_from_buf(void *arg, uint64_t iterations)
{
	static char memory[4096];
	double start = abd_perf_clock_ns();

	(void)arg;
	for (uint64_t i = 0; i < iterations; i++)
		abd_free(abd_get_from_buf(memory, sizeof(memory)));
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_zeros(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++)
		abd_free(abd_get_zeros(work->size));
	return abd_perf_clock_ns() - start;
}

/* Copy the byte at off: the cost is the call and the seek. */
static double abd_perf_work_seek(const struct abd_perf_case *work, size_t off, uint64_t iterations)
{
	double start = abd_perf_clock_ns();
	char byte;

	for (uint64_t i = 0; i < iterations; i++) {
		abd_copy_to_buf_off(&byte, work->abd, off, 1);
		abd_perf_keep(&byte);
	}
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_seek_end(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;

	return abd_perf_work_seek(work, work->size - 1, iterations);
}

double abd_perf_work_seek_start(void *arg, uint64_t iterations)
{
	return abd_perf_work_seek(arg, 0, iterations);
}

static int abd_perf_work_nothing(void *buf, size_t len, void *count)
{
	(void)buf, (void)len;
	++*(uint64_t *)count;
	return 0;
}

double abd_perf_work_iterate(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();
	uint64_t count = 0;

	for (uint64_t i = 0; i < iterations; i++)
		abd_iterate_func(work->abd, 0, work->size, abd_perf_work_nothing, &count);
	abd_perf_keep(&count);
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_gang_append(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	uint64_t gangs = iterations / work->count + 1;
	double start = abd_perf_clock_ns();
	abd_t gang;

	for (uint64_t i = 0; i < gangs; i++) {
		abd_alloc_gang_struct(&gang);
		for (size_t j = 0; j < work->count; j++)
			(void)abd_gang_add(&gang, work->many[j], false);
		abd_free(&gang);
	}
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(gangs * work->count);
}

double abd_perf_work_gang_iterate(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	uint64_t walks = iterations / work->count + 1;
	double start = abd_perf_clock_ns();
	uint64_t count = 0;

	for (uint64_t i = 0; i < walks; i++)
		abd_iterate_func(
			work->gang, 0, abd_get_size(work->gang), abd_perf_work_nothing, &count);
	abd_perf_keep(&count);
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(walks * work->count);
}

double abd_perf_work_gang_seek(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	size_t size = abd_get_size(work->gang), off = 0;
	/* Steps of 0.618 of the size visit all parts and rarely repeat one (Weyl's sequence). */
	size_t step = (size_t)((double)size * 0.6180339887);
	double start = abd_perf_clock_ns();
	char byte;

	for (uint64_t i = 0; i < iterations; i++) {
		off += step;
		off -= off >= size ? size : 0;
		abd_copy_to_buf_off(&byte, work->gang, off, 1);
		abd_perf_keep(&byte);
	}
	return abd_perf_clock_ns() - start;
}

double abd_perf_work_gang_four(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		abd_t *gang = abd_alloc_gang();

		for (size_t j = 0; j < work->count; j++)
			(void)abd_gang_add(gang, work->many[j], false);
		abd_free(gang);
	}
	return abd_perf_clock_ns() - start;
}
