/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A benchmark of one's own: is copying 64 KiB in pieces as fast as copying them in one?
 *   own_benchmark run --json result.json
 *   own_benchmark report result.json
 */
#include <abd/abd.h>
#include <abd_perf.h>

enum { FROM, TO, FLAT_FROM, FLAT_TO, BUFFERS, SIZE = 64 << 10 };

static void copy(void *buffers, uint64_t iterations)
{
	abd_t **of = buffers;

	while (iterations-- > 0)
		abd_copy(of[TO], of[FROM], SIZE);
}

static bool right(void *buffers)
{
	abd_t **of = buffers;

	abd_zero(of[TO], SIZE);
	copy(buffers, 1);
	return abd_equal(of[TO], of[FROM]);
}

int main(int argc, char **argv)
{
	abd_t *buffers[BUFFERS];
	struct abd_perf_case cases[] = {{"one run", copy, right, &buffers[FLAT_FROM]},
		{"16 runs", copy, right, &buffers[FROM]}};
	int status;

	abd_tuning_set("max_order", "0"); /* single pages */
	for (int i = 0; i < BUFFERS; i++) {
		buffers[i] = i < FLAT_FROM ? abd_alloc(SIZE, false) : abd_alloc_linear(SIZE, false);
		if (buffers[i] == NULL)
			return 1;
		abd_zero(buffers[i], SIZE);
		abd_copy_from_buf_off(buffers[i], "not only zeros", 0, 14);
	}
	status = abd_perf_main(argc, argv, "own-copies", SIZE, cases, 2);
	for (int i = 0; i < BUFFERS; i++)
		abd_free(buffers[i]);
	return status;
}
