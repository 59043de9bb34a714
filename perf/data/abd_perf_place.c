/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fisher and Yates's shuffle over the runs of all buffers. It exchanges the runs' addresses, never
 * their lengths.
 */
#include "abd_perf_place.h"
#include "abd_perf_clock.h"
#include "abd_perf_say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * How many runs of a buffer are exchanged. A last run that is used in part stays: with deep checks
 * the rest of it is guarded.
 */
static size_t abd_perf_place_runs(const abd_t *abd)
{
	if (abd_is_linear(abd))
		return 0;
	return abd->abd_u.abd_scatter.abd_run_count - (abd->abd_size % 4096 != 0);
}

/* Every run's address, buffer by buffer. */
static void ***abd_perf_place_list(abd_t **buffers, size_t count, size_t *run_count)
{
	size_t runs = 0;

	for (size_t i = 0; i < count; i++)
		runs += abd_perf_place_runs(buffers[i]);

	void ***list = malloc((runs + 1) * sizeof(*list));

	if (list == NULL)
		abd_perf_say_die(1, "no memory to place %zu runs", runs);
	*run_count = runs;
	for (size_t i = 0, at = 0; i < count; i++) {
		for (size_t j = 0; j < abd_perf_place_runs(buffers[i]); j++)
			list[at++] = &buffers[i]->abd_u.abd_scatter.abd_runs[j].iov_base;
	}
	return list;
}

static uint64_t abd_perf_place_random; /* only places, so that data is the same in all processes */

void abd_perf_place_layout(unsigned number)
{
	abd_perf_place_random = (uint64_t)getpid() << 32 | number;
	/* Kept: what comes after it on the heap lies at another place within its page. */
	abd_perf_keep(malloc(16 + 16 * abd_perf_random_below(&abd_perf_place_random, 4096)));
}

void abd_perf_place_alloc(abd_t **buffers, size_t count, size_t size)
{
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < count; i++) {
		buffers[i] = abd_alloc(size, false);
		if (buffers[i] == NULL)
			abd_perf_say_die(
				1, "no memory for %zu scattered buffers of %zu bytes", count, size);
	}
	abd_perf_place_tune("max_order", "10");
}

void abd_perf_place_shuffle(abd_t **buffers, size_t count)
{
	size_t runs;
	void ***list = abd_perf_place_list(buffers, count, &runs);

	for (size_t i = runs; i > 1; i--) {
		size_t j = abd_perf_random_below(&abd_perf_place_random, i);
		void *swap = *list[i - 1];

		*list[i - 1] = *list[j];
		*list[j] = swap;
	}
	free(list);
	for (size_t i = 0; i < count; i++)
		abd_verify(buffers[i]);
}

static int abd_perf_place_span(void *buf, size_t len, void *arg)
{
	struct abd_perf_place *place = ((void **)arg)[0];
	char **end = &((char **)arg)[1];

	if (*end != NULL) {
		place->pairs++;
		place->ascending += (char *)buf >= *end;
		place->neighbours += (char *)buf == *end;
	}
	/* A span longer than 4 KiB consists of neighbouring runs that the iterator joined. */
	for (size_t more = 4096; more < len; more += 4096) {
		place->pairs++;
		place->ascending++;
		place->neighbours++;
	}
	*end = (char *)buf + len;
	return 0;
}

struct abd_perf_place abd_perf_place_look(abd_t *const *buffers, size_t count)
{
	struct abd_perf_place place = {0};

	for (size_t i = 0; i < count; i++) {
		void *arg[2] = {&place, NULL};

		abd_iterate_func(buffers[i], 0, abd_get_size(buffers[i]), abd_perf_place_span, arg);
	}
	return place;
}

static int abd_perf_place_page(void *buf, size_t len, void *arg)
{
	char ***to = arg;

	for (size_t at = 0; at < len; at += 4096)
		*(*to)++ = (char *)buf + at;
	return 0;
}

void abd_perf_place_pages(abd_t *abd, char **page)
{
	abd_iterate_func(abd, 0, abd_get_size(abd), abd_perf_place_page, &page);
}

void abd_perf_place_tune(const char *name, const char *value)
{
	int error = abd_tuning_set(name, value);

	if (error != 0)
		abd_perf_say_die(1, "the library refuses %s=%s (%s)", name, value,
			error == -ENOENT ? "unknown" : "not a value it can take");
}

const char *abd_perf_place_found(const char *name)
{
	const char *value = getenv(strcmp(name, "flush") == 0 ? "ABD_FLUSH" : "ABD_COMPARE");

	return value != NULL && abd_tuning_set(name, value) == 0 ? value : "auto";
}

void abd_perf_place_restore(const char *name)
{
	abd_perf_place_tune(name, abd_perf_place_found(name));
}
